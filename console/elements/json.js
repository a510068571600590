// A value as a tree: members unfold, long texts and long lists too, and a search finds names and values.
import { html, isObject, isRaw, member, nothing, plural, properties, shown, stringify } from './parts.js';

const PAGE = 100;
const LONG = 300;
const MOST_FOUND = 500;

/** @param {any} value */
const isInner = (value) => isObject(value) || Array.isArray(value);
/** @param {any} value */
const text = (value) => (typeof value === 'string' ? value : stringify(value));

class Json extends properties({ value: /** @type {any} */ (undefined), open: 2, search: false, find: '' }) {
	/** What was opened and closed by hand, by pointer. @type {Map<string, boolean>} */ toggled = new Map();
	/** How many members are shown. @type {Map<string, number>} */ pages = new Map();
	/** Texts that are shown whole. @type {Set<string>} */ whole = new Set();

	render() {
		const found = this.find ? this.findings() : undefined;
		return html`${this.search && isInner(this.value) ? html`<div class="find">
				<input type="search" placeholder="Find in the result" aria-label="Find in the result" .value=${this.find}
					@input=${(event) => { this.find = event.target.value; }}>
				<span role="status">${!found ? '' : found.count > MOST_FOUND ? `more than ${MOST_FOUND}` :
					plural(found.count, 'hit')}</span>
			</div>` : nothing}
			<div class="tree">${this.node(this.value, '', '', 0, found?.open)}</div>`;
	}

	/** The pointers of hits, and of what holds them. */
	findings() {
		const wanted = this.find.toLowerCase();
		/** @type {Set<string>} */ const open = new Set();
		let count = 0;
		/** @param {any} value @param {string} pointer @param {string} name @returns {boolean} */
		const walk = (value, pointer, name) => {
			if (count > MOST_FOUND) return false;
			let hit = name.toLowerCase().includes(wanted) || (!isInner(value) && text(value).toLowerCase().includes(wanted));
			if (hit) count += 1;
			if (isInner(value)) for (const [key, one] of Object.entries(value)) hit = walk(one, member(pointer, key), key)
				|| hit;
			if (hit) open.add(pointer);
			return hit;
		};
		walk(this.value, '', '');
		return { open, count };
	}

	/**
	 * @param {any} value
	 * @param {string} pointer
	 * @param {string} name
	 * @param {number} depth
	 * @param {Set<string>} [found]
	 * @returns {any}
	 */
	node(value, pointer, name, depth, found) {
		const key = name ? html`<span class="key">${shown(name)}</span>` : nothing;
		if (!isInner(value)) return html`<div class="leaf ${found?.has(pointer) ? 'hit' :
			''}">${key}${this.leaf(value, pointer)}</div>`;
		const entries = Object.entries(value);
		const size = plural(entries.length, Array.isArray(value) ? 'element' : 'member');
		// Line breaks count in here.
		if (!entries.length) return html`<div class="leaf">${key}<span class="size">${Array.isArray(value) ? 'empty list'
			: 'empty object'}</span></div>`;
		const isOpen = found ? found.has(pointer) : (this.toggled.get(pointer) ?? depth < this.open);
		const inner = found ? entries.filter(([one]) => found.has(member(pointer, one))) : entries;
		const most = this.pages.get(pointer) ?? PAGE;
		return html`<details .open=${isOpen} @toggle=${(event) => this.toggle(event, pointer, isOpen)}>
			<summary>${key}<span class="size">${size}</span></summary>
			${isOpen ? html`<div class="inner">
				${inner.slice(0, most).map(([one, part]) => this.node(part, member(pointer, one), one, depth + 1, found))}
				${inner.length > most ? html`<button class="small" @click=${() => this.more(pointer, most)}>Show more of
					${inner.length.toLocaleString('en')}</button>` : nothing}</div>` : nothing}
		</details>`;
	}

	/** @param {any} event @param {string} pointer @param {boolean} was */
	toggle(event, pointer, was) {
		if (event.target.open === was) return;
		this.toggled.set(pointer, event.target.open);
		this.requestUpdate();
	}

	/** @param {string} pointer @param {number} most */
	more(pointer, most) {
		this.pages.set(pointer, most * 3);
		this.requestUpdate();
	}

	/** @param {any} value @param {string} pointer */
	leaf(value, pointer) {
		if (typeof value !== 'string') return html`<span class=${isRaw(value) ? 'number' : typeof
			value}>${text(value)}</span>`;
		if (value.length <= LONG || this.whole.has(pointer)) return html`<span class="string">${shown(value)}</span>`;
		return html`<span class="string">${shown(value.slice(0, LONG))}</span>${unfold(value, () => {
			this.whole.add(pointer);
			this.requestUpdate();
		})}`;
	}
}
customElements.define('tw-json', Json);

/** The button that shows a long text whole. @param {string} value @param {() => void} show */
export const unfold = (value, show) => html` <button type="button" class="small"
	@click=${show}>Show all ${value.length.toLocaleString('en')} characters</button>`;
