// The last 15 minutes on one screen: calls, how long they took, how they failed, who waits, what is free.
import { get, html, instant, lasting, link, nothing, plural, problemOf, properties, span, store, unset,
	words } from '../elements/parts.js';
import { sourceOf } from '../elements/source.js';
import '../elements/chart.js';

class Overview extends properties({ stats: unset, limits: /** @type {Any[]} */
	([]) }) {
	static topics = ['viewer'];
	static every = 5_000;

	willUpdate() {
		this.once('overview', async () => {
			const [stats, { limits }] = await Promise.all([get('/v1/stats', { user_id: store.everybody, step: '5s' }),
				get('/v1/limits')]);
			return { stats, limits };
		});
	}

	render() {
		const { stats } = this;
		/** @type {Any[]} */ const buckets = stats?.buckets ?? [];
		const seconds = span(stats?.step) / 1000;
		const times = buckets.map((bucket) => instant(bucket.time));
		const failed = buckets.map(({ errors = [] }) => errors.reduce((sum, error) => sum + error.calls, 0));
		const failures = new Map();
		for (const { errors = [] } of buckets) {
			for (const { code, calls } of errors) failures.set(code, (failures.get(code) ?? 0) + calls);
		}
		const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0);
		const wrong = failed.reduce((sum, one) => sum + one, 0);
		const of = (/** @type {string} */ name) => buckets.map((bucket) => (bucket[name] ? span(bucket[name]) : undefined));
		return html`<div class="page"><div class="bar"><h1>Overview</h1>
				<span class="quiet">the last 15 minutes of ${store.viewer.observes ? 'all calls' : 'your calls'} at this
					server</span></div>
			${problemOf(this.problem, this.again)}
			<div class="tiles">
				${tile('Calls', calls.toLocaleString('en'), '#/calls')}
				${tile('Failed', wrong ? `${wrong} (${(wrong / calls * 100).toPrecision(2)} %)` : 0,
					link('calls', '', { state: 'FAILED' }), wrong && 'bad')}
				${tile('Running', stats?.running ?? 0, link('calls', '', { state: 'RUNNING' }))}
				${tile('Waiting for approval', stats?.waiting ?? 0, '#/approvals', stats?.waiting && 'wait')}
				${stats?.slots ? tile('Free slots', `${stats.idle_slots} of ${stats.slots}`, '#/providers', stats.idle_slots ?
					'' : 'bad') : nothing}
			</div>
			${stats ? html`<div class="charts">
				<tw-chart class="panel" .label=${'Calls a second'} .times=${times} .told=${round} .lines=${[
					{ name: 'all', tone: 'one', values: buckets.map((bucket) => bucket.calls / seconds) },
					{ name: 'failed', tone: 'two', values: failed.map((one) => one / seconds) }]}></tw-chart>
				<tw-chart class="panel" .label=${'Time of a call'} .times=${times} .told=${lasting} .lines=${[
					{ name: 'half took at most', tone: 'one', values: of('p50') },
						{ name: '99 in 100', tone: 'two', values: of('p99') }]}></tw-chart>
			</div>` : html`<p class="empty">Loading…</p>`}
			<div class="charts">
				<section class="panel"><h2>Failures</h2>${failures.size ? html`<ul class="plain">
					${[...failures].sort((a, b) => b[1] - a[1]).map(([code, count]) => html`<li class="line">
						<a href=${link('calls', '', { code })}>${words(code)}</a> <span
							class="end">${plural(count, 'call')}</span></li>`)}</ul>`
					: html`<p class="quiet">None.</p>`}</section>
				<section class="panel"><h2><a href="#/limits">Sources</a></h2><ul class="plain">${this.limits.map((limit) =>
					sourceOf(limit))}</ul>
					${this.limits.length ? nothing : html`<p class="quiet">None of your tools reads from one.</p>`}</section>
			</div></div>`;
	}
}
customElements.define('tw-overview', Overview);

/** @param {number} value */
const round = (value) => String(Number(value.toPrecision(2)));

/** @param {string} name @param {any} value @param {string} address @param {any} [tone] */
const tile = (name, value, address, tone) => html`<a class="tile ${tone || ''}" href=${address}>
	<span class="quiet">${name}</span><b>${value}</b></a>`;
