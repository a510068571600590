// The last 15 minutes on one screen: calls, how long they took, how they failed, who waits, what is free.
import { svg } from '../vendor/lit.js';
import { clock, get, html, instant, lasting, link, loading, nothing, plural, problemOf, properties, span, store,
	unset, words } from '../elements/parts.js';
import { sourceOf } from '../elements/source.js';

const [HEIGHT, LEFT, BOTTOM] = [150, 52, 18];

/** A chart of lines over time. By the pointer, or by the arrow keys, it says the values of an instant. */
class Chart extends properties({
	label: '', times: /** @type {number[]} */ ([]), lines: /** @type {Line[]} */ ([]),
	told: /** @type {(value: any) => string} */ (String), bound: '', chosen: -1,
}) {
	wide = 600;
	resize = new ResizeObserver(() => {
		this.wide = Math.max(240, this.querySelector('svg')?.clientWidth ?? 0);
		this.requestUpdate();
	});

	/** A round number at or above the greatest value. */
	top() {
		const most = Math.max(0, ...this.lines.flatMap((line) => line.values.map((value) => value ?? 0)));
		const power = 10 ** Math.floor(Math.log10(most || 1));
		return power * ([1, 2, 5].find((step) => step * power >= most) ?? 10);
	}

	/** @param {number} index */
	choose(index) {
		this.chosen = Math.max(0, Math.min(this.times.length - 1, index));
	}

	/** @param {any} event */
	point(event) {
		const { left } = event.currentTarget.getBoundingClientRect();
		this.choose(Math.round(((event.clientX - left - LEFT) / (this.wide - LEFT - 4)) * (this.times.length - 1)));
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!step) return;
		event.preventDefault();
		this.choose((this.chosen < 0 ? this.times.length : this.chosen) + step);
	}

	render() {
		const { chosen, times, wide } = this;
		const last = times.length - 1;
		const top = this.top();
		const x = (/** @type {number} */ index) => LEFT + (index / Math.max(1, last)) * (wide - LEFT - 4);
		const y = (/** @type {number} */ value) => 6 + (1 - value / top) * (HEIGHT - BOTTOM - 6);
		// A value between two that are missing is a ring.
		const path = (/** @type {Line} */ { values }) => values.map((value, index) => (value === undefined ? ''
			: `${values[index - 1] === undefined ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}h.1${
				(values[index - 1] ?? values[index + 1]) === undefined ? 'm-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0' : ''}`)).join('');
		const at = chosen < 0 ? last : chosen;
		const rest = () => { this.chosen = -1; };
		return html`<figure class="chart"><figcaption><b>${this.label}</b>
				${this.lines.map(({ name, tone, values }) => html`<span class="legend ${tone}">${name}
					<b>${values[at] === undefined ? '–' : this.bound + this.told(values[at])}</b></span>`)}
				<span class="quiet end">${chosen < 0 ? 'now' : clock(times[chosen]).slice(0, 8)}</span></figcaption>
			<svg viewBox="0 0 ${wide} ${HEIGHT}" role="img" tabindex="0"
				aria-label="${this.label}, the last 15 minutes. Arrow keys
				read values." @pointermove=${this.point} @pointerleave=${rest} @keydown=${this.key} @blur=${rest}>
				${[0, top / 2, top].map((value) => svg`<line x1=${LEFT} x2=${wide - 4} y1=${y(value)} y2=${y(value)}></line>
					<text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${value ? this.told(value) : 0}</text>`)}
				${(times.length ? [0, 1, 2] : []).map((third) => svg`<text x=${x((third / 2) * last)} y=${HEIGHT - 3}
					text-anchor=${['start', 'middle', 'end'][third]}>${clock(times[Math.round((third / 2) * last)]).slice(0,
						5)}</text>`)}
				${this.lines.map((line) => svg`<path class=${line.tone} d=${path(line)}></path>`)}
				${chosen < 0 ? nothing : svg`<line class="at" x1=${x(chosen)} x2=${x(chosen)} y1="4"
					y2=${HEIGHT - BOTTOM}></line>`}
			</svg></figure>`;
	}
}
customElements.define('tw-chart', Chart);

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
				${tile('Failed', wrong ? `${wrong} (${Math.round(wrong / calls * 1_000) / 10} %)` : 0,
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
				<tw-chart class="panel" .label=${'Time of a call'} .times=${times} .told=${lasting} .bound=${'≤ '} .lines=${[
					{ name: 'half of them', tone: 'one', values: of('p50') },
						{ name: '99 in 100', tone: 'two', values: of('p99') }]}></tw-chart>
			</div>` : loading()}
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
