// The last 15 minutes on one screen: calls, how long they took, how they failed, who waits, what is free.
import { html, nothing } from '../vendor/lit.js';
import { get } from '../lib/api.js';
import { properties } from '../lib/element.js';
import { link } from '../lib/route.js';
import { store } from '../lib/store.js';
import { instant, lasting, now, span } from '../lib/time.js';
import { plural, shown, words } from '../lib/text.js';
import '../elements/chart.js';

/** Seconds of one point. */
const STEP = 5;

/** The time within which a share of the calls ended, in milliseconds, to the width of a bound. @param {number[]} counts @param {number[]} bounds @param {number} share */
function quantile(counts, bounds, share) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (!total) return undefined;
  let passed = 0;
  const index = counts.findIndex((count) => (passed += count) >= total * share);
  return bounds[Math.min(index, bounds.length - 1)];
}

class Overview extends properties({ limits: /** @type {Any[]} */ ([]) }) {
  static topics = ['stats', 'viewer', 'confirmations'];

  connectedCallback() {
    super.connectedCallback();
    const load = () => store.viewer.user_id && !document.hidden && get('/v1/limits').then((answer) => { this.limits = answer.limits; }, () => {});
    load();
    this.timer = setInterval(load, 10_000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  /** Points of five seconds. */
  points() {
    /** @type {Map<number, {calls: number, failed: number, counts: number[]}>} */ const points = new Map();
    for (const bucket of store.stats.buckets) {
      const at = Math.floor(bucket.at / 1000 / STEP) * STEP * 1000;
      const point = points.get(at) ?? { calls: 0, failed: 0, counts: [] };
      point.calls += bucket.calls;
      point.failed += bucket.errors.reduce((/** @type {number} */ sum, /** @type {Any} */ error) => sum + error.calls, 0);
      bucket.latencies.forEach((/** @type {number} */ count, /** @type {number} */ index) => { point.counts[index] = (point.counts[index] ?? 0) + count; });
      points.set(at, point);
    }
    return [...points];
  }

  render() {
    const { stats } = store;
    const points = this.points();
    const times = points.map(([at]) => at);
    const bounds = stats.latency_bounds.map(span);
    const of = (/** @type {number} */ share) => points.map(([, point]) => quantile(point.counts, bounds, share));
    const failures = new Map();
    let calls = 0;
    for (const bucket of stats.buckets) {
      calls += bucket.calls;
      for (const error of bucket.errors) failures.set(error.code, (failures.get(error.code) ?? 0) + error.calls);
    }
    const failed = [...failures.values()].reduce((sum, one) => sum + one, 0);
    const tight = this.limits.filter((limit) => !limit.can_make_request || limit.reason);
    return html`<div class="page"><div class="bar"><h1>Overview</h1><span class="quiet">the last 15 minutes of ${store.viewer.observes ? 'all calls' : 'your calls'}
        at this server</span></div>
      <div class="tiles">
        ${tile('Calls', calls.toLocaleString('en'), '#/calls')}
        ${tile('Failed', calls ? `${failed.toLocaleString('en')} (${Math.round((failed / calls) * 1000) / 10} %)` : '0', link('calls', '', { state: 'FAILED' }), failed > 0 ? 'bad' : '')}
        ${tile('Running', stats.running ?? 0, link('calls', '', { state: 'RUNNING' }))}
        ${tile('Waiting for approval', stats.waiting ?? 0, '#/approvals', stats.waiting ? 'wait' : '')}
        ${stats.slots ? tile('Free slots', `${stats.idle_slots} of ${stats.slots}`, '#/providers', stats.idle_slots ? '' : 'bad') : nothing}
      </div>
      ${store.synced.has('stats') ? html`<div class="charts">
        <tw-chart class="panel" .label=${'Calls a second'} .times=${times} .told=${(/** @type {number} */ value) => String(Math.round(value * 10) / 10)}
          .lines=${[{ name: 'all', tone: 'one', values: points.map(([, point]) => point.calls / STEP) }, { name: 'failed', tone: 'two', values: points.map(([, point]) => point.failed / STEP) }]}></tw-chart>
        <tw-chart class="panel" .label=${'Time of a call'} .times=${times} .told=${lasting} .lines=${[{ name: 'half took at most', tone: 'one', values: of(0.5) }, { name: '99 in 100', tone: 'two', values: of(0.99) }]}></tw-chart>
      </div>` : html`<p class="empty">Loading…</p>`}
      <div class="charts">
        <section class="panel"><h2>Failures</h2>${failures.size ? html`<ul class="plain">${[...failures].sort((a, b) => b[1] - a[1]).map(([code, count]) => html`<li class="line">
          <a href=${link('calls', '', { code })}>${words(code)}</a> <span class="end">${plural(count, 'call')}</span></li>`)}</ul>` : html`<p class="quiet">None.</p>`}</section>
        <section class="panel"><h2>Sources near their limit</h2>${tight.length ? html`<ul class="plain">${tight.map((limit) => html`<li><b>${shown(limit.source)}</b>
          ${limit.can_make_request ? 'can be asked' : html`is left alone ${limit.cool_down_until ? html`for ${lasting(instant(limit.cool_down_until) - now())}` : `for ${lasting(span(limit.wait_time))}`}`}.
          <span class="quiet">${shown(limit.reason ?? '')}</span></li>`)}</ul>` : html`<p class="quiet">None. <a href="#/limits">All limits</a></p>`}</section>
      </div></div>`;
  }
}
customElements.define('tw-overview', Overview);

/** @param {string} name @param {any} value @param {string} address @param {string} [tone] */
const tile = (name, value, address, tone = '') => html`<a class="tile ${tone}" href=${address}><span class="quiet">${name}</span><b>${value}</b></a>`;
