// Calls, as they happen: a list with facets, and beside it the call that is opened.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { link, NOWHERE, replace } from '../lib/route.js';
import { store } from '../lib/store.js';
import { clock, exact, instant, lasting, now, span } from '../lib/time.js';
import { plural, shown } from '../lib/text.js';
import { badge, stateName } from '../elements/badges.js';
import '../elements/rows.js';
import './call.js';

/** A call that took longer is slow, in milliseconds. */
const SLOW = 1_000;
const STATES = ['RUNNING', 'AWAITING_CONFIRMATION', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'OUTCOME_UNKNOWN'];
const FACETS = /** @type {const} */ ([['tool', 'Tool', 'tool'], ['user', 'User', 'user_id'], ['client', 'Client', 'face'], ['code', 'Code', 'code']]);

/** @typedef {Any} Call */

class Calls extends properties({
  at: /** @type {Route} */ (NOWHERE),
}) {
  static topics = ['calls', 'viewer'];

  /** How long a call has taken. @param {Call} call */
  static took(call) {
    return call.ended_at ? span(call.duration) : now() - instant(call.arrived_at);
  }

  /** @param {Call} call */
  fits(call) {
    const { query } = this.at;
    const states = query.getAll('state');
    return (!states.length || states.includes(call.state)) &&
      FACETS.every(([facet, , field]) => !query.get(facet) || call[field] === query.get(facet)) &&
      (!query.get('task') || call.task_id === query.get('task')) && (!query.get('slow') || Calls.took(call) > SLOW) &&
      (query.get('nested') !== 'no' || !call.parent_call_id);
  }

  /** @param {string} name @param {string} value @param {boolean} [toggles] */
  set(name, value, toggles = false) {
    const query = new URLSearchParams(this.at.query);
    if (toggles) {
      const others = query.getAll(name).filter((one) => one !== value);
      const had = query.getAll(name).includes(value);
      query.delete(name);
      for (const one of had ? others : [...others, value]) query.append(name, one);
    } else if (value) query.set(name, value);
    else query.delete(name);
    replace(link('calls', this.at.id, query));
  }

  render() {
    const { query, id } = this.at;
    const all = [...store.calls.values()].map(({ call }) => call).sort((a, b) => (a.arrived_at < b.arrived_at ? 1 : -1));
    const calls = all.filter((call) => this.fits(call));
    const facets = [...query.keys()].length;
    const hasMore = store.olderCalls !== '';
    return html`<div class="split ${id ? 'has-card' : ''}">
      <section class="pane list fixed" aria-labelledby="calls">
        <div class="bar"><h1 id="calls">Calls</h1>
          <span class="quiet" role="status">${plural(calls.length, 'call')}${facets ? ` of ${all.length.toLocaleString('en')}` : ''}${hasMore ? ', and older ones' : ''}</span></div>
        <details class="facets" .open=${matchMedia('(min-width: 700px)').matches || facets > 0}><summary>Filter</summary>
          <div class="chips" role="group" aria-label="State">${STATES.map((state) => this.chip('state', state, stateName(state)))}
            ${this.chip('slow', '1', 'slow')} ${this.chip('nested', 'no', 'not nested')}</div>
          <div class="selects">${FACETS.map(([facet, title, field]) => this.select(facet, title, all.map((call) => call[field])))}
            ${query.get('task') ? html`<button class="small" @click=${() => this.set('task', '')}>Task ${query.get('task')} ×</button>` : nothing}
            ${facets ? html`<button class="small" @click=${() => replace(link('calls', id))}>Show all</button>` : nothing}</div>
        </details>
        ${calls.length ? html`<tw-rows class="calls" .label=${'Calls'} .items=${calls} .name=${(/** @type {Call} */ call) => call.call_id}
            .row=${(/** @type {Call} */ call) => this.row(call)} .chosen=${id} @end=${this.older}></tw-rows>`
          : html`<p class="empty">${!store.synced.has('older calls') ? 'Loading…' : all.length || facets ? 'No call matches. Change the filter.'
            : html`No calls yet. <span>Call a tool: <a href="#/tools">Tools</a>, or connect an agent: <a href="#/connect">Connect</a>. Its calls appear
              here by themselves.</span>`}</p>`}
      </section>
      <section class="pane card-pane" aria-label="Call">${id ? html`<tw-call .name=${id} .back=${link('calls', '', query)}></tw-call>`
        : html`<p class="empty">Choose a call to see what it did, and how long each part took.</p>`}</section>
    </div>`;
  }

  older() {
    if (this.isLoading || store.olderCalls === '' || !store.synced.has('older calls')) return;
    this.isLoading = true;
    store.loadOlderCalls().catch(() => {}).finally(() => { this.isLoading = false; });
  }

  /** @param {string} name @param {string} value @param {string} title */
  chip(name, value, title) {
    const isOn = this.at.query.getAll(name).includes(value);
    return html`<button class="chip" aria-pressed=${isOn} @click=${() => this.set(name, value, true)}>${title}</button>`;
  }

  /** @param {string} name @param {string} title @param {string[]} values */
  select(name, title, values) {
    const chosen = this.at.query.get(name) ?? '';
    const known = [...new Set([...values, chosen])].filter((value) => value && value !== 'UNSPECIFIED').sort();
    if (known.length < 2 && !chosen) return nothing;
    return html`<label>${title} <select @change=${(event) => this.set(name, event.target.value)}>
      <option value="">any</option>${known.map((value) => html`<option .value=${value} ?selected=${value === chosen}>${value}</option>`)}</select></label>`;
  }

  /** @param {Call} call */
  row(call) {
    const at = instant(call.arrived_at);
    const took = Calls.took(call);
    const failed = call.code && call.code !== 'UNSPECIFIED' ? call.code : '';
    return html`<a class="call" href=${link('calls', call.call_id, this.at.query)} aria-current=${call.call_id === this.at.id ? 'true' : nothing}>
      <span class="time" title=${exact(at)}>${clock(at)}</span>
      <span class="tool">${call.parent_call_id ? html`<span class="quiet" title="called by another tool">↳</span> ` : nothing}${call.tool}</span>
      <span class="from quiet">${call.face}${store.viewer.observes ? html` · ${shown(call.user_id)}` : nothing}</span>
      <span class="state">${badge(failed && call.state === 'FAILED' ? 'FAILED' : call.state, failed && call.state === 'FAILED' ? failed.toLowerCase().replaceAll('_', ' ') : undefined)}</span>
      <span class="took ${took > SLOW ? 'slow' : ''}">${call.ended_at ? lasting(took) : html`<span class="quiet">${lasting(Math.max(0, took))}…</span>`}${call.from_cache
        ? html`<span class="quiet" title="from a cache"> cache</span>` : nothing}</span>
    </a>`;
  }
}
customElements.define('tw-calls', Calls);
