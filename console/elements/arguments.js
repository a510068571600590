// Every argument of a call, whole: long ones unfold, and those that a condition is about say how they stand to it.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { isObject, stringify } from '../lib/json.js';
import { condition, isSensitive } from '../lib/schema.js';
import { shown } from '../lib/text.js';
import './json.js';

const LONG = 400;

class Arguments extends properties({
  value: /** @type {Any | undefined} */ (undefined),
  schema: /** @type {Any | undefined} */ (undefined),
  rules: /** @type {Any} */ ({}),
}) {
  /** @type {Set<string>} */ whole = new Set();

  render() {
    if (!this.value) return html`<p class="quiet">The arguments are not kept any more.</p>`;
    const names = [...new Set([...Object.keys(this.value), ...Object.keys(this.rules ?? {})])];
    if (!names.length) return html`<p class="quiet">None.</p>`;
    return html`<dl class="arguments">${names.map((name) => this.one(name))}</dl>`;
  }

  /** @param {string} name */
  one(name) {
    const value = this.value?.[name];
    const rule = this.rules?.[name];
    const stands = rule ? condition(value, rule) : undefined;
    const isSecret = this.schema ? isSensitive(this.schema, name) : value === '[redacted]';
    return html`<div class=${stands && !stands.holds ? 'broken' : ''}>
      <dt>${shown(name)}</dt>
      <dd>${isSecret ? html`<span class="badge">redacted</span> <span class="quiet">Sensitive: never shown. The decision covers it all the same.</span>`
        : value === undefined ? html`<span class="quiet">not given</span>` : this.show(name, value)}
        ${stands && !stands.holds ? html`<span class="breach">${shown(stands.words)}</span>` : nothing}
        ${stands?.holds && stands.words ? html`<span class="quiet">${shown(stands.words)} needs no approval</span>` : nothing}</dd>
    </div>`;
  }

  /** @param {string} name @param {any} value */
  show(name, value) {
    if (isObject(value) || Array.isArray(value)) return html`<tw-json .value=${value} .open=${6}></tw-json>`;
    const text = typeof value === 'string' ? value : stringify(value);
    if (text === '') return html`<span class="quiet">an empty text</span>`;
    if (text.length <= LONG || this.whole.has(name)) return html`<span class="value">${shown(text)}</span>`;
    return html`<span class="value">${shown(text.slice(0, LONG))}</span>
      <button class="small" @click=${() => {
        this.whole.add(name);
        this.requestUpdate();
      }}>Show all ${text.length.toLocaleString('en')} characters</button>`;
  }
}
customElements.define('tw-arguments', Arguments);
