// One approval: all that the decision is bound to, and the decision. The card never turns into another one.
import { html, nothing } from '../vendor/lit.js';
import { get, segment } from '../lib/api.js';
import { properties, unset } from '../lib/element.js';
import { link } from '../lib/route.js';
import { rulesOf } from '../lib/schema.js';
import { store } from '../lib/store.js';
import { brief, shown, words } from '../lib/text.js';
import { badge, consequence, facts } from '../elements/badges.js';
import { problemOf } from '../elements/problem.js';
import '../elements/arguments.js';
import '../elements/copy.js';
import '../elements/when.js';
import './decision.js';

/** @type {Record<string, string>} */
const CAUSES = {
	MANIFEST: 'Every call of this tool needs approval.',
	RULE: 'A rule of the operator asks for approval of this call.',
	TAINTED: 'A model that has read text from outside made this call, and it does not only read.',
	CALLER: 'The caller asked for approval.',
	CONDITION: 'The arguments break a condition under which the tool needs no approval.',
};

class ApprovalCard extends properties({
	name: '', tool: unset,
	last: /** @type {Any[] | undefined} */ (undefined),
}) {
	static topics = ['confirmations', 'tools', 'viewer'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('name')) [this.problem, this.tool, this.last] = [undefined, undefined, undefined];
		const path = `/v1/confirmations/${segment(this.name)}`;
		this.once(this.name, async () => {
			const { confirmation: one } = await get(path);
			store.takeConfirmation(one);
			const user = one.user_id === store.viewer.user_id ? '' : one.user_id;
			// The card is complete without these, which the viewer may have no right to see.
			const [tool, last] = await Promise.all([get(`/v1/tools/${one.tool}`).catch(() => undefined),
				get('/v1/calls', { user_id: user, page_size: 6 }).catch(() => undefined)]);
			return { tool: tool?.tool ?? tool,
				last: last?.calls.filter((/** @type {Any} */ other) => other.call_id !== one.call_id).slice(0, 5) };
		});
	}

	render() {
		const one = store.confirmations.get(this.name);
		const back = html`<p class="crumbs"><a href="#/approvals" data-back>‹ Approvals</a></p>`;
		if (!one || one.arguments_cut) {
			return this.problem ? html`${back}${problemOf(this.problem, this.again)}${this.problem.status === 404
				? html`<p class="empty">There is no such approval that you may see. It may be another user’s: see at the top
					right
					who you are.</p>` : nothing}` : html`<p class="empty">Loading…</p>`;
		}
		return html`<article>${back}
			<header>
				<p class="line">${badge(one.state)} ${consequence(one)}
					${one.state === 'PENDING' ? html`<span class="end time-left">
					<tw-left .until=${one.expires_at} .over=${'expired'} .after=${' left'}></tw-left></span>` : nothing}</p>
				<h1>${shown(this.tool?.title || one.tool)}</h1>
				<p class="quiet"><a href=${link('tools', one.tool)}><code>${one.tool}</code></a>${one.path.length > 1
					? html` called by <code>${one.path.slice(0, -1).join(' › ')}</code>` : nothing}</p>
				<p class="lead">${shown(one.summary)}</p>
				<p class="why">${CAUSES[one.cause] ?? words(one.cause)}</p>
			</header>
			${this.definition(one)}
			<h2>Arguments</h2>
			<tw-arguments .value=${one.arguments} .schema=${this.tool?.input_schema}
				.rules=${rulesOf(this.tool)}></tw-arguments>
			<h2>Who asks</h2>
			${facts([
				['User', html`<b>${shown(one.user_id)}</b>${one.user_email ? html` (${shown(one.user_email)})` : nothing}`],
				['By', one.face && html`${one.face}${one.client ? html`, <span title="Its own name, which is not verified">${
					shown(one.client)}</span>` : nothing}`],
				['Asked', html`<tw-when .at=${one.created_at}></tw-when>`],
				['Task', one.task_id && html`<a href=${link('tasks', one.task_id)}>${brief(one.task_id)}</a>`],
				['Session', one.session_id],
				['Call', one.call_id && this.call(one, one.call_id, brief(one.call_id))],
			])}
			${this.history(one)}
			<tw-decision .confirmation=${one}></tw-decision>
			<details class="more"><summary>What the decision is bound to</summary>
				${facts(['arguments_digest', 'definition_digest', 'request_id', 'confirmation_id'].map((name) =>
					[words(name), html`<code class="wrap">${one[name]}</code>`]))}
				<tw-copy .quiet=${true} .label=${'the address of this approval'}
					.text=${`${location.origin}/${link('approvals', one.confirmation_id)}`}></tw-copy></details>
		</article>`;
	}

	/** Whether the definition has changed since the call was made. @param {Any} one */
	definition(one) {
		const present = store.tools.get(one.tool)?.digest ?? this.tool?.digest;
		return !present || present === one.definition_digest || one.state !== 'PENDING' ? nothing
			: html`<p class="notice bad"><b>The tool has changed since this call was made.</b> An approval would not hold:
				the call
				must be made again.</p>`;
	}

	/** A link, if the viewer may open the call. @param {Any} one @param {string} id @param {string} text */
	call(one, id, text) {
		return store.viewer.observes || one.user_id === store.viewer.user_id ?
			html`<a href=${link('calls', id)}>${text}</a>` : text;
	}

	/** @param {Any} one */
	history(one) {
		if (!this.last) return nothing;
		if (!this.last.length) return html`<p class="quiet">You see no other calls of ${shown(one.user_id)}.</p>`;
		return html`<h2>Last calls of this user</h2><ul class="plain">${this.last.map((call) => html`<li class="line">
			${this.call(one, call.call_id, call.tool)} ${badge(call.state)}
			<span class="end quiet"><tw-when .at=${call.arrived_at}></tw-when></span></li>`)}</ul>`;
	}
}
customElements.define('tw-approval-card', ApprovalCard);
