// Chat: a conversation with the server's agent. Its calls lead to their stages, and what waits for a person to its
// approval.
import { reader } from '../lib/events.js';
import { badge, html, lasting, link, nothing, NOWHERE, parse, problem, Problem, problemOf, properties, replace, send,
	shown, span, store, words } from '../elements/parts.js';

const LONGEST = 16_384;
/** How a turn ended without the whole answer. @type {Record<string, string>} */
const OUTCOMES = { DEGRADED: 'no call succeeded', STOPPED: 'a source was not asked', BUDGET_SPENT:
	'the turn’s budget is spent', MODEL_FAILED: 'the model failed' };

/**
 * The conversation of this tab, with the stream of the turn that runs. It goes on while another screen is shown, such
 * as the approval that it waits for, and ends with the tab: the server remembers the session.
 */
class Chat extends EventTarget {
	/** @type {Turn[]} */ turns = [];
	session = '';
	user = '';
	/** @type {AbortController | undefined} */ running;

	constructor() {
		super();
		store.addEventListener('viewer', () => {
			if (this.user && this.user !== store.viewer.user_id) this.begin('');
			this.user = store.viewer.user_id;
		});
		store.addEventListener('confirmations', () => this.goOn());
	}

	tell() {
		this.dispatchEvent(new Event('change'));
	}

	/** Begins another conversation, or takes up the one of an address. @param {string} session */
	begin(session) {
		this.stop();
		[this.turns, this.session] = [[], session];
		this.tell();
	}

	/** @param {string} message */
	say(message) {
		const turn = { id: crypto.randomUUID(), message, state: 'running', calls: [], text: '', alerts: [], pending: [],
			progress: '', reply: undefined, problem: undefined };
		this.turns = [...this.turns, turn];
		return this.run(turn);
	}

	/** Goes on with a turn whose calls have all been decided. */
	goOn() {
		const turn = this.turns.at(-1);
		if (turn?.state === 'paused' && !this.running && turn.pending.every(({ confirmation_required: one }) =>
			(store.confirmations.get(one.confirmation_id)?.state ?? 'PENDING') !== 'PENDING')) this.run(turn);
	}

	stop() {
		this.running?.abort();
	}

	/** Runs a turn, again after a failure or a pause: under the same id nothing is done twice. @param {Turn} turn */
	async run(turn) {
		const isResumed = turn.state === 'paused';
		const running = new AbortController();
		this.stop();
		this.running = running;
		Object.assign(turn, { state: 'running', problem: undefined, pending: [], ...(isResumed ? {} : { calls: [], text: ''
			}) });
		this.tell();
		try {
			const response = await send('POST', '/agent/stream', { signal: running.signal, headers: { accept:
				'text/event-stream' },
				body: isResumed ? { resume: { turn_id: turn.id } } : { message: turn.message, request_id: turn.id,
					...(this.session && { session_id: this.session }) } });
			if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})), response.headers);
			const read = reader((event) => this.take(turn, event.event, parse(event.data)));
			const decoder = new TextDecoder();
			const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
			for (let part = await body.read(); !part.done; part = await body.read()) {
				read(decoder.decode(part.value, { stream: true }));
				this.tell();
			}
			if (turn.state === 'running') throw new Problem(0, { detail: 'The connection ended before the answer did.' });
		} catch (error) {
			turn.state = running.signal.aborted ? 'stopped' : 'failed';
			if (turn.state === 'failed') turn.problem = problem(error);
		}
		if (this.running === running) this.running = undefined;
		this.tell();
		this.goOn();
	}

	/** @param {Turn} turn @param {string} event @param {Any} data */
	take(turn, event, data) {
		const of = data[event] ?? data;
		// A call that was approved is made again under its request.
		const call = turn.calls.find(({ call_id: id, request_id: request }) => id === of.call_id ||
			(request && request === of.request_id));
		turn.progress = '';
		if (event === 'started') this.session = of.session_id;
		else if (event === 'tool_call_started') {
			if (call) Object.assign(call, of, { result: undefined, confirmation_required: undefined });
			else turn.calls = [...turn.calls, of];
		} else if (event === 'tool_call_finished' && call) Object.assign(call, of);
		else if (event === 'tool_call_progress') turn.progress = of.progress?.message ?? '';
		else if (event === 'progress') turn.progress = of.message ?? '';
		else if (event === 'answer_delta') turn.text += of.text;
		else if (event === 'alert') turn.alerts = [...turn.alerts, of];
		else if (event === 'paused') Object.assign(turn, { state: 'paused', pending: of.pending });
		else if (event === 'final') Object.assign(turn, { state: 'ended', reply: of, text: of.response.answer_markdown });
		else if (event === 'error') throw new Problem(of.status ?? 503, of);
	}
}

