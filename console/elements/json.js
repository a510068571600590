// A value as a tree: members unfold, long texts and long lists too, and a search finds names and values.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { isObject, isRaw, member, stringify } from '../lib/json.js';
import { plural, shown } from '../lib/text.js';

const PAGE = 100;
const LONG = 300;
const MOST_FOUND = 500;

class Json extends properties({ value: /** @type {any} */ (undefined), open: 2, search: false, find: '' }) {
  /** @type {Map<string, boolean>} */ toggled = new Map();
  /** @type {Map<string, number>} */ pages = new Map();
  /** @type {Set<string>} */ whole = new Set();

  render() {
    const found = this.find ? this.findings() : undefined;
    return html`${this.search && (isObject(this.value) || Array.isArray(this.value)) ? html`<div class="find">
        <input type="search" placeholder="Find in the result" aria-label="Find in the result" .value=${this.find}
          @input=${(event) => { this.find = event.target.value; }}>
        <span role="status">${found ? (found.count > MOST_FOUND ? `more than ${MOST_FOUND}` : plural(found.count, 'hit')) : ''}</span>
      </div>` : nothing}
      <div class="tree">${this.node(this.value, '', '', 0, found?.open)}</div>`;
  }

  /** The pointers of what holds a hit, and of the hits. */
  findings() {
    const wanted = this.find.toLowerCase();
    /** @type {Set<string>} */ const open = new Set();
    let count = 0;
    /** @param {any} value @param {string} pointer @param {string} name @returns {boolean} */
    const walk = (value, pointer, name) => {
      if (count > MOST_FOUND) return false;
      const isInner = isObject(value) || Array.isArray(value);
      let hit = name.toLowerCase().includes(wanted) || (!isInner && text(value).toLowerCase().includes(wanted));
      if (hit) count += 1;
      if (isInner) for (const [key, inner] of Object.entries(value)) hit = walk(inner, member(pointer, key), key) || hit;
      if (hit) open.add(pointer);
      return hit;
    };
    walk(this.value, '', '');
    return { open, count };
  }

  /** @param {any} value @param {string} pointer @param {string} name @param {number} depth @param {Set<string>} [found] @returns {any} */
  node(value, pointer, name, depth, found) {
    const key = name ? html`<span class="key">${shown(name)}</span>` : nothing;
    if (!isObject(value) && !Array.isArray(value)) {
      return html`<div class="leaf ${this.find && found?.has(pointer) ? 'hit' : ''}">${key}${this.leaf(value, pointer)}</div>`;
    }
    const entries = Object.entries(value);
    const size = Array.isArray(value) ? plural(entries.length, 'element') : plural(entries.length, 'member');
    if (!entries.length) return html`<div class="leaf">${key}<span class="size">${Array.isArray(value) ? '[ ] empty' : '{ } empty'}</span></div>`;
    const isOpen = found ? found.has(pointer) : (this.toggled.get(pointer) ?? depth < this.open);
    const inner = found ? entries.filter(([one]) => found.has(member(pointer, one))) : entries;
    const most = this.pages.get(pointer) ?? PAGE;
    return html`<details .open=${isOpen} @toggle=${(event) => this.toggle(event, pointer, isOpen)}>
      <summary>${key}<span class="size">${size}</span></summary>
      ${isOpen ? html`<div class="inner">${inner.slice(0, most).map(([one, part]) => this.node(part, member(pointer, one), one, depth + 1, found))}
        ${inner.length > most ? html`<button class="small" @click=${() => this.more(pointer, most)}>Show
          ${Math.min(PAGE, inner.length - most)} more of ${(inner.length - most).toLocaleString('en')}</button>` : nothing}</div>` : nothing}
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
    this.pages.set(pointer, most + PAGE * (most > PAGE ? 5 : 1));
    this.requestUpdate();
  }

  /** @param {any} value @param {string} pointer */
  leaf(value, pointer) {
    if (typeof value !== 'string') return html`<span class=${isRaw(value) ? 'number' : typeof value}>${text(value)}</span>`;
    if (value.length <= LONG || this.whole.has(pointer)) return html`<span class="string">${shown(value)}</span>`;
    return html`<span class="string">${shown(value.slice(0, LONG))}</span><button class="small" @click=${() => {
      this.whole.add(pointer);
      this.requestUpdate();
    }}>Show all ${value.length.toLocaleString('en')} characters</button>`;
  }
}
customElements.define('tw-json', Json);

/** @param {any} value */
const text = (value) => (typeof value === 'string' ? value : stringify(value));
