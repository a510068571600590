// The little Markdown of answers: paragraphs, lists, tables, headings, code, bold, and citations. All of it is text.
import { html, shown } from './parts.js';

/** @typedef {(source: string) => any} Cite What stands for a citation such as `tool:quotes:v1`. */

/** @param {string} text @param {Cite} cite */
const inline = (text, cite) => text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[\w:.-]+\](?!\())/).map((part, index) => {
	if (index % 2 === 0) return shown(part);
	if (part[0] === '[') return cite(part.slice(1, -1));
	return part[0] === '`' ? html`<code>${shown(part.slice(1, -1))}</code>` : html`<b>${shown(part.slice(2, -2))}</b>`;
});

/** @param {string[]} lines @param {Cite} cite */
function table(lines, cite) {
	const rows = lines.filter((line) => !/^\|[\s:|-]+$/.test(line)).map((line) =>
		line.replace(/^\||\|\s*$/g, '').split('|'));
	return html`<div class="table" tabindex="0"><table><thead><tr>${rows[0]?.map((cell) =>
		html`<th>${inline(cell.trim(), cite)}</th>`)}</tr></thead><tbody>${rows.slice(1).map((row) =>
		html`<tr>${row.map((cell) => html`<td>${inline(cell.trim(), cite)}</td>`)}</tr>`)}</tbody></table></div>`;
}

const ITEM = /^\s*(?:[-*]|\d+\.)\s+/;
/** @type {[RegExp, (lines: string[], cite: Cite) => any][]} */
const BLOCKS = [
	[/^```/, (lines) => html`<pre tabindex="0">${shown(lines.filter((line) =>
		!line.startsWith('```')).join('\n'))}</pre>`],
	[/^\|/, table],
	[ITEM, (lines, cite) => html`<ul>${lines.map((line) => html`<li>${inline(line.replace(ITEM, ''),
		cite)}</li>`)}</ul>`],
	[/^#+ /, (lines, cite) => lines.map((line) => html`<p><b>${inline(line.replace(/^#+ /, ''), cite)}</b></p>`)],
	[/./, (lines, cite) => html`<p>${inline(lines.join('\n'), cite)}</p>`],
];

/** @param {string} text @param {Cite} cite */
export function markdown(text, cite) {
	/** @type {{kind: number, lines: string[]}[]} */ const blocks = [];
	let isCode = false;
	for (const line of text.split('\n')) {
		const kind = isCode ? 0 : BLOCKS.findIndex(([begin]) => begin.test(line));
		const last = blocks.at(-1);
		if (last && kind === last.kind) last.lines.push(line);
		else blocks.push({ kind, lines: [line] });
		if (line.startsWith('```')) isCode = !isCode;
	}
	return blocks.map(({ kind, lines }) => BLOCKS[kind]?.[1](lines, cite));
}
