// What all screens say in one form: badges, facts, instants, the time that is left until one, and what went wrong.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { plural, shown, words } from '../lib/text.js';
import { ago, exact, hour, instant, lasting, now, span } from '../lib/time.js';

/** @type {Record<string, string>} */
const TONES = {
	SUCCEEDED: 'good', APPROVED: 'good', USED: 'good', READY: 'good', SERVING: 'good', EXECUTED: 'good', CACHED: 'good',
		ALLOWED: 'good',
	RUNNING: 'busy', PENDING: 'wait', AWAITING_CONFIRMATION: 'wait', CONFIRMATION_REQUIRED: 'wait', LIMITED: 'wait',
		DEGRADED: 'wait',
	EXPIRED: 'wait', JOINING: 'wait', LEAVING: 'wait', DRAINING: 'wait',
	COMPLETED: 'good', BLOCKED: 'wait',
	FAILED: 'bad', OUTCOME_UNKNOWN: 'bad', DENIED: 'bad', REFUSED: 'bad', INVALID: 'bad', DISABLED: 'bad', VOIDED: 'bad',
};

/** @type {Record<string, string>} */
const NAMES = { AWAITING_CONFIRMATION: 'asked for approval', PENDING: 'waits', VOIDED: 'void', USED:
	'approved and used' };

/** @param {string} state */
export const stateName = (state) => NAMES[state] ?? words(state);

/** @param {string} state @param {string} [text] */
export const badge = (state, text) => html`<span class="badge ${TONES[state] ?? ''}">${text ??
	stateName(state)}</span>`;

/** What a call may change, and how much that matters. @param {Any} tool */
export const consequence = (tool) => html`<span class="badge ${tool.category === 'READ' ? '' :
	'busy'}">${words(tool.category)}</span>${
	tool.consequence_level === 'HIGH' ? html` <span class="badge bad">high consequence</span>`
		: tool.consequence_level === 'MEDIUM' ? html` <span class="badge wait">medium consequence</span>` : nothing}`;

/** Names and values; those without a value are left out. @param {any[][]} pairs */
export const facts = (pairs) => html`<dl class="facts">${pairs.map(([name, value]) => (!value ? nothing
	: html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? shown(value) : value}</dd></div>`))}</dl>`;

/** An instant, relative and by hovering exact. */
class When extends properties({ at: '' }) {
	static every = 1_000;
	again = this.changed;

	render() {
		const at = instant(this.at);
		return at ? html`<time datetime=${this.at} title=${exact(at)}>${ago(at)}</time>` : '–';
	}
}
customElements.define('tw-when', When);

/** @param {string} at */
export const when = (at) => html`<tw-when .at=${at}></tw-when>`;

/** The time that is left until an instant, and with `by` the time of day. */
class Left extends properties({ until: '', over: 'over', after: '', by: false }) {
	static every = 1_000;
	again = this.changed;

	render() {
		const left = instant(this.until) - now();
		this.classList.toggle('soon', left < 60_000);
		const words = left > 0 ? `${lasting(Math.ceil(left / 1000) * 1000)}${this.after}` : this.over;
		return html`<time datetime=${this.until} title=${exact(instant(this.until))}>${this.by ?
			`until ${hour(instant(this.until))} (${words})` : words}</time>`;
	}
}
customElements.define('tw-left', Left);

/** The instant by which somebody must act: the time of day, and how much is left. @param {string} at */
export const until = (at) => html`<tw-left .until=${at} .by=${true} .over=${'over'} .after=${' left'}></tw-left>`;

/** What arguments break. @param {Any[] | undefined} violations */
export const violationsOf = (violations) => (!violations?.length ? nothing
	: html`<ul class="violations">${violations.map(({ pointer, description }) =>
		html`<li><code>${shown(pointer || 'arguments')}</code> ${shown(description)}</li>`)}</ul>`);

/** A problem of a request. @param {Failure} problem @param {(() => void)} [again] */
export function problemOf(problem, again) {
	if (!problem) return nothing;
	const { field_violations: violations, retry_after_ms: wait } = problem.body;
	return html`<div class="notice bad" role="alert"><strong>${words(problem.code)}</strong> ${shown(problem.message)}
		${violationsOf(violations)}
		${wait ? html`<p>It can be tried again in ${plural(Math.ceil(wait / 1000), 'second')}.</p>` : nothing}
		${again ? html`<p><button @click=${again}>Try again</button></p>` : nothing}</div>`;
}

/** What stands in the place of what is not loaded. @param {Failure} [problem] @param {() => void} [again] */
export const loading = (problem, again) => (problem ? problemOf(problem, again) :
	html`<p class="empty">Loading…</p>`);

/** The way back to a list. @param {string} address @param {string} title */
export const crumbs = (address, title) => html`<p class="crumbs"><a href=${address} data-back>‹ ${title}</a></p>`;

/** The button that asks for the next page. @param {{ next: string, token: string }} list */
export const older = (list) => (list.next ? html`<p><button
	@click=${() => { list.token = list.next; }}>Show older ones</button></p>` : nothing);

/** The error of a tool. @param {Any} error @param {string} at When the call ended. */
export function errorOf(error, at) {
	const { origin } = error;
	const until = error.retry_after && new Date((instant(at) || now()) + span(error.retry_after)).toISOString();
	return html`<div class="notice bad"><strong>${words(error.code)}</strong>
		${origin && origin !== 'UNSPECIFIED' ? html`<span class="quiet">in the ${words(origin)}</span>` : nothing}
		<p class="whole">${shown(error.message)}</p>
		${violationsOf(error.field_violations)}
		<p class="quiet">${error.retryable ? 'The same call may succeed later.' : 'The same call would fail again.'}
			${error.attempts ? `${plural(error.attempts, 'request')} went to the source.` : ''}
			${until ? html`Again in <tw-left .until=${until} .over=${'no time: it can be called now'}></tw-left>.` :
				nothing}</p></div>`;
}
