// A list of rows of one height, of which only those that are seen exist, and the one that has the focus. `j` and `k`
// move.
import { repeat } from '../vendor/lit.js';
import { css, html, properties } from './parts.js';

const BEYOND = 6;

export class Rows extends properties({
	items: /** @type {any[]} */ ([]), row: /** @type {(item: any) => any} */ (() => ''),
	name: /** @type {(item: any) => string} */ (String), label: '', chosen: '',
}) {
	at = '';
	height = 48;

	constructor() {
		super();
		this.resize = new ResizeObserver(this.changed);
	}

	connectedCallback() {
		super.connectedCallback();
		this.addEventListener('scroll', this.changed, { passive: true });
		this.addEventListener('focusin', (event) => {
			this.at = /** @type {HTMLElement} */ (event.target).closest('[data-name]')?.getAttribute('data-name') ?? '';
		});
		this.resize.observe(this);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		this.resize.disconnect();
	}

	/** @param {number} step */
	async move(step) {
		const from = this.items.findIndex((item) => this.name(item) === (this.at || this.chosen));
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
