// A value as a tree: members unfold, long texts and lists too, and a search finds names and values. Made of it: the
// arguments of a call, and its result, in which text of people outside stands in a frame. And a text to copy.
import { isSensitive } from '../lib/schema.js';
import { html, isInner, isRaw, marked, member, nothing, outside, plural, properties, shown,
	stringify, text, unset } from './parts.js';

const PAGE = 100;
const LONG = 300;
const MOST_FOUND = 500;
/** What is asked of values, by pointer. @type {Map<string, string>} */ const NONE = new Map();

class Json extends properties({ value: /** @type {any} */ (undefined), open: 2, search: false, find: '', root: '',
	breaches: NONE, differs: /** @type {Differences | undefined} */ (undefined) }) {
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
			<div class="tree">${this.node(this.value, this.root, '', 0, found?.open)}</div>`;
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
		walk(this.value, this.root, '');
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
		const type = isRaw(value) ? 'number' : typeof value;
		const whole = text(value);
		if (whole.length <= LONG || this.whole.has(pointer)) return html`<span class=${type}>${marked(whole,
			this.differs?.get(pointer)?.[1], Infinity)}</span>${this.breaches.has(pointer)
			? html`<span class="breach">Without approval it ${shown(this.breaches.get(pointer) ?? '')}</span>` : nothing}`;
		return html`<span class=${type}>${shown(whole.slice(0, LONG))}</span>${unfold(whole, () => {
			this.whole.add(pointer);
			this.requestUpdate();
		})}`;
	}
}
customElements.define('tw-json', Json);

/** The button that shows a long text whole. @param {string} value @param {() => void} show */
const unfold = (value, show) => html` <button type="button" class="small"
	@click=${show}>Show all ${value.length.toLocaleString('en')} characters</button>`;

/** Every argument of a call, whole, and what a condition asks of it that it does not keep to. */
class Arguments extends properties({
	value: unset, schema: /** @type {Schema | undefined} */ (undefined), breaches: NONE, differs:
		/** @type {Differences | undefined} */ (undefined),
}) {
	render() {
		if (!this.value) return html`<p class="quiet">The arguments are not kept any more.</p>`;
		const names = Object.keys(this.value);
		return names.length ? html`<dl class="arguments">${names.map((name) => this.one(name))}</dl>` :
			html`<p class="quiet">None.</p>`;
	}

	/** @param {string} name */
	one(name) {
		const { breaches, differs } = this;
		const value = this.value?.[name];
		const root = member('', name);
		const isSecret = this.schema ? isSensitive(this.schema, name) : value === '[redacted]';
		return html`<div class=${breaches.has(root) ? 'broken' : ''}><dt>${shown(name)}</dt>
			<dd>${isSecret ? html`<span class="badge">redacted</span> <span class="quiet">Sensitive: never shown. The
				decision covers it all the same.</span>` : value === '' ? html`<span class="quiet">an empty text</span>`
				: html`<tw-json .value=${value} .open=${9} .root=${root} .breaches=${breaches} .differs=${differs}></tw-json>`}
			</dd></div>`;
	}
}
customElements.define('tw-arguments', Arguments);

/** A result of fewer characters is open whole. */
const SMALL = 3_000;

class Result extends properties({ value: /** @type {Any} */ ({}) }) {
	render() {
		const { data, data_text: text, provenance = {}, kept, _meta } = this.value;
		const copied = text ?? stringify(data, 2);
		const body = text ? html`<pre class="wrap" tabindex="0">${shown(text)}</pre>`
			: html`<tw-json .search=${true} .value=${data} .open=${copied.length < SMALL ? 9 : 2}></tw-json>`;
		return html`${provenance.warnings?.map((/** @type {string} */ warning) =>
			html`<p class="notice">${shown(warning)}</p>`)}
			${provenance.untrusted_framing || _meta ? outside(body) : body}
			<p class="quiet">${provenance.source_ids?.length ? html`From
				${shown(provenance.source_ids.join(', '))}${provenance.as_of
				? `, as of ${provenance.as_of}` : ''}. ` : nothing}${kept
				? `This is a part: all of it, ${kept.tokens} tokens, is kept for read_result.` : ''}</p>
			<tw-copy .quiet=${true} .label=${'the result as JSON'} .text=${copied}></tw-copy>`;
	}
}
customElements.define('tw-result', Result);

class Copy extends properties({ text: '', label: '', quiet: false, done: '' }) {
	async copy() {
		try {
			await navigator.clipboard.writeText(this.text);
			this.done = 'Copied';
		} catch {
			this.done = 'Select the text and copy it: this browser lets pages copy over HTTPS only';
		}
		setTimeout(() => { this.done = ''; }, 3_000);
	}

	render() {
		return html`${this.quiet ? nothing : html`<pre tabindex="0" aria-label=${this.label}>${this.text}</pre>`}
			<button class="small" type="button" @click=${this.copy}
				aria-label=${this.done || `Copy ${this.label}`}>${this.done ||
				(this.quiet ? `Copy ${this.label}` : 'Copy')}</button>`;
	}
}
customElements.define('tw-copy', Copy);
