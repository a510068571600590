// Limits: which sources cannot be asked now, whose calls were refused by a limit, and what is left of one's own quotas.
import { get, html, instant, link, nothing, now, plural, post, problem, problemOf, properties, segment, shown,
	store } from '../elements/parts.js';
import { sourceOf } from '../elements/source.js';

const HOUR = 3_600_000;
/** Tools of a source that are named. */
const MOST_NAMED = 8;

class Limits extends properties({ limits: /** @type {Any[] | undefined} */ (undefined), chosen: '',
	quotas: /** @type {Any[] | undefined} */ (undefined), complaint: /** @type {Failure} */ (undefined) }) {
	static topics = ['viewer', 'calls', 'tools'];
	static every = 5_000;
	isListed = false;

	willUpdate() {
		this.once('limits', async () => {
			const [{ limits }] = await Promise.all([get('/v1/limits'), this.isListed || this.list()]);
			return { limits };
		});
	}

	/** Asks for the failures of the last hour; later ones come by the stream. */
	async list() {
		const { calls } = await get('/v1/calls', { states: 'FAILED', user_id: store.everybody, page_size: 1_000,
			since: new Date(now() - HOUR).toISOString() });
		this.isListed = true;
		for (const call of calls) store.takeCall(call);
	}

	/** The calls of the last hour that a limit refused, by user and tool, the last ones first. @returns {Any[]} */
	get refused() {
		/** @type {Map<string, Any>} */ const groups = new Map();
		for (const { call } of store.calls.values()) {
			if (call.code !== 'RATE_LIMITED' || instant(call.arrived_at) < now() - HOUR) continue;
			const { user_id: user, tool, arrived_at: at } = call;
			const known = groups.get(`${user} ${tool}`) ?? { user, tool, count: 0, at: '' };
			groups.set(`${user} ${tool}`, { ...known, count: known.count + 1, ...(at > known.at && { at, call: call.call_id
				}) });
		}
		return [...groups.values()].sort((a, b) => (a.at < b.at ? 1 : -1));
	}

	/** @param {any} event */
	async ask(event) {
		event.preventDefault();
		const tool = String(new FormData(event.target).get('tool'));
		Object.assign(this, { chosen: tool, quotas: undefined, complaint: undefined });
		try {
			const { data } = await post(`/v1/tools/${segment(tool)}:explain`, {});
			this.quotas = data.quotas;
		} catch (error) {
			this.complaint = problem(error);
		}
	}

	render() {
		const { limits, refused } = this;
		const over = limits?.filter((one) => !one.can_make_request) ?? [];
		const ofSource = (/** @type {string} */ name) => [...store.tools.values()].filter((tool) => tool.source?.name ===
			name);
		const entry = (/** @type {Any} */ limit) => sourceOf(limit, tools(ofSource(limit.source)));
		return html`<div class="page"><div class="bar"><h1>Limits</h1><span class="quiet" role="status">${limits
				? `${plural(over.length, 'source')} of ${limits.length} over a limit now` : ''}</span></div>
			${problemOf(this.problem, this.again)}
			${over.length ? html`<section class="panel"><h2>Over a limit now</h2><ul class="plain">${over.map(entry)}</ul>
				</section>` : nothing}
			<section class="panel"><h2>Refused by a limit in the last hour</h2>
				${refused.length ? html`<ul class="plain">${refused.map(({ user, tool, count, at, call }) => html`<li
					class="line">
					<b>${shown(user)}</b> <a href=${link('tools', tool)}>${tool}</a>
					<a class="end" href=${link('calls', call, { user, tool, code: 'RATE_LIMITED' })}>${plural(count, 'call')}</a>
					<span class="quiet"><tw-when .at=${at}></tw-when></span></li>`)}</ul>
				<p class="quiet">The error of a call says which limit it was, and when it can be made again.</p>`
				: html`<p class="quiet">${limits ? `No call of ${store.viewer.observes ? 'any user' : 'yours'}.` :
					'Loading…'}</p>`}
			</section>
			${this.own()}
			<section class="panel"><h2>Sources</h2>${limits?.length ? html`<ul class="plain">${limits.filter((one) =>
				one.can_make_request).map(entry)}</ul><p class="quiet">All users share what a source allows, and the server
					makes
				their calls wait in turn.</p>` : html`<p class="quiet">${limits ? html`None of your tools reads from a source
					with
				a limit. See <a href="#/tools">Tools</a>.` : 'Loading…'}</p>`}</section></div>`;
	}

	own() {
		const { quotas, complaint, chosen } = this;
		const names = [...store.tools.keys()].sort();
		return html`<section class="panel"><h2>Your quotas</h2>
			<form class="selects" @submit=${this.ask}><label>For calls of <select name="tool" data-search>
				${names.map((name) => html`<option .value=${name}>${name}</option>`)}</select></label>
				<button ?disabled=${!names.length}>What is left?</button></form>
			${problemOf(complaint)}
			${quotas ? html`<ul class="plain" role="status">${quotas.map(({ quota, most, left }) => html`<li><div
				class="line">
				<b>${shown(quota)}</b><span class="end">${most - left} used, ${left} left</span></div>
				<meter min="0" max=${most} .value=${most - left} aria-label="used of ${quota}"></meter></li>`)}
				${quotas.length ? nothing : html`<li>No quota bounds your calls of ${chosen}.</li>`}</ul>` : nothing}
			<p class="quiet">Asking counts as one call. A place becomes free when the call that took it is as old as the
				quota’s
				time.</p></section>`;
	}
}
customElements.define('tw-limits', Limits);

/** @param {Any[]} all */
const tools = (all) => (all.length ? html`<div class="quiet">${all.slice(0, MOST_NAMED).map(({ name }, index) =>
	html`${index ? ', ' : ''}<a href=${link('tools', name)}>${name}</a>`)}${all.length > MOST_NAMED
	? ` and ${all.length - MOST_NAMED} more` : ''}</div>` : nothing);
