// A list, and beside it what is opened of it; on a narrow page one of the two. And what filters the list.
import { html, nothing } from '../vendor/lit.js';
import { setFacet } from '../lib/route.js';
import './rows.js';

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

/** A search by words. @param {Route} at @param {string} label */
export const search = (at, label) => html`<input type="search" data-search aria-label=${label}
	placeholder="Search  ( / )"
	.value=${at.query.get('text') ?? ''} @input=${(event) => setFacet(at, 'text', event.target.value)}>`;

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
