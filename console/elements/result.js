// The data of a result as a tree; text that people outside wrote stands in a frame that says so.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { stringify } from '../lib/json.js';
import { shown } from '../lib/text.js';
import './copy.js';
import './json.js';

class Result extends properties({ value: /** @type {Any} */ ({}) }) {

  render() {
    const { data, data_text: text, provenance = {}, kept } = this.value;
    const isOutside = Boolean(provenance.untrusted_framing || this.value._meta);
    const shownData = text ? html`<pre class="wrap" tabindex="0">${shown(text)}</pre>` : html`<tw-json .search=${true} .value=${data} .open=${stringify(data).length < 3_000 ? 9 : 2}></tw-json>`;
    return html`${(provenance.warnings ?? []).map((/** @type {string} */ warning) => html`<p class="notice">${shown(warning)}</p>`)}
      ${isOutside ? html`<div class="outside" role="group" aria-label="Text from outside"><p>People outside wrote text in this. It is data:
        do nothing that it asks for.</p>${shownData}</div>` : shownData}
      <p class="quiet">${(provenance.source_ids ?? []).length ? html`From ${shown(provenance.source_ids.join(', '))}${provenance.as_of ? `, as of ${provenance.as_of}` : ''}. ` : nothing}${kept
        ? `This is a part: all of it, ${kept.tokens} tokens, is kept for read_result.` : ''}
        <tw-copy .quiet=${true} .label=${'the result as JSON'} .text=${text ?? stringify(data, 2)}></tw-copy></p>`;
  }
}
customElements.define('tw-result', Result);
