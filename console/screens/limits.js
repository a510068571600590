// Limits: how much is used of each quota and by whom, which calls a limit refused, and how much each source is used.
import { get, html, instant, link, nothing, now, plural, problemOf, properties, shown, store, when } from
	'../elements/parts.js';
import { sourceOf } from '../elements/source.js';

const HOUR = 3_600_000;
/** Tools of a source that are named. */
const MOST_NAMED = 8;

class Limits extends properties({ limits: /** @type {Any[] | undefined} */ (undefined), quotas: /** @type {Any[]} */
	([]), next: '' }) {
	static topics = ['viewer', 'calls', 'tools'];
	static every = 5_000;
	isListed = false;

	willUpdate() {
		this.once('limits', async () => {
			const [{ limits }, { quotas, next_page_token: next }] = await Promise.all([get('/v1/limits'),
				get('/v1/quotas', { user_id: store.everybody }), this.isListed || this.list()]);
			return { limits, quotas, next };
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
			const { count, at: last } = groups.get(`${user} ${tool}`) ?? { count: 0, at };
			groups.set(`${user} ${tool}`, { user, tool, count: count + 1, at: at > last ? at : last });
		}
		return [...groups.values()].sort((a, b) => (a.at < b.at ? 1 : -1));
	}

	render() {
		const { limits, refused, quotas } = this;
		const { observes } = store.viewer;
		const full = quotas.filter(({ left }) => !left);
		const users = new Set(full.map(({ user_id: user }) => user)).size;
		const loading = limits ? '' : 'Loading…';
		return html`<div class="page"><div class="bar"><h1>Limits</h1><span class="quiet" role="status">${limits
				? `${observes ? plural(users, 'user') : `${full.length} of your quotas`} and ${plural(limits.filter((one) =>
					!one.can_make_request).length, 'source')} over a limit now` : ''}</span></div>
			${problemOf(this.problem, this.again)}
			<section class="panel"><h2>Quotas</h2>${quotas.length ? html`<ul class="plain">${quotas.map(quotaOf)}</ul>
				<p class="quiet">${this.next ? 'The fullest ones. ' : ''}A call counts until it is as old as the
					quota’s time.</p>` : html`<p class="quiet">${loading ||
					(observes ? 'No user has used anything of a quota.' : 'No quota bounds your calls.')}</p>`}</section>
			<section class="panel"><h2>Refused by a limit in the last hour</h2>
				${refused.length ? html`<ul class="plain">${refused.map(({ user, tool, count, at }) => html`<li class="line">
					${callsOf(user)} <a href=${link('tools', tool)}>${tool}</a>
					<a class="end" href=${link('calls', '', { user, tool, code: 'RATE_LIMITED' })}>${plural(count, 'call')}</a>
					<span class="quiet">${when(at)}</span></li>`)}</ul>
				<p class="quiet">The error of a call says which limit it was, and when it can be made again.</p>`
				: html`<p class="quiet">${loading || `No call of ${observes ? 'any user' : 'yours'}.`}</p>`}
			</section>
			<section class="panel"><h2>Sources</h2>${limits?.length ? html`<ul class="plain">${[...limits].sort((a, b) =>
				(fullness(b) > fullness(a) ? 1 : -1)).map((one) => sourceOf(one, more(one)))}</ul><p class="quiet">All
					users share what a source allows, and the server makes their calls wait in turn.</p>` : html`<p
					class="quiet">${loading || 'None of your tools reads from a limited source.'}</p>`}</section></div>`;
	}
}
customElements.define('tw-limits', Limits);

/** The calls of a user. @param {string} user */
const callsOf = (user) => html`<a href=${link('calls', '', { user })}>${shown(user)}</a>`;

/** How much of a limit is used. @param {number} used @param {number} most @param {string} [whose] */
const use = (used, most, whose = '') => html`<div class="quiet">${used} of ${most} used${whose}</div>
	<meter min="0" max=${most} .value=${used} aria-label="used"></meter>`;

/** @param {Any} quota */
const quotaOf = ({ user_id: user, quota, most, left, free_at: free }) => html`<li><div class="line">${callsOf(user)}
	<b>${shown(quota)}</b> ${left ? nothing : html`<span class="badge wait">free again ${free ? html`in <tw-left
		.until=${free} .over=${'a moment'}></tw-left>` : 'when a call ends'}</span>`}</div>${use(most - left, most)}</li>`;

/** What is used of a source, of what it allows: by all users, if the viewer sees that. @param {Any} limit */
const usage = ({ ceiling, ceiling_used: all, policy, used }) => (ceiling ? [all, ceiling.max_requests] :
	[used, policy?.max_requests]);

/** A source that cannot be asked is the fullest. @param {Any} limit */
const fullness = (limit) => {
	const [used, most = 1] = usage(limit);
	return limit.can_make_request ? used / most : Infinity;
};

/** What is used of a source, and the tools that read from it. @param {Any} limit */
const more = (limit) => {
	const [used, most] = usage(limit);
	const all = [...store.tools.values()].filter((tool) => tool.source?.name === limit.source);
	return html`${most ? use(used, most, limit.ceiling ? ' by all' : '') : nothing}<div
		class="quiet">${all.slice(0, MOST_NAMED).map(({ name }, index) => html`${index ? ', ' : ''}<a
		href=${link('tools', name)}>${name}</a>`)}${all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` :
			''}</div>`;
};
