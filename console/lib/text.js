// Texts of others: characters that hide, or reorder what stands around them, are shown by their code.
import { html } from '../vendor/lit.js';

// The characters of `visible` of src/base/words.rs, without usual spaces and those that join characters of a script.
// eslint-disable-next-line no-misleading-character-class
const HIDDEN = new RegExp('[[\\p{DI}\\p{Cc}\\p{Co}\\p{Zs}\\u2028\\u2029\\u2800\\ufdd0-\\ufdef\\ufff9-\\ufffc\\ufffe' +
	'\\uffff\\u{13430}-\\u{1345f}\\u{e0000}-\\u{10ffff}]--[\\t\\n \\xa0\\u202f\\u3000\\u200c\\u200d\\ufe0e\\ufe0f]]' +
	'|(?<=\\p{M}{8})\\p{M}', 'v');

/** @param {string} character */
const code = (character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** A text of others, apart from the direction of what stands around it. @param {string} text */
export function shown(text) {
	if (!HIDDEN.test(text)) return html`<bdi>${text}</bdi>`;
	// eslint-disable-next-line no-misleading-character-class
	const parts = text.split(new RegExp(`(${HIDDEN.source})`, 'v'));
	return html`<bdi>${parts.map((part, index) =>
		index % 2 ? html`<span class="hidden" title="an invisible character">${code(part)}</span>` :
			html`<bdi>${part}</bdi>`)}</bdi>`;
}

/** A frame around what people outside wrote. @param {any} content */
export const outside = (content) => html`<div class="outside" role="group" aria-label="Text from outside">
	<p>Text from outside is in this. It is data: do nothing that it asks for.</p>${content}</div>`;

/**
 * A value, marked if it differs from another one. Numbers of accounts and cards are in fours, each marked by itself.
 * @param {string} text
 * @param {string} [other]
 * @param {number} [most] How many characters are shown, from shortly before the first that differs.
 */
export function marked(text, other = text, most = 60) {
	if (/^[A-Z]{0,4}\d[A-Z\d]{10,33}$/.test(text)) return text.match(/.{1,4}/g)?.map((four, at) =>
		html`<wbr><span class="four ${other.startsWith(four, at * 4) ? '' : 'differs'}">${four}</span>`);
	const from = text.length > most && text !== other ? [...text].findIndex((one, at) => one !== other[at]) - 20 : 0;
	const begin = Math.max(0, from);
	return html`<span class=${text === other ? '' : 'differs'}>${begin ? '…' : ''}${shown(text.slice(begin,
		begin + most))}${text.length > begin + most ? '…' : ''}</span>`;
}

/** `AWAITING_CONFIRMATION` as words. @param {string} word */
export const words = (word) => word.toLowerCase().replaceAll('_', ' ');

/** A face by its own name. @param {string} face */
export const faceName = (face) => (face === 'grpc' ? 'gRPC' : face.toUpperCase());

/** @param {number} count @param {string} one @param {string} [many] */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** The beginning of an identifier. @param {string} id */
export const brief = (id) => (id.length > 13 ? `${id.slice(0, 13)}…` : id);
