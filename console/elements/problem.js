// What went wrong, in the server's words: what, where, and when it can be tried again.
import { html, nothing } from '../vendor/lit.js';
import { instant, now, span } from '../lib/time.js';
import { plural, shown, words } from '../lib/text.js';
import './when.js';

/** @typedef {{pointer: string, rule: string, description: string}} Violation */

/** @param {Violation[]} violations */
export const violationsOf = (violations) => html`<ul class="violations">${violations.map(({ pointer, description }) =>
  html`<li><code>${shown(pointer || 'arguments')}</code> ${shown(description)}</li>`)}</ul>`;

/** A problem of a request. @param {Failure} problem @param {(() => void)} [again] */
export function problemOf(problem, again) {
  if (!problem) return nothing;
  const { body } = problem;
  const violations = body.field_violations ?? [];
  return html`<div class="notice bad" role="alert">
    <strong>${words(problem.code)}</strong> ${shown(problem.message)}
    ${violations.length ? violationsOf(violations) : nothing}
    ${body.retry_after_ms ? html`<p>It can be tried again in ${plural(Math.ceil(body.retry_after_ms / 1000), 'second')}.</p>` : nothing}
    ${again ? html`<p><button @click=${again}>Try again</button></p>` : nothing}
  </div>`;
}

/** The error of a tool. @param {Any} error @param {string} at When the call ended. */
export function errorOf(error, at) {
  const until = error.retry_after ? new Date((instant(at) || now()) + span(error.retry_after)).toISOString() : '';
  return html`<div class="notice bad">
    <strong>${words(error.code)}</strong>${error.origin && error.origin !== 'UNSPECIFIED' ? html` <span class="quiet">in the ${words(error.origin)}</span>` : nothing}
    <p>${shown(error.message)}</p>
    ${error.field_violations?.length ? violationsOf(error.field_violations) : nothing}
    <p class="quiet">${error.retryable ? 'The same call may succeed later.' : 'The same call would fail again.'}
      ${error.attempts ? `${plural(error.attempts, 'request')} went to the source.` : ''}
      ${until ? html`Again in <tw-left .until=${until} .over=${'no time: it can be called now'}></tw-left>.` : nothing}</p>
  </div>`;
}
