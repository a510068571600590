// The data of a result as a tree; text that people outside wrote stands in a frame that says so.
import { html, nothing, outside, properties, shown, stringify } from './parts.js';
import './copy.js';
import './arguments.js';

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
