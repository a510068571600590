// What went wrong, in the server's words: what, where, and when it can be tried again.
import { html, nothing } from '../vendor/lit.js';
import { instant, now, span } from '../lib/time.js';
import { plural, shown, words } from '../lib/text.js';
import './when.js';

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

/** The error of a tool. @param {Any} error @param {string} at When the call ended. */
export function errorOf(error, at) {
	const { origin } = error;
	const until = error.retry_after && new Date((instant(at) || now()) + span(error.retry_after)).toISOString();
	return html`<div class="notice bad"><strong>${words(error.code)}</strong>
		${origin && origin !== 'UNSPECIFIED' ? html`<span class="quiet">in the ${words(origin)}</span>` : nothing}
		<p>${shown(error.message)}</p>
		${violationsOf(error.field_violations)}
		<p class="quiet">${error.retryable ? 'The same call may succeed later.' : 'The same call would fail again.'}
			${error.attempts ? `${plural(error.attempts, 'request')} went to the source.` : ''}
			${until ? html`Again in <tw-left .until=${until} .over=${'no time: it can be called now'}></tw-left>.` :
				nothing}</p></div>`;
}
