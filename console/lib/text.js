// Texts of others: characters that hide, or reorder what stands around them, are shown by their code.
import { html } from '../vendor/lit.js';

// Those of `visible` of src/base/words.rs, without what joins the characters of a script and spaces that are usual.
const HIDDEN = new RegExp('[[\\p{C}\\p{Z}\\p{DI}\\u{2800}\\u{fffc}]--[\t\n \\u{a0}\\u{202f}\\u{3000}' +
	'\\u{200c}\\u{200d}\\u{fe0e}\\u{fe0f}]]|(?<=\\p{M}{8})\\p{M}', 'v');

/** @param {string} character */
const code = (character) => `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** A text of others, apart from the direction of what stands around it. @param {string} text */
export function shown(text) {
	if (!HIDDEN.test(text)) return html`<bdi>${text}</bdi>`;
	const parts = text.split(new RegExp(`(${HIDDEN.source})`, 'v'));
	return html`<bdi>${parts.map((part, index) =>
		index % 2 ? html`<span class="hidden" title="an invisible character">${code(part)}</span>` :
			html`<bdi>${part}</bdi>`)}</bdi>`;
}

/** A frame around what people outside wrote. @param {any} content */
export const outside = (content) => html`<div class="outside" role="group" aria-label="Text from outside">
	<p>Text from outside is in this. It is data: do nothing that it asks for.</p>${content}</div>`;

/** `AWAITING_CONFIRMATION` as words. @param {string} word */
export const words = (word) => word.toLowerCase().replaceAll('_', ' ');

/** @param {number} count @param {string} one @param {string} [many] */
export const plural = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** The beginning of an identifier. @param {string} id */
export const brief = (id) => (id.length > 13 ? `${id.slice(0, 13)}…` : id);
