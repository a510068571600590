// What is kept on this machine alone, in this browser: the theme, and the last inputs of each tool. Never a token.
import { parse, stringify } from './json.js';
import { session } from './sign_in.js';

const MOST = 20;

/** @param {string} key */
export function read(key) {
	try {
		return localStorage.getItem(`toolwire:${key}`) ?? '';
	} catch {
		return '';
	}
}

/** @param {string} key @param {string} value */
export function write(key, value) {
	try {
		if (value) localStorage.setItem(`toolwire:${key}`, value);
		else localStorage.removeItem(`toolwire:${key}`);
	} catch {
		// Without storage, or with a full one, nothing is kept.
	}
}

/** Where the inputs of a tool are. Each user has their own. @param {string} tool */
const place = (tool) => `inputs:${session.owner}:${tool}`;

/** The last inputs of a tool, the newest first. @param {string} tool @returns {{time: number, arguments: any}[]} */
export function inputs(tool) {
	try {
		return parse(read(place(tool)) || '[]');
	} catch {
		return [];
	}
}

/** @param {string} tool @param {any} args */
export function keepInput(tool, args) {
	const text = stringify(args);
	if (text.length > 20_000) return;
	const others = inputs(tool).filter((input) => stringify(input.arguments) !== text);
	write(place(tool), stringify([{ time: Date.now(), arguments: args }, ...others].slice(0, MOST)));
}

/** @param {string} tool */
export const forgetInputs = (tool) => write(place(tool), '');

/** Forgets the inputs of all tools. */
export function forgetAll() {
	const theme = read('theme');
	try {
		localStorage.clear();
	} catch {
		// Without storage nothing was kept.
	}
	setTheme(theme);
}

/** Saves a file where the browser saves files. @param {Blob} blob @param {string} name */
export function save(blob, name) {
	const href = URL.createObjectURL(blob);
	Object.assign(document.createElement('a'), { href, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** Applies `light`, `dark`, or by an empty word the system's theme. @param {string} theme */
export function setTheme(theme) {
	write('theme', theme);
	if (theme) document.documentElement.dataset.theme = theme;
	else delete document.documentElement.dataset.theme;
}
