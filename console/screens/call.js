// One call: what it did when, its outcome, and what can be done about it.
import { brief, crumbs, css, decided, errorOf, faceName, facts, get, html, instant, lasting, link, loading, nothing,
	now, post, problem, problemOf, properties, segment, shown, span, standing, store, unset, until, when, words } from
	'../elements/parts.js';
import '../elements/arguments.js';

class Call extends properties({
	name: '', back: '', answer: unset, nested: /** @type {Any[]} */ ([]), told: '',
}) {
	static topics = ['calls', 'confirmations', 'viewer'];

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
			const { confirmation_id: asked } = answer.call;
			// It has the arguments, and says what a call that asked for approval waits for.
			if (asked) await get(`/v1/confirmations/${segment(asked)}`).then(({ confirmation: one }) =>
				store.takeConfirmation(one), () => {});
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
		const back = crumbs(this.back || '#/calls', 'Calls');
		if (!call) return html`${back}${loading(this.problem, this.again)}`;
		const { result, trace_url: trace = '' } = answer ?? {};
		const stages = answer?.stages?.length >= (known?.stages.length ?? 0) ? answer?.stages : known?.stages;
		const took = call.ended_at ? span(call.duration) : now() - instant(call.arrived_at);
		const code = (/** @type {string} */ value) => value && html`<code class="wrap">${value}</code>`;
		const isOwn = call.user_id === store.viewer.user_id;
		const one = store.confirmations.get(call.confirmation_id);
		const waits = call.state === 'AWAITING_CONFIRMATION';
		const note = answer?.recording?.note ?? '';
		const args = answer?.recording?.arguments ?? one?.arguments;
		/** @type {Record<string, string>} */
		const source = answer?.recording?.arguments ? { call: call.call_id } : { confirmation: call.confirmation_id };
		return html`<article>${back}
			<header>
				<p class="line">${standing(call)}${call.code && !['UNSPECIFIED', call.state].includes(call.code)
					? html` <span class="badge bad">${words(call.code)}</span>` : nothing}
					${call.from_cache ? html` <span class="badge">from a cache</span>` : nothing}
					<span class="end">${call.ended_at ? lasting(took) : waits ? nothing : until(call.deadline)}</span></p>
				<h1><a href=${link('tools', call.tool)}>${call.tool}</a></h1>
				<p class="quiet">${shown(call.user_id)} by ${faceName(call.face)}${call.client
					? html` (${shown(call.client)})` : nothing}, ${when(call.arrived_at)}</p>
				<p class="buttons">${call.ended_at || !isOwn ? nothing : html`<button class="no"
					@click=${this.cancel}>Cancel the call</button>`}
					<a class="button" href=${link('tools', call.tool, args && source)}>${!args ? 'Open the tool' : isOwn ?
						'Again' : `Again, as ${store.viewer.user_id}`}</a>
					${args && isOwn && call.request_id ? html`<a class="button" title="Nothing is done twice" href=${link('tools',
						call.tool, { ...source, request: call.request_id })}>Again with the same request</a>` : nothing}
					${/^https?:/.test(trace) ? html`<a class="button" href=${trace} rel="noreferrer noopener"
						target="_blank">Trace ↗</a>` : nothing}</p>
				<p role="status">${this.told}</p>
				${problemOf(this.problem)}
			</header>
			${waits && one ? html`<div class="notice">${one.state === 'PENDING' ? html`A person must approve
				it, ${until(one.expires_at)}. Nothing has been done.` : decided(one)}
				<a href=${link('approvals', call.confirmation_id)}>The approval</a></div>` : nothing}
			${result?.error ? errorOf(result.error, call.ended_at) : nothing}
			${call.state === 'OUTCOME_UNKNOWN' && !result?.error ? html`<p class="notice bad">The call began, and its end is
				not known: the process that carried it out is gone. Look at the target before you make the call again.</p>`
				: nothing}
			${stages?.length ? html`<h2>What it did</h2>
				<tw-waterfall .call=${call} .stages=${stages} .nested=${this.nested}
				.confirmation=${one}></tw-waterfall>` : nothing}
			${answer ? recorded(answer, args, call.ended_at, note) : nothing}
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
				['Replica', code(call.replica)],
				['Host', call.instance],
				['Definition', code(call.definition_digest)],
				['Recording', note],
			])}</details>
		</article>`;
	}
}
customElements.define('tw-call', Call);

/**
 * Arguments and result, and why one of them is not there.
 * @param {Any} answer @param {any} args @param {string} ended @param {string} note
 */
function recorded({ recording, result }, args, ended, note) {
	const missing = [!args && 'arguments', ended && !result && 'result'].filter(Boolean).join(' and no ');
	return html`${args ? html`<h2>Arguments</h2><tw-json .value=${args} .open=${9}></tw-json>` : nothing}
		${result && !result.error ? html`<h2>Result</h2><tw-result .value=${result}></tw-result>` : nothing}
		${missing ? html`<p class="quiet">${/\[calls\] record/.test(note) ? html`The server keeps no
			${missing} of this call: recording is off. docs/CONSOLE.md#recording tells an operator how to turn it on.`
			: shown(note)}</p>` : nothing}
		${recording?.expires_at ? html`<p class="quiet">Kept for another <tw-left
			.until=${recording.expires_at}></tw-left>.</p>` : nothing}`;
}

