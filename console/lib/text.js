// Texts of others: characters that hide, or reorder what stands around them, are shown by their code.
import { html } from '../vendor/lit.js';

// The same characters as `is_hidden` of src/base/words.rs, without those that join the characters of a script.
// eslint-disable-next-line no-misleading-character-class
const HIDDEN = new RegExp('[\\u{0}-\\u{8}\\u{b}-\\u{1f}\\u{7f}-\\u{9f}\\u{ad}\\u{34f}\\u{61c}\\u{200e}\\u{200f}' +
	'\\u{202a}-\\u{202e}\\u{2066}-\\u{2069}\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}\\u{17b4}\\u{17b5}' +
	'\\u{180b}-\\u{180f}\\u{200b}\\u{2060}-\\u{2065}\\u{206a}-\\u{206f}\\u{feff}\\u{2028}\\u{2029}' +
	'\\u{e000}-\\u{f8ff}\\u{fdd0}-\\u{fdef}\\u{fe00}-\\u{fe0d}\\u{fff0}-\\u{fffc}\\u{fffe}\\u{ffff}' +
	'\\u{13430}-\\u{1345f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{10ffff}]', 'u');

/** @param {string} character */
const code = (character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** A text of others, apart from the direction of what stands around it. @param {string} text */
export function shown(text) {
	if (!HIDDEN.test(text)) return html`<bdi>${text}</bdi>`;
	// eslint-disable-next-line no-misleading-character-class
	const parts = text.split(new RegExp(`(${HIDDEN.source})`, 'u'));
	return html`<bdi>${parts.map((part, index) =>
		index % 2 ? html`<span class="hidden" title="an invisible character">${code(part)}</span>` :
			html`<bdi>${part}</bdi>`)}</bdi>`;
}

/** `AWAITING_CONFIRMATION` as words. @param {string} word */
export const words = (word) => word.toLowerCase().replaceAll('_', ' ');

/** @param {number} count @param {string} one @param {string} [many] */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** The beginning of an identifier. @param {string} id */
export const brief = (id) => (id.length > 13 ? `${id.slice(0, 13)}…` : id);
