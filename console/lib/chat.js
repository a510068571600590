// The conversation of this tab, with the stream of the turn that runs. It goes on while another screen is shown, such
// as the approval that it waits for, and ends with the tab: the server remembers the session.
import { problem, Problem, send } from './api.js';
import { reader } from './events.js';
import { parse } from './json.js';
import { store } from './store.js';

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

export const chat = new Chat();
