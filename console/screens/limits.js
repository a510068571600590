// The limits of the sources that the viewer's tools read from.
import { html, nothing } from '../vendor/lit.js';
import { get, problem } from '../lib/api.js';
import { properties } from '../lib/element.js';
import { store } from '../lib/store.js';
import { lasting, span } from '../lib/time.js';
import { shown } from '../lib/text.js';
import { badge } from '../elements/badges.js';
import { problemOf } from '../elements/problem.js';
import '../elements/when.js';

class Limits extends properties({ limits: /** @type {Any[] | undefined} */ (undefined), problem: /** @type {Failure} */ (undefined) }) {
  static topics = ['viewer'];

  connectedCallback() {
    super.connectedCallback();
    this.timer = setInterval(() => document.hidden || this.load(), 5_000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  willUpdate() {
    if (store.viewer.user_id && !this.asked) this.load();
  }

  async load() {
    this.asked = true;
    try {
      [this.limits, this.problem] = [(await get('/v1/limits')).limits, undefined];
    } catch (error) {
      this.problem = problem(error);
    }
  }

  render() {
    return html`<div class="page"><h1>Limits</h1>${problemOf(this.problem, () => this.load())}
      ${!this.limits ? html`<p class="empty">Loading…</p>` : !this.limits.length ? html`<p class="empty">None of your tools reads from a source.</p>`
        : html`<div class="table" tabindex="0"><table><thead><tr><th>Source</th><th>Now</th><th>Budget</th><th>Why</th></tr></thead><tbody>${this.limits.map((limit) => html`<tr>
          <th scope="row">${shown(limit.source)}</th>
          <td>${limit.can_make_request ? badge('READY', 'can be asked') : badge('LIMITED', `waits ${lasting(span(limit.wait_time))}`)}</td>
          <td>${limit.policy ? `${limit.policy.max_requests} in ${lasting(span(limit.policy.window))}` : 'none'}${limit.policy && span(limit.policy.min_delay) ? `, ${lasting(span(limit.policy.min_delay))} apart` : ''}</td>
          <td>${shown(limit.reason ?? '')} ${limit.cool_down_until ? html`Left alone for <tw-left .until=${limit.cool_down_until}></tw-left>.` : nothing}</td></tr>`)}</tbody></table></div>`}</div>`;
  }
}
customElements.define('tw-limits', Limits);
