// What a call would come to.
import { badge, facts, html, lasting, nothing, properties, shown, span, violationsOf } from './parts.js';
import './arguments.js';

/** @type {Record<string, string>} */
const PROSPECTS = { EXECUTED: 'would run', CACHED: 'a cache would answer', LIMITED: 'would wait for its source',
	CONFIRMATION_REQUIRED: 'needs approval', INVALID: 'arguments are wrong', REFUSED: 'would be refused' };

class Explained extends properties({ value: /** @type {Any} */ ({}) }) {
	render() {
		const { prospect, summary, refusal, confirmation, quotas, limit, cache, field_violations: violations } = this.value;
		const may = confirmation?.may_decide;
		const isStopped = ['REFUSED', 'INVALID'].includes(prospect);
		return html`<div class="explained"><p class="line"><b>What would happen</b>
			${badge(prospect, PROSPECTS[prospect])}</p>
			<p>${shown(summary ?? '')} <span class="quiet">Nothing was done.</span></p>
			${violationsOf(violations)}
			${facts([
				['Allowed', refusal ? html`no: ${shown(refusal.message)} <code>${refusal.reason}</code>` : !isStopped && 'yes'],
				['Approval', confirmation ? html`needed. ${shown(confirmation.summary)} ${may?.allowed ? 'You may decide.'
					: may?.reason ? html`You may not decide: ${shown(may.reason)}.` : nothing}` : !isStopped && 'not needed'],
				['Quota', quotas?.length && html`${quotas.map((one) =>
					html`<div>${one.left} of ${one.most} left (${shown(one.quota)})</div>`)}`],
				['Source', limit && html`${shown(limit.source)}: ${limit.can_make_request ? 'can be asked now'
					: html`a wait of ${lasting(span(limit.wait_time))}. ${shown(limit.reason ?? '')}`}`],
				['Cache', cache && (cache.hit ? `has an answer, ${lasting(span(cache.age))} old` : 'has no answer')],
				['Request id', this.value.request_id_required && 'needed, so that a repeat is done once; this page makes one'],
			])}
			${this.value.arguments ? html`<details class="more"><summary>Arguments as the tool would get them</summary>
				<tw-arguments .value=${this.value.arguments}></tw-arguments></details>` : nothing}</div>`;
	}
}
customElements.define('tw-explained', Explained);
