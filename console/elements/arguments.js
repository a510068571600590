// Every argument of a call, whole: long ones unfold, and those that a condition is about say how they stand to it.
import { condition, isSensitive } from '../lib/schema.js';
import { html, isObject, nothing, properties, shown, stringify, unset } from './parts.js';
import { unfold } from './json.js';

const LONG = 400;

class Arguments extends properties({
	value: unset, schema: /** @type {Schema | undefined} */ (undefined), rules:
		/** @type {Any} */ ({}),
}) {
	/** Texts that are shown whole. @type {Set<string>} */ whole = new Set();

	render() {
		if (!this.value) return html`<p class="quiet">The arguments are not kept any more.</p>`;
		const names = [...new Set([...Object.keys(this.value), ...Object.keys(this.rules ?? {})])];
		return names.length ? html`<dl class="arguments">${names.map((name) => this.one(name))}</dl>` :
			html`<p class="quiet">None.</p>`;
	}

	/** @param {string} name */
	one(name) {
		const value = this.value?.[name];
		const rule = this.rules?.[name];
		const stands = rule ? condition(value, rule) : { holds: true, words: '' };
		const isSecret = this.schema ? isSensitive(this.schema, name) : value === '[redacted]';
		return html`<div class=${stands.holds ? '' : 'broken'}><dt>${shown(name)}</dt>
			<dd>${isSecret ? html`<span class="badge">redacted</span> <span class="quiet">Sensitive: never shown. The
				decision covers
					it all the same.</span>` : this.show(name, value)}
				${!stands.holds ? html`<span class="breach">${shown(stands.words)}</span>`
					: stands.words ? html`<span class="quiet">${shown(stands.words)} needs no approval</span>` :
						nothing}</dd></div>`;
	}

	/** @param {string} name @param {any} value */
	show(name, value) {
		if (value === undefined || value === '') return html`<span
			class="quiet">${value === '' ? 'an empty text' : 'not given'}</span>`;
		if (isObject(value) || Array.isArray(value)) return html`<tw-json .value=${value} .open=${9}></tw-json>`;
		const text = typeof value === 'string' ? value : stringify(value);
		if (text.length <= LONG || this.whole.has(name)) return html`<span class="value">${shown(text)}</span>`;
		return html`<span class="value">${shown(text.slice(0, LONG))}</span>${unfold(text, () => {
			this.whole.add(name);
			this.requestUpdate();
		})}`;
	}
}
customElements.define('tw-arguments', Arguments);