/** @type {Record<string, [string, string]>} */
const STAGES = {
	RECEIVED: ['received', 'The request was read.'],
	CHECKING: ['checked', 'Right and arguments were checked.'],
	AWAITING_CONFIRMATION: ['approval', 'It waited for a person.'],
	AWAITING_PERMIT: ['permit', 'It waited for a quota or a permit of its user.'],
	RECORDING: ['begun', 'Its beginning was saved, so that a repeat does nothing twice.'],
	EXECUTING: ['executed', 'The tool worked.'],
	REQUESTING: ['request', 'A request went to the source.'],
	COMMITTING: ['committed', 'Its outcome was saved.'],
};
/** Waiting has at most this share of the width that work has. */
const SQUEEZED = 0.15;

/**
 * What a call did when, against its deadline: a bar for each stage and each call beneath it. Waiting is squeezed, so
 * that work is seen beside it.
 */
class Waterfall extends properties({
	call: /** @type {Any} */ ({}), stages: /** @type {Any[]} */ ([]), nested: /** @type {Any[]} */ ([]),
	confirmation: unset,
}) {
	static every = 250;
	again = () => {
		if (!this.call.ended_at) this.requestUpdate();
	};

	/** Whether it ended by asking for approval, or by what became of that. */
	get waits() {
		const { state, code } = this.call;
		return /CONFIRMATION/.test(state + code) && !this.stages.some(({ type }) => /AWAITING_C|EXEC/.test(type));
	}

	/** @param {number} end @returns {Bar[]} */
	bars(end) {
		let attempts = 0;
		const stages = [...this.stages];
		// A call that nobody waits with has no stage for it.
		if (this.waits) stages.push({ type: 'AWAITING_CONFIRMATION', time: stages.at(-1)?.time });
		const bars = stages.map(({ type, time }, index) => {
			const [name, told] = STAGES[type] ?? [words(type), ''];
			const isRequest = type === 'REQUESTING';
			if (isRequest) attempts += 1;
			// An execution goes on while its requests do.
			const next = stages.slice(index + 1).find((one) => type !== 'EXECUTING' || one.type !== 'REQUESTING');
			return { type, name: isRequest ? `request ${attempts}` : name, words: told, from: instant(time),
				to: instant(next?.time) || end, depth: Number(isRequest) };
		});
		const nested = this.nested.map((call) => ({ type: 'NESTED', name: call.tool, words: 'It called another tool.',
			depth: 1,
			from: instant(call.arrived_at), to: instant(call.ended_at) || now(), link: link('calls', call.call_id), state:
				call.state }));
		const commit = bars.findIndex((bar) => bar.type === 'COMMITTING');
		bars.splice(commit < 0 ? bars.length : commit, 0, ...nested);
		return bars;
	}

	/** From instants to a share of the width. @param {Bar[]} bars @param {number} deadline */
	scale(bars, deadline) {
		const last = Math.max(...bars.map((bar) => bar.to));
		const edges = [...new Set([...bars.flatMap((bar) => [bar.from, bar.to]), deadline || last])].sort((a, b) => a - b);
		const parts = edges.slice(1).map((to, index) => {
			const from = edges[index];
			const isIdle = from >= last || bars.some((bar) => /^AWAITING/.test(bar.type) && bar.from <= from && bar.to >= to);
			return { from, to, isIdle, size: to - from };
		});
		const work = parts.reduce((total, part) => total + (part.isIdle ? 0 : part.size), 0) || 1;
		for (const part of parts) part.size = part.isIdle ? Math.min(part.size, work * SQUEEZED) :
			Math.max(part.size, work * 0.004);
		const total = parts.reduce((sum, part) => sum + part.size, 0) || 1;
		return {
			squeezed: parts.filter(({ isIdle, size, from, to }) => isIdle && from < last && size < to - from),
			/** @param {number} at */
			at: (at) => parts.reduce((share, { from, to, size }) =>
				share + size * Math.max(0, Math.min(1, (at - from) / (to - from || 1))), 0) / total * 100,
		};
	}

	render() {
		const { call } = this;
		const end = instant(call.ended_at) || now();
		const allowed = Math.round((instant(call.deadline) - instant(call.arrived_at)) / 100) * 100;
		const deadline = this.waits ? NaN : instant(call.deadline);
		const bars = this.bars(end);
		const { at, squeezed } = this.scale(bars, deadline);
		const row = (/** @type {Bar} */ bar) => html`<li class="depth-${bar.depth}" title=${bar.words}>
			<span class="name">${bar.link ? html`<a href=${bar.link}>${bar.name}</a>` : bar.name}</span>
			<span class="track"><span class="fill ${bar.type.toLowerCase()} ${bar.state === 'FAILED' ? 'failed' : ''}
				${squeezed.some((part) => part.from >= bar.from && part.to <= bar.to) ? 'squeezed' : ''}"
				${css({ left: `${at(bar.from)}%`, width: `${Math.max(0.4, at(bar.to) - at(bar.from))}%` })}></span>
				${deadline ? html`<span class="deadline" ${css({ left: `${at(deadline)}%` })}></span>` : nothing}</span>
			<span class="took">${lasting(bar.to - bar.from)}</span></li>`;
		const took = call.ended_at ? span(call.duration) : Math.max(0, end - instant(call.arrived_at));
		const one = this.confirmation;
		const limits = this.waits ? html`${one?.state === 'PENDING' ? html`A person can decide ${until(one.expires_at)}. ` :
			nothing}Apart from that, each try of the caller may take ${lasting(allowed)}.`
			: deadline ? `It was allowed ${lasting(allowed)}: the red line.` : '';
		return html`<ol class="waterfall" aria-label="Stages of the call">${bars.map(row)}</ol>
			<p class="quiet">It ${call.ended_at ? 'took' : 'has taken'} ${lasting(took)}. ${limits} ${squeezed.length
				? 'Striped: waiting, drawn shorter than it was.' : ''}</p>`;
	}
}
customElements.define('tw-waterfall', Waterfall);
