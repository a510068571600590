// A list, and beside it what is opened of it; on a narrow page one of the two. And what filters the list.
import { repeat } from '../vendor/lit.js';
import { css, html, link, nothing, properties, replace, setFacet } from './parts.js';

/** How many rows exist beyond those that are seen. */
const BEYOND = 6;

/** Rows of one height, of which only those that are seen exist, and the one that has the focus. `j` and `k` move. */
class Rows extends properties({
	items: /** @type {any[]} */ ([]), row: /** @type {(item: any) => any} */ (() => ''),
	name: /** @type {(item: any) => string} */ (String), label: '', chosen: '',
}) {
	at = '';
	height = 48;
	resize = new ResizeObserver(this.changed);

	connectedCallback() {
		super.connectedCallback();
		this.addEventListener('scroll', this.changed, { passive: true });
		this.addEventListener('focusin', (event) => {
			this.at = /** @type {HTMLElement} */ (event.target).closest('[data-name]')?.getAttribute('data-name') ?? '';
		});
	}

	/** @param {number} step @param {number} [from] */
	async move(step, from = this.items.findIndex((item) => this.name(item) === (this.at || this.chosen))) {
		const to = Math.max(0, Math.min(this.items.length - 1, from + step));
		if (!this.items.length) return;
		this.at = this.name(this.items[to]);
		const top = to * this.height;
		this.scrollTo({ top: Math.min(top, Math.max(this.scrollTop, top + this.height - this.clientHeight)) });
		this.requestUpdate();
		await this.updateComplete;
		this.first(`[data-name="${CSS.escape(this.at)}"] a`)?.focus({
			preventScroll: true });
	}

	render() {
		this.height = Number.parseFloat(getComputedStyle(this).getPropertyValue('--row')) || 48;
		const first = Math.max(0, Math.floor(this.scrollTop / this.height) - BEYOND);
		const last = Math.min(this.items.length, Math.ceil((this.scrollTop + this.clientHeight) / this.height) + BEYOND);
		const indices = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
		const focused = this.at ? this.items.findIndex((item) => this.name(item) === this.at) : -1;
		if (focused >= 0 && (focused < first || focused >= last)) indices.push(focused);
		if (last >= this.items.length - 20) queueMicrotask(() => this.dispatchEvent(new Event('end')));
		return html`<div role="list" aria-label=${this.label} ${css({ height: `${this.items.length * this.height}px` })}>
			${repeat(indices, (index) => this.name(this.items[index]), (index) => {
				const item = this.items[index];
				const name = this.name(item);
				return html`<div role="listitem" class="row ${name === this.chosen ? 'chosen' : ''}" data-name=${name}
					aria-setsize=${this.items.length} aria-posinset=${index + 1}
					${css({ transform: `translateY(${index * this.height}px)` })}>${this.row(item)}</div>`;
			})}</div>`;
	}
}
customElements.define('tw-rows', Rows);

/**
 * @typedef {object} Parts
 * @property {Route} at
 * @property {string} title What is listed.
 * @property {string} count How many there are, in words.
 * @property {any} head The filter.
 * @property {any} list
 * @property {any} card What is opened.
 * @property {string} hint What stands in its place.
 */

/** @param {Parts} parts */
export const split = ({ at: { id }, title, count, head, list, card, hint }) =>
	html`<div class="split ${id ? 'has-card' : ''}"><section class="pane list fixed" aria-labelledby="listed">
		<div class="bar"><h1 id="listed">${title}</h1><span class="quiet" role="status">${count}</span></div>${head}${list}
	</section><section class="pane card-pane" aria-label="Opened">${id ? card : html`<p
		class="empty">${hint}</p>`}</section>
	</div>`;

/** The button that ends all filters of a list. @param {string} screen @param {string} id */
export const reset = (screen, id) => html`<button class="small"
	@click=${() => replace(link(screen, id))}>Show all</button>`;

/** What filters a list, folded where the page is narrow. @param {boolean} isUsed @param {any} content */
export const filter = (isUsed, content) => html`<details class="facets"
	.open=${matchMedia('(min-width: 700px)').matches || isUsed}><summary>Filter</summary>${content}</details>`;

/** A search by words. @param {Route} at @param {string} label */
export const search = (at, label) => html`<input type="search" data-search aria-label=${label}
	placeholder="Search  ( / )"
	.value=${at.query.get('text') ?? ''} @input=${(event) => setFacet(at, 'text', event.target.value)}
	@keydown=${(event) => {
		if (event.key === 'Escape') setFacet(at, 'text');
		if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
		event.preventDefault();
		event.target.parentElement.querySelector('tw-rows')?.move(1, -1);
	}}>`;

/**
 * A choice of one value, offered if there are several, or if one is chosen.
 * @param {Route} at
 * @param {string} name
 * @param {string} title
 * @param {[string, string][]} options Values, and what they are called.
 */
export function choice(at, name, title, options) {
	const chosen = at.query.get(name) ?? '';
	if (options.length < 2 && !chosen) return nothing;
	/** @type {[string, string][]} */ const known = options.some(([value]) => value === chosen) || !chosen ? options
		: [...options, [chosen, chosen]];
	return html`<label>${title} <select @change=${(event) => setFacet(at, name, event.target.value)}>
		<option value="">any</option>${known.map(([value, called]) => html`<option .value=${value}
			.selected=${value === chosen}>${called}</option>`)}</select></label>`;
}
