// A source that tools read from: its limit, and whether it can be asked now.
import { badge, html, lasting, nothing, now, shown, span } from './parts.js';

/** When a source can be asked again, if it cannot be now. @param {Any} limit */
const renewed = ({ wait_time: wait, cool_down_until: until }) => until ?? new Date(now() + span(wait)).toISOString();

/** @type {Record<number, string>} */
const EACH = { 1000: 'a second', 60000: 'a minute', 3600000: 'an hour' };

/** @param {Any} policy */
const budget = ({ max_requests: most, window, min_delay: delay }) => `${most} ${EACH[span(window)] ??
	`in ${lasting(span(window))}`}${span(delay) ? `, ${lasting(span(delay))} apart` : ''}`;

/** A list's entry of a limit. @param {Any} limit @param {any} [more] What stands below it. */
export const sourceOf = (limit, more = nothing) => {
	const { source, can_make_request: isFree, policy, reason } = limit;
	return html`<li><div class="line"><b>${shown(source)}</b> ${isFree ? badge('READY', 'can be asked')
		: html`<span class="badge wait">over its limit, renews in <tw-left .until=${renewed(limit)}
			.over=${'a moment'}></tw-left></span>`}
		<span class="end quiet">${policy ? budget(policy) : 'no limit'}</span></div>
		${reason ? html`<span class="quiet">${shown(reason)}</span>` : nothing}${more}</li>`;
};
