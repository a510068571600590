// The tools: a search that answers as one types, facets, and beside them the card of the tool that is opened.
import { html, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { link, NOWHERE, replace } from '../lib/route.js';
import { store } from '../lib/store.js';
import { plural, shown, words } from '../lib/text.js';
import { badge } from '../elements/badges.js';
import '../elements/rows.js';

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

	/** @param {string} name @param {string} value */
	set(name, value) {
		const query = new URLSearchParams(this.at.query);
		query.delete(name);
		if (value) query.set(name, value);
		replace(link('tools', this.at.id, query));
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
		const facets = new URLSearchParams([...query].filter(([name]) => name !== 'call' && name !== 'request'));
		const reset = html`<button class="small" @click=${() => replace(link('tools', id))}>Show all</button>`;
		const isWide = matchMedia('(min-width: 700px)').matches;
		return html`<div class="split ${id ? 'has-card' : ''}">
			<section class="pane list fixed" aria-labelledby="tools">
				<div class="bar"><h1 id="tools">Tools</h1><span class="quiet"
					role="status">${plural(tools.length, 'tool')}${facets.size
					? ` of ${all.length.toLocaleString('en')}` : ''}</span></div>
				<input type="search" data-search aria-label="Search tools" placeholder="Search  ( / )"
					.value=${query.get('text') ?? ''}
					@input=${(event) => this.set('text', event.target.value)}>
				<details class="facets" .open=${isWide || facets.size > Number(facets.has('text'))}><summary>Filter</summary>
					<div class="selects">${FACETS.map(([name, title, of]) => this.facet(name, title, all.flatMap(of)))}
						${facets.size ? reset : nothing}</div></details>
				${store.problems.length ? html`<div class="notice bad">The files of the server are wrong and were not taken
					over: <ul>
					${store.problems.map((one) => html`<li><code>${one.file}${one.pointer}</code>
						${shown(one.description)}</li>`)}</ul></div>` : nothing}
				${tools.length ? html`<tw-rows .label=${'Tools'} .items=${tools} .name=${nameOf} .chosen=${id}
						.row=${(tool) => this.row(tool, facets)}></tw-rows>`
					: html`<p class="empty">${!store.synced.has('tools') ? 'Loading…' : facets.size ?
						html`No tool matches. ${reset}`
						: html`No tools yet. <span>Write one: <code>python tools.py</code> serves your functions as tools, and
							they appear here
							by themselves. See <a href="#/connect">Connect</a>.</span>`}</p>`}
			</section>
			<section class="pane card-pane" aria-label="Tool">${id
				? html`<tw-tool .name=${id} .query=${query} .back=${link('tools', '', facets)}></tw-tool>`
				: html`<p class="empty">Choose a tool to read what it does, and to try it.</p>`}</section>
		</div>`;
	}

	/** @param {string} name @param {string} title @param {string[]} values */
	facet(name, title, values) {
		const chosen = this.at.query.get(name) ?? '';
		/** @type {Map<string, number>} */ const counts = new Map(chosen ? [[chosen, 0]] : []);
		for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
		if (counts.size < 2 && !chosen) return nothing;
		const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
		return html`<label>${title} <select @change=${(event) => this.set(name, event.target.value)}><option
			value="">any</option>
			${sorted.map(([value, count]) => html`<option .value=${value} .selected=${value === chosen}>${value}
				(${count})</option>`)}
			</select></label>`;
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
