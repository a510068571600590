// The card of a tool: when to use it, a form to try it, its parameters and its definition.
import { bounds, inWords, resolve, rulesOf, typeOf } from '../lib/schema.js';
import { badge, brief, consequence, crumbs, facts, get, html, lasting, link, loading, nothing, properties, segment,
	shown, span, store, stringify, unset } from '../elements/parts.js';
import './try.js';

class ToolCard extends properties({
	name: '', back: '', query: new URLSearchParams(), tool: unset,
}) {
	static topics = ['tools', 'viewer'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('name')) [this.tool, this.problem] = [undefined, undefined];
		const { name } = this;
		if (changed.has('name')) this.follows = Boolean(document.activeElement?.closest('tw-rows'));
		const known = store.tools.get(name);
		if (!known && !store.synced.has('tools')) return;
		this.once(`${name} ${known?.digest} ${known?.status?.state}`, async () => {
			const answer = await get(`/v1/tools/${segment(name)}`);
			return { tool: answer.tool ?? answer };
		});
	}

	/** From the list the focus goes to what was opened. */
	updated() {
		if (!this.tool || !this.follows) return;
		this.follows = false;
		this.first('h1').focus({ preventScroll: true });
	}

	render() {
		const { tool } = this;
		const back = crumbs(this.back || '#/tools', 'Tools');
		if (!tool) return html`${back}${loading(this.problem, this.again)}`;
		const { state, reason } = tool.status ?? {};
		const schema = tool.input_schema ?? {};
		const description = tool.description ?? '';
		return html`<article>${back}
			<header>
				<p class="line">${consequence(tool)} ${state === 'READY' ? nothing : badge(state)}
					${tool.requires_confirmation ? html`<span class="badge wait">needs approval</span>` : nothing}</p>
				<h1 tabindex="-1">${shown(tool.title || tool.name)}</h1>
				<p class="quiet"><code>${tool.name}</code> ${tool.version}</p>
				${reason ? html`<p class="notice ${state === 'DISABLED' ? 'bad' : ''}">${shown(reason)}</p>` : nothing}
				${uses(description)}
				${conditions(tool)}
			</header>
			<tw-try .tool=${tool} .call=${this.query.get('call') ?? ''} .request=${this.query.get('request') ?? ''}
				.confirmation=${this.query.get('confirmation') ?? ''}></tw-try>
			${parameters(schema)}
			<details class="more"><summary>Definition</summary>${facts([
				['Provider', tool.provider ? html`<a href="#/providers">${tool.provider}</a>` : `this server, ${tool.domain}`],
				['Tags', tool.tags?.join(', ')],
				['Time-out', tool.timeout && lasting(span(tool.timeout))],
				['Cached', tool.cache && `for ${lasting(span(tool.cache.ttl))}, per ${tool.cache.scope}`],
				['Source', tool.source?.name],
				['Calls', tool.depends_on?.length && html`${tool.depends_on.map((name) =>
					html`<a href=${link('tools', name)}>${name}</a> `)}`],
				['Results', tool.untrusted ? 'hold text that people outside wrote' : ''],
				['Repeated', tool.idempotent ? 'changes nothing more' : ''],
				['Typed RPC', tool.typed_method],
				['Size', `${stringify(schema).length} characters of schema, ${description.length} of description`],
				['Digest', html`<code title=${tool.digest}>${brief(tool.digest ?? '')}</code>`],
			])}
			<p><a href=${link('calls', '', { tool: tool.name })}>Calls of this tool</a></p>
			<ul>${tool.guidance?.map((line) => html`<li>${shown(line)}</li>`)}</ul>
			${tool.output_schema ? html`<h3>Shape of the result</h3><tw-json .value=${tool.output_schema}
				.open=${1}></tw-json>` : nothing}
			</details>
		</article>`;
	}
}
customElements.define('tw-tool', ToolCard);

/**
 * A description, in which what it says of when to use the tool stands on lines of their own.
 * @param {string} description
 */
const uses = (description) =>
	description.split(/(?<=\.)\s+(?=(?:Use this|Do not use|Don't use|Prefer|Not for)\b)/).map((part) =>
	html`<p class=${/^(Do not|Don't|Not for)/.test(part) ? 'use not' : /^(Use this|Prefer)/.test(part) ? 'use' :
		''}>${shown(part)}</p>`);

/** @param {Any} tool */
function conditions(tool) {
	const rules = Object.entries(rulesOf(tool));
	if (!rules.length || tool.requires_confirmation) return nothing;
	const said = rules.map(([name, rule]) => inWords(rule, name)).join(', and ').split('`');
	return html`<p class="notice">A person must approve a call unless ${said.map((part, index) => (index % 2
		? html`<code>${part}</code>` : shown(part)))}.</p>`;
}

/** @param {Schema} schema */
function parameters(schema) {
	const properties = Object.entries(schema.properties ?? {});
	if (!properties.length) return nothing;
	return html`<details class="more"><summary>Parameters</summary><dl
		class="parameters">${properties.map(([name, one]) => {
		const known = resolve(one, schema);
		return html`<div><dt><code>${name}</code> <span class="quiet">${typeOf(known,
			schema)}${schema.required?.includes(name)
			? ', required' : ''}${known.writeOnly ? ', sensitive' : ''}</span></dt>
			<dd>${shown(known.description ?? '')} <span class="quiet">${bounds(known)}</span></dd></div>`;
	})}</dl></details>`;
}