const chat = new Chat();

/** @typedef {(source: string) => any} Cite What stands for a citation such as `tool:quotes:v1`. */

/** @param {string} text @param {Cite} cite */
const inline = (text, cite) => text.split(/(`[^`]+`|\*\*[^*]+\*\*|\s*\[[\w:.-]+\](?!\())/).map((part, index) => {
	if (index % 2 === 0) return shown(part);
	if (part.at(-1) === ']') return cite(part.trim().slice(1, -1));
	return part[0] === '`' ? html`<code>${shown(part.slice(1, -1))}</code>` : html`<b>${shown(part.slice(2, -2))}</b>`;
});

/** @param {string[]} lines @param {Cite} cite */
function table(lines, cite) {
	const rows = lines.filter((line) => !/^\|[\s:|-]+$/.test(line)).map((line) =>
		line.replace(/^\||\|\s*$/g, '').split('|'));
	return html`<div class="table" tabindex="0"><table><thead><tr>${rows[0]?.map((cell) =>
		html`<th>${inline(cell.trim(), cite)}</th>`)}</tr></thead><tbody>${rows.slice(1).map((row) =>
		html`<tr>${row.map((cell) => html`<td>${inline(cell.trim(), cite)}</td>`)}</tr>`)}</tbody></table></div>`;
}

