// One call: what it did when, its outcome, and what can be done about it.
import { html, nothing } from '../vendor/lit.js';
import { get, post, problem, segment } from '../lib/api.js';
import { properties, unset } from '../lib/element.js';
import { link } from '../lib/route.js';
import { store } from '../lib/store.js';
import { lasting, instant, now, span } from '../lib/time.js';
import { brief, shown, words } from '../lib/text.js';
import { badge, facts } from '../elements/badges.js';
import { errorOf, problemOf } from '../elements/problem.js';
import '../elements/json.js';
import '../elements/result.js';
import '../elements/waterfall.js';
import '../elements/when.js';

class Call extends properties({
	name: '', back: '', answer: unset, nested: /** @type {Any[]} */ ([]), told: '',
}) {
	static topics = ['calls', 'viewer'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('name')) [this.problem, this.answer, this.nested, this.told] = [undefined, undefined, [], ''];
		const { name } = this;
		// Asked for once, and again when the stream says that something of it changed.
		const known = store.calls.get(name);
		this.once(`${name} ${known?.call.state} ${known?.call.ended_at} ${known?.stages.length}`, async () => {
			const [answer, nested] = await Promise.all([
				get(`/v1/calls/${segment(name)}`, { view: 'EVENTS' }),
				get('/v1/calls', { parent_call_id: name, user_id: store.everybody, page_size: 100 }).catch(() =>
					({ calls: [] })),
			]);
			return { answer, nested: nested.calls.reverse() };
		});
	}

	async cancel() {
		try {
			const { data } = await post(`/v1/calls/${segment(this.name)}:cancel`, {});
			this.told = data.cancelled ? 'The call was asked to stop. A write that has begun may still finish.' :
				'It had already ended.';
		} catch (error) {
			this.problem = problem(error);
		}
	}

	render() {
		const known = store.calls.get(this.name);
		const { answer } = this;
		const call = known?.call.ended_at || !answer ? known?.call : answer.call;
		const back = html`<p class="crumbs"><a href=${this.back || '#/calls'} data-back>‹ Calls</a></p>`;
		if (!call) {
			return html`${back}${this.problem ? problemOf(this.problem, this.again) : html`<p class="empty">Loading…</p>`}`;
		}
		const { result, trace_url: trace = '' } = answer ?? {};
		const stages = answer?.stages?.length >= (known?.stages.length ?? 0) ? answer?.stages : known?.stages;
		const took = call.ended_at ? span(call.duration) : now() - instant(call.arrived_at);
		const code = (/** @type {string} */ value) => value && html`<code class="wrap">${value}</code>`;
		return html`<article>${back}
			<header>
				<p class="line">${badge(call.state)}${call.code && call.code !== 'UNSPECIFIED'
					? html` <span class="badge bad">${words(call.code)}</span>` : nothing}
					${call.from_cache ? html` <span class="badge">from a cache</span>` : nothing}
					<span class="end">${call.ended_at ? lasting(took)
						: call.state !== 'RUNNING' ? 'waits' : html`runs; <tw-left .until=${call.deadline}
							.over=${'past its deadline'}
							.after=${' left'}></tw-left>`}</span></p>
				<h1><a href=${link('tools', call.tool)}>${call.tool}</a></h1>
				<p class="quiet">${shown(call.user_id)} by ${call.face}${call.client
					? html` (${shown(call.client)})` : nothing}, <tw-when .at=${call.arrived_at}></tw-when></p>
				<p class="buttons">${call.ended_at ? nothing : html`<button class="no" @click=${this.cancel}>Cancel the
					call</button>`}
					<a class="button" href=${link('tools', call.tool, { call: call.call_id })}>Again</a>
					${call.request_id ? html`<a class="button" title="The server answers from its record; nothing is done twice"
						href=${link('tools', call.tool, { call: call.call_id, request: call.request_id })}>Again with the same
							request</a>` : nothing}
					${/^https?:/.test(trace) ? html`<a class="button" href=${trace} rel="noreferrer noopener"
						target="_blank">Trace ↗</a>` : nothing}</p>
				<p role="status">${this.told}</p>
				${problemOf(this.problem)}
			</header>
			${call.confirmation_id && call.state === 'AWAITING_CONFIRMATION' ?
				html`<p class="notice">A person must approve it:
				<a href=${link('approvals', call.confirmation_id)}>the approval</a>. Nothing has been done.</p>` : nothing}
			${result?.error ? errorOf(result.error, call.ended_at) : nothing}
			${call.state === 'OUTCOME_UNKNOWN' ? html`<p class="notice bad">The call began, and its end is not known: the
				process that
				carried it out is gone. Look at the target before you make the call again.</p>` : nothing}
			${stages?.length ? html`<h2>What it did</h2>
				<tw-waterfall .call=${call} .stages=${stages} .nested=${this.nested}></tw-waterfall>` : nothing}
			${answer ? this.recorded(answer) : nothing}
			<details class="more"><summary>Details</summary>${facts([
				['Call', code(call.call_id)],
				['Request', code(call.request_id)],
				['Called by', call.parent_call_id && html`<a href=${link('calls',
					call.parent_call_id)}>${brief(call.parent_call_id)}</a>`],
				['Approval', call.confirmation_id && html`<a href=${link('approvals',
					call.confirmation_id)}>${brief(call.confirmation_id)}</a>`],
				['Task', call.task_id && html`<a href=${link('tasks', call.task_id)}>${brief(call.task_id)}</a>`],
				['Session', call.session_id],
				['Trace', code(call.trace_id)],
				['Definition', code(call.definition_digest)],
			])}</details>
		</article>`;
	}

	/** @param {Any} answer */
	recorded({ recording, result }) {
		return html`${recording?.arguments ? html`<h2>Arguments</h2><tw-json
			.value=${recording.arguments} .open=${9}></tw-json>` : nothing}
			${result && !result.error ? html`<h2>Result</h2><tw-result .value=${result}></tw-result>` : nothing}
			<p class="quiet">${shown(recording?.note || (result ? '' : 'The result is not kept here, or not yet known.'))}</p>
			${recording?.expires_at ? html`<p class="quiet">Kept for another <tw-left
				.until=${recording.expires_at}></tw-left>.</p>` : nothing}`;
	}
}
customElements.define('tw-call', Call);
