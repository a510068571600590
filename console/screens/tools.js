// The tools: a search that answers as one types, facets, and beside them the card of the tool that is opened.
import { badge, html, link, nothing, NOWHERE, plural, properties, shown, store, words } from
	'../elements/parts.js';
import { choice, filter, reset, search, split } from '../elements/split.js';

/**
 * What can be filtered by: its name, its title, and what a tool has of it.
 * @type {[string, string, (tool: Any) => string[]][]}
 */
const FACETS = [
	['category', 'Category', (tool) => [words(tool.category)]],
	['consequence', 'Consequence', (tool) => [words(tool.consequence_level)]],
	['approval', 'Approval', (tool) => [tool.requires_confirmation ? 'yes' : tool.approve_unless ? 'by condition' :
		'no']],
	['status', 'Status', (tool) => [words(tool.status?.state ?? '')]],
	['provider', 'Provider', (tool) => [tool.provider || 'this server']],
	['tag', 'Tag', (tool) => tool.tags ?? []],
];

class Tools extends properties({ at: NOWHERE }) {
	static topics = ['tools', 'viewer'];
	/** What a search looks into. @type {WeakMap<Any, string>} */
	texts = new WeakMap();

	/** @param {Any} tool */
	text(tool) {
		let text = this.texts.get(tool);
		if (text === undefined) {
			text = [tool.name, tool.title, tool.description, ...(tool.tags ?? []),
				...(tool.utterances ?? [])].join('\n').toLowerCase();
			this.texts.set(tool, text);
		}
		return text;
	}

	/** @param {Any[]} tools */
	found(tools) {
		const { query } = this.at;
		const wanted = (query.get('text') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
		const rank = (/** @type {Any} */ tool) => Number(wanted.length > 0 && tool.name.includes(wanted[0]));
		return tools.filter((tool) => wanted.every((word) => this.text(tool).includes(word)) &&
			FACETS.every(([name, , of]) => !query.get(name) || of(tool).includes(/** @type {string} */ (query.get(name)))))
			.sort((a, b) => rank(b) - rank(a) || (a.name < b.name ? -1 : 1));
	}

	render() {
		const { query, id } = this.at;
		const all = [...store.tools.values()];
		const tools = this.found(all);
		const facets = new URLSearchParams([...query].filter(([name]) => !/^(call|request|confirmation)$/.test(name)));
		return split({ at: this.at, title: 'Tools', count: `${plural(tools.length, 'tool')}${facets.size
				? ` of ${all.length.toLocaleString('en')}` : ''}`,
			head: html`${search(this.at, 'Search tools')}
				${filter(facets.size > Number(facets.has('text')), html`<div class="selects">${FACETS.map(([name, title,
					of]) => this.facet(name, title, all.flatMap(of)))} ${facets.size ? reset('tools', id) : nothing}</div>`)}
				${store.problems.length ? html`<div class="notice bad">The files of the server are wrong and were not taken
					over: <ul>${store.problems.map((one) => html`<li><code>${one.file}${one.pointer}</code>
						${shown(one.description)}</li>`)}</ul></div>` : nothing}`,
			list: tools.length ? html`<tw-rows .label=${'Tools'} .items=${tools} .name=${nameOf} .chosen=${id}
					.row=${(tool) => this.row(tool, facets)}></tw-rows>`
				: html`<p class="empty">${!store.synced.has('tools') ? 'Loading…' : facets.size ?
					html`No tool matches. ${reset('tools', id)}` : html`No tools yet. <span>Write one: <code>python
						tools.py</code> serves your functions as tools, and they appear here by themselves. See <a
							href="#/connect">Connect</a>.</span>`}</p>`,
			card: html`<tw-tool .name=${id} .query=${query} .back=${link('tools', '', facets)}></tw-tool>`,
			hint: 'Choose a tool to read what it does, and to try it.' });
	}

	/** @param {string} name @param {string} title @param {string[]} values */
	facet(name, title, values) {
		/** @type {Map<string, number>} */ const counts = new Map();
		for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
		const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
		return choice(this.at, name, title, sorted.map(([value, count]) => [value, `${value} (${count})`]));
	}

	/** @param {Any} tool @param {URLSearchParams} facets */
	row(tool, facets) {
		const state = tool.status?.state;
		return html`<a href=${link('tools', tool.name, facets)} aria-current=${tool.name === this.at.id ? 'true' : nothing}>
			<span class="line"><b>${tool.name}</b>
				${tool.category !== 'READ' ? html`<span class="badge busy">${words(tool.category)}</span>` : nothing}
				${tool.consequence_level === 'HIGH' ? html`<span class="badge bad">high</span>` : nothing}
				${tool.requires_confirmation ? html`<span class="badge wait">needs approval</span>` : nothing}
				${state && state !== 'READY' ? badge(state) : nothing}</span>
			<span class="summary">${shown(tool.description ?? '')}</span></a>`;
	}
}
customElements.define('tw-tools', Tools);

/** @param {Any} tool */
const nameOf = (tool) => tool.name;