const ITEM = /^\s*(?:[-*]|\d+\.)\s+/;
/** @type {[RegExp, (lines: string[], cite: Cite) => any][]} */
const BLOCKS = [
	[/^```/, (lines) => html`<pre tabindex="0">${shown(lines.filter((line) =>
		!line.startsWith('```')).join('\n'))}</pre>`],
	[/^\|/, table],
	[ITEM, (lines, cite) => html`<ul>${lines.map((line) => html`<li>${inline(line.replace(ITEM, ''),
		cite)}</li>`)}</ul>`],
	[/^#+ /, (lines, cite) => lines.map((line) => html`<p><b>${inline(line.replace(/^#+ /, ''), cite)}</b></p>`)],
	[/./, (lines, cite) => html`<p>${inline(lines.join('\n'), cite)}</p>`],
];

/**
 * The little Markdown of answers: paragraphs, lists, tables, headings, code, bold, and citations. All of it is text.
 * @param {string} text
 * @param {Cite} cite
 */
function markdown(text, cite) {
	/** @type {{kind: number, lines: string[]}[]} */ const blocks = [];
	let isCode = false;
	for (const line of text.split('\n')) {
		const kind = isCode ? 0 : BLOCKS.findIndex(([begin]) => begin.test(line));
		const last = blocks.at(-1);
		if (last && kind === last.kind) last.lines.push(line);
		else blocks.push({ kind, lines: [line] });
		if (line.startsWith('```')) isCode = !isCode;
	}
	return blocks.map(({ kind, lines }) => BLOCKS[kind]?.[1](lines, cite));
}

class ChatScreen extends properties({ at: NOWHERE }) {
	isAtEnd = true;

	connectedCallback() {
		super.connectedCallback();
		chat.addEventListener('change', this.changed);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		chat.removeEventListener('change', this.changed);
	}

	/** @param {Changed} changed */
	willUpdate(changed) {
		const { id } = this.at;
		const log = this.first('.log');
		this.isAtEnd = !log || log.scrollTop + log.clientHeight > log.scrollHeight - 60;
		// An address names the conversation, so that it is taken up after the page was loaded again.
		if (changed.has('at') && id && id !== chat.session && !chat.running) chat.begin(id);
		else if (chat.session && id !== chat.session) queueMicrotask(() => {
			if (this.isConnected) replace(link('chat', chat.session));
		});
	}

	updated() {
		const log = this.first('.log');
		if (this.isAtEnd) log.scrollTop = log.scrollHeight;
	}

	/** @param {any} event */
	submit(event) {
		event.preventDefault();
		const field = this.first('textarea');
		const message = field.value.trim();
		if (!message || chat.running) return;
		field.value = '';
		this.isAtEnd = true;
		chat.say(message);
	}

	/** @param {KeyboardEvent} event */
	onKey(event) {
		if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) this.submit(event);
	}

	beginAnew() {
		chat.begin('');
		replace(link('chat'));
		this.first('textarea').focus();
	}

	render() {
		const { turns, running, session } = chat;
		return html`<div class="chat">
			<div class="bar"><h1>Chat</h1>${session ? html`<button class="small end" @click=${this.beginAnew}>New
				conversation</button>` : nothing}</div>
			<div class="log" role="log" aria-label="Conversation" tabindex="0">${turns.map((turn) => this.turn(turn))}${
				turns.length ? nothing : html`<p class="empty">${session ?
					'The server remembers this conversation; this tab does not show it.'
					: 'Ask in your own words.'} <span>The server’s agent answers by the
					<a href="#/tools">tools</a> that you may call. Its calls are listed here; what a person must approve waits for
					that.</span></p>`}</div>
			<form @submit=${this.submit}><label>Your message <textarea rows="2" data-search maxlength=${LONGEST}
					@keydown=${this.onKey}></textarea></label>
				${running ? html`<button type="button" class="no" @click=${() => chat.stop()}>Stop</button>`
					: html`<button class="main" data-run>Send</button>`}</form>
		</div>`;
	}

	/** @param {Turn} turn */
	turn(turn) {
		const { state, text, reply, calls, pending, problem, alerts, progress } = turn;
		const isLast = turn === chat.turns.at(-1);
		/** @type {Any[]} */ const sources = reply?.sources ?? [];
		// Until the answer is whole its sources are not known.
		const cite = (/** @type {string} */ source) => (!reply || sources.some((one) => one.source_id === source) ? ''
			: shown(` [${source}]`));
		return html`<section class="turn" aria-busy=${state === 'running'}>
			<p class="question">${shown(turn.message)}</p>
			${calls.length ? html`<ul class="plain">${calls.map(called)}</ul>` : nothing}
			${alerts.map((alert) => html`<p class="notice bad"><b>${shown(alert.source)}</b> ${shown(alert.message)}</p>`)}
			${markdown(text, cite)}
			${sources.length ? html`<p class="quiet">Sources: ${sources.map((one, index) => html`${index ? ', ' : ''}<a
				href=${link('calls', one.call_id)}>${one.source_id}</a>`)}</p>` : nothing}
			${reply?.warnings?.map((/** @type {string} */ warning) => html`<p class="quiet">${shown(warning)}</p>`)}
			${reply && OUTCOMES[reply.outcome] ? html`<p><span class="badge
				wait">${OUTCOMES[reply.outcome]}</span></p>` : nothing}
			${isLast && reply?.proposal && !chat.running ? html`<p class="buttons"><button class="main"
				@click=${() => chat.say('yes')}>Yes</button> <span class="quiet">or say what is different</span></p>` : nothing}
			${state === 'running' ? html`<p class="quiet" role="status">${shown(progress || 'Working…')}</p>`
				: state === 'stopped' ? html`<p class="quiet">You stopped it. A write that had begun may still finish.</p>`
				: nothing}
			${pending.map(({ tool, confirmation_required: one }) => html`<div class="notice"><b>A person must approve
				${tool}.</b> ${shown(one.summary)}<p><a href=${link('approvals', one.confirmation_id)}>Open the approval</a>
				<span class="quiet">The turn goes on by itself once it is decided; <tw-left .until=${one.expires_at}
					.after=${' left'}></tw-left>.</span></p></div>`)}
			${problemOf(problem, isLast ? () => chat.run(turn) : undefined)}</section>`;
	}
}
customElements.define('tw-chat', ChatScreen);

/** @param {Any} call */
const called = ({ call_id: id, tool, result, confirmation_required: waits, duration }) => html`<li class="line">
	<a href=${link('calls', id)}>${tool}</a> ${waits ? badge('AWAITING_CONFIRMATION') : !result ? badge('RUNNING')
		: result.error ? badge('FAILED', words(result.error.code)) : badge('SUCCEEDED')}
	<span class="end took quiet">${duration ? lasting(span(duration)) : ''}</span></li>`;
