// Providers: what executes tools outside the server, what each has connected, and what it offered in vain.
import { badge, brief, html, link, nothing, NOWHERE, plural, properties, shown, store,
	violationsOf } from '../elements/parts.js';
import '../elements/arguments.js';

/** @type {Record<string, string>} */
const KINDS = { HOST: 'programs that connect to this server', MCP: 'MCP server' };
/** @type {Record<string, string>} */
const STATES = {
	WAITING: 'Another version, or another program of this name, is in service. This one asks again every few seconds.',
	REFUSED: 'All that it offered was refused.',
};

class Providers extends properties({ at: NOWHERE }) {
	static topics = ['providers', 'viewer'];

	render() {
		const providers = [...store.providers.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
		return html`<div class="page"><h1>Providers</h1>
			${providers.length ? providers.map((one) => this.one(one)) : html`<p class="empty">${store.synced.has('providers')
				? html`No host has joined. <span>Run <code>python tools.py</code> with the Python package, and its functions
					are tools here; or
					name an MCP server under <code>[providers]</code> in <code>toolwire.toml</code>.</span>` :
						'Loading…'}</p>`}</div>`;
	}

	/** @param {Any} provider */
	one({ name, kind, tools, reason, hosts = [], refused = [], accept_command: accept }) {
		const slots = hosts.reduce((sum, host) => sum + host.slots, 0);
		const busy = slots - hosts.reduce((sum, host) => sum + host.idle, 0);
		return html`<section class="panel" aria-label=${name}>
			<div class="line"><h2>${shown(name)}</h2> <span class="quiet">${KINDS[kind] ?? kind}</span>
				<a class="end" href=${link('tools', '', { provider: name })}>${plural(tools, 'tool')}</a></div>
			${reason ? html`<p class="notice bad">${shown(reason)}</p>` : nothing}
			${kind === 'HOST' && !hosts.length ? html`<p class="quiet">No program is connected. Start it; it joins by
				itself.</p>` : nothing}
			${slots ? html`<p>${busy} of ${plural(slots, 'slot')} busy</p>
				<meter min="0" max=${slots} .value=${busy} aria-label="busy slots"></meter>` : nothing}
			<ul class="plain">${hosts.map((host) => html`<li><div class="line">${badge(host.state)}
				<b>${shown(host.sdk)}</b> <span class="quiet">version <code
					title=${host.catalogue_id}>${brief(host.catalogue_id)}</code></span>
					${host.slots ? html`<span class="end">${host.slots - host.idle} of ${host.slots} busy</span>` : nothing}</div>
				${STATES[host.state] ? html`<p class="quiet">${STATES[host.state]}</p>` : nothing}
				<details class="quiet"><summary>Details</summary>Instance <code
					title=${host.instance}>${shown(brief(host.instance))}</code></details></li>`)}</ul>
			${accept ? html`<div class="notice">The server lists other tools than those that were accepted. Compare them
				below; then accept
				them on the machine of this server: <tw-copy .label=${'the command'} .text=${accept}></tw-copy></div>` :
					nothing}
			${refused.length ? html`<h3>Offered and not served</h3><ul
				class="plain">${refused.map(({ tool, problems }) => html`<li>
				<b>${shown(tool)}</b> ${problems?.length ? violationsOf(problems.map((one) =>
					({ ...one, pointer: one.pointer || one.rule })))
					: html`<span class="quiet">You may not see why.</span>`}</li>`)}</ul>` : nothing}
		</section>`;
	}
}
customElements.define('tw-providers', Providers);
