// The audit: who wrote and who decided, and which requests were refused.
import { html, nothing } from '../vendor/lit.js';
import { get, problem } from '../lib/api.js';
import { stringify } from '../lib/json.js';
import { properties } from '../lib/element.js';
import { link, NOWHERE } from '../lib/route.js';
import { store } from '../lib/store.js';
import { plural, shown, words } from '../lib/text.js';
import { badge } from '../elements/badges.js';
import { problemOf } from '../elements/problem.js';
import '../elements/when.js';

class Audit extends properties({
  at: NOWHERE, rows: /** @type {Any[] | undefined} */ (undefined), problem: /** @type {Failure} */ (undefined), filter: /** @type {Any} */ ({}),
}) {
  static topics = ['viewer'];
  next = '';
  asked = '';

  get isRefusals() {
    return this.at.id === 'refusals';
  }

  willUpdate() {
    const wanted = `${this.at.id} ${stringify(this.filter)}`;
    if (!store.viewer.user_id || wanted === this.asked) return;
    this.asked = wanted;
    [this.rows, this.next] = [undefined, ''];
    this.load();
  }

  async load() {
    const { asked } = this;
    try {
      const page = await get(this.isRefusals ? '/v1/refusals' : '/v1/records', { ...this.filter, page_size: 100, page_token: this.next });
      if (asked !== this.asked) return;
      this.next = page.next_page_token;
      [this.rows, this.problem] = [[...(this.rows ?? []), ...(page.records ?? page.refusals)], undefined];
    } catch (error) {
      this.problem = problem(error);
    }
  }

  /** What is listed, as a file of one JSON object a line. */
  save() {
    const url = URL.createObjectURL(new Blob([(this.rows ?? []).map((row) => `${stringify(row)}\n`).join('')], { type: 'application/x-ndjson' }));
    Object.assign(document.createElement('a'), { href: url, download: `toolwire-${this.isRefusals ? 'refusals' : 'records'}.ndjson` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  /** @param {any} event */
  submit(event) {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value));
    if (given.since) given.since = new Date(/** @type {string} */ (given.since)).toISOString();
    this.filter = given;
  }

  render() {
    const { rows } = this;
    const tab = (/** @type {string} */ id, /** @type {string} */ title) => html`<a class="chip" href=${link('audit', id)} aria-current=${(this.at.id === id) ? 'page' : nothing}
      @click=${() => { this.filter = {}; }}>${title}</a>`;
    return html`<div class="page"><div class="bar"><h1>Audit</h1><nav class="chips" aria-label="Records">${tab('', 'Writes and decisions')} ${tab('refusals', 'Refusals')}</nav></div>
      <form class="selects" @submit=${this.submit}>
        <label>User <input name="user_id" data-search autocomplete="off"></label>
        ${this.isRefusals ? nothing : html`<label>Tool <input name="tools" autocomplete="off"></label>
          <label>What <select name="kinds"><option value="">any</option><option value="WRITE">write</option><option value="DECISION">decision</option></select></label>`}
        <label>Since <input type="datetime-local" name="since"></label>
        <button>Search</button> ${rows?.length ? html`<button type="button" @click=${this.save}>Save what is listed</button>` : nothing}
      </form>
      ${problemOf(this.problem, () => this.load())}
      <p class="quiet" role="status">${rows ? `${plural(rows.length, 'record')}${this.next ? ', and older ones' : ''}` : ''}</p>
      ${!rows ? (this.problem ? nothing : html`<p class="empty">Loading…</p>`) : !rows.length ? html`<p class="empty">Nothing is recorded that matches.</p>`
        : html`<div class="table" tabindex="0"><table>${this.isRefusals ? this.refusals(rows) : this.records(rows)}</table></div>`}
      ${this.next ? html`<p><button @click=${() => this.load()}>Show older ones</button></p>` : nothing}</div>`;
  }

  /** @param {Any[]} rows */
  records(rows) {
    return html`<thead><tr><th>When</th><th>Who</th><th>What</th><th>Verdict</th><th>End</th><th>Call</th></tr></thead><tbody>${rows.map((row) => html`<tr>
      <td><tw-when .at=${row.time}></tw-when></td>
      <td>${shown(row.user_id)}${row.kind === 'DECISION' && row.caller !== row.user_id ? html` <span class="quiet">on a call of ${shown(row.caller)}</span>` : nothing}</td>
      <td>${words(row.kind)} <code>${row.tool}</code></td><td>${badge(row.verdict)}${row.approver && row.kind === 'WRITE' ? html` <span class="quiet">by ${shown(row.approver)}</span>` : nothing}</td>
      <td>${row.code === 'OK' ? 'ok' : words(row.code ?? '')}</td>
      <td>${row.call_id ? html`<a href=${link('calls', row.call_id)}>call</a>` : nothing} ${row.confirmation_id ? html`<a href=${link('approvals', row.confirmation_id)}>approval</a>` : nothing}</td></tr>`)}</tbody>`;
  }

  /** @param {Any[]} rows */
  refusals(rows) {
    return html`<thead><tr><th>Last</th><th>How many</th><th>Who</th><th>From</th><th>Reason</th><th>What</th></tr></thead><tbody>${rows.map((row) => html`<tr>
      <td><tw-when .at=${row.last_time}></tw-when></td><td>${row.count}</td><td>${shown(row.user_id || 'unknown')}</td><td>${shown(`${row.peer} ${row.face}`)}</td>
      <td>${words(row.reason)}</td><td><code>${shown(row.target)}</code></td></tr>`)}</tbody>`;
  }
}
customElements.define('tw-audit', Audit);
