// Providers: what executes tools outside the server, what each has connected, and what it offered in vain.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { link, NOWHERE } from '../lib/route.js';
import { store } from '../lib/store.js';
import { brief, plural, shown } from '../lib/text.js';
import { badge } from '../elements/badges.js';
import '../elements/copy.js';

/** @type {Record<string, string>} */
const KINDS = { HOST: 'programs that dial in', MCP: 'MCP server' };
/** @type {Record<string, string>} */
const STATES = {
  WAITING: 'Another version, or another program of this name, is in service. This one asks again every few seconds.',
  REFUSED: 'All that it offered was refused.',
};

class Providers extends properties({ at: NOWHERE }) {
  static topics = ['providers', 'tools', 'viewer'];

  render() {
    const providers = [...store.providers.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return html`<div class="page" aria-labelledby="providers"><h1 id="providers">Providers</h1>
      ${providers.length ? providers.map((provider) => this.one(provider)) : html`<p class="empty">${!store.synced.has('providers') ? 'Loading…'
        : html`No host has joined. <span>Run <code>python tools.py</code> with the Python package, and its functions are tools here; or name an MCP server
          under <code>[providers]</code> in <code>toolwire.toml</code>.</span>`}</p>`}</div>`;
  }

  /** @param {Any} provider */
  one(provider) {
    const { name, kind, hosts = [], refused = [] } = provider;
    const serving = hosts.filter((/** @type {Any} */ host) => host.state === 'SERVING');
    const idle = serving.reduce((/** @type {number} */ sum, /** @type {Any} */ host) => sum + host.idle, 0);
    const slots = serving.reduce((/** @type {number} */ sum, /** @type {Any} */ host) => sum + host.slots, 0);
    return html`<section class="panel" aria-label=${name}>
      <div class="line"><h2>${shown(name)}</h2> <span class="quiet">${KINDS[kind] ?? kind}</span>
        <span class="end"><a href=${link('tools', '', { provider: name })}>${plural(provider.tools, 'tool')}</a></span></div>
      ${provider.reason ? html`<p class="notice bad">${shown(provider.reason)}</p>` : nothing}
      ${kind === 'HOST' && !hosts.length ? html`<p class="empty">No program is connected. <span>Start it; it joins by itself.</span></p>` : nothing}
      ${slots ? html`<p>${slots - idle} of ${plural(slots, 'slot')} busy</p>
        <meter min="0" max=${slots} .value=${slots - idle} aria-label="busy slots"></meter>` : nothing}
      ${hosts.length ? html`<ul class="plain">${hosts.map((/** @type {Any} */ host) => html`<li>
        <div class="line">${badge(host.state)} <b>${shown(host.instance)}</b> <span class="quiet">${shown(host.sdk)} · version
          <code title=${host.catalogue_id}>${brief(host.catalogue_id)}</code></span>
          ${host.slots ? html`<span class="end">${host.slots - host.idle} of ${host.slots} busy</span>` : nothing}</div>
        ${STATES[host.state] ? html`<p class="quiet">${STATES[host.state]}</p>` : nothing}</li>`)}</ul>` : nothing}
      ${provider.accept_command ? html`<div class="notice">The server lists other tools than those that were accepted. Compare them below; then accept
        them on the machine of this server: <tw-copy .label=${'the command'} .text=${provider.accept_command}></tw-copy></div>` : nothing}
      ${refused.length ? html`<h3>Offered and not served</h3><ul class="plain">${refused.map((/** @type {Any} */ offer) => html`<li><b>${shown(offer.tool)}</b>
        ${(offer.problems ?? []).length ? html`<ul class="violations">${offer.problems.map((/** @type {Any} */ problem) => html`<li><code>${shown(problem.pointer || problem.rule)}</code>
          ${shown(problem.description)}</li>`)}</ul>` : html`<p class="quiet">You may not see why.</p>`}</li>`)}</ul>` : nothing}
    </section>`;
  }
}
customElements.define('tw-providers', Providers);
