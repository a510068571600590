// What the page knows of the server, kept up by its stream. Elements follow topics; changes are told once a frame.
import { get, VIEWER } from './api.js';
import { follow } from './events.js';
import { session } from './sign_in.js';
import { instant, now } from './time.js';

const TOPICS = 'calls,confirmations,tools,providers,tasks';
const MOST_CALLS = 20_000;

class Store extends EventTarget {
	/** @type {Map<string, Any>} */ tools = new Map();
	/** @type {Map<string, Any>} */ providers = new Map();
	/** @type {Map<string, Any>} */ confirmations = new Map();
	/** @type {Map<string, KnownCall>} */ calls = new Map();
	/** @type {Map<string, Any>} */ tasks = new Map();
	/** What was entered for each tool. @type {Map<string, Any>} */ drafts = new Map();
	/** @type {Any} */ viewer = {};
	/** @type {Any[]} */ problems = [];
	/** Topics whose state at the beginning is complete. @type {Set<string>} */
	synced = new Set();
	/** @type {'connecting' | 'live' | 'lost'} */ connection = 'connecting';
	connectionError = '';
	lostAt = 0;
	/** Where the next page of older calls begins; undefined before the first. @type {string | undefined} */
	olderCalls;
	/** What `.synced` drops of a topic that is told anew, unless it was told again. @type {Map<string, Set<string>>} */
	stale = new Map();
	/** @type {Set<string>} */ changed = new Set();
	stop = new AbortController();

	/** Tells the followers of a topic, with the next frame. @param {string} topic */
	tell(topic) {
		if (!this.changed.size) {
			// Frames rest in a tab that is not seen.
			const later = document.hidden ? (/** @type {() => void} */ run) => setTimeout(run, 250) : requestAnimationFrame;
			later(() => {
				const topics = [...this.changed];
				this.changed.clear();
				for (const one of topics) this.dispatchEvent(new Event(one));
			});
		}
		this.changed.add(topic);
	}

	/** Whose calls are asked for. */
	get everybody() {
		return this.viewer.observes ? '*' : '';
	}

	/** Begins, or begins anew for another user. */
	async start() {
		this.stop.abort();
		this.stop = new AbortController();
		const { signal } = this.stop;
		const { drafts, tools, providers, confirmations, calls, tasks } = this;
		for (const map of [drafts, tools, providers, confirmations, calls, tasks]) map.clear();
		this.synced.clear();
		this.stale.clear();
		this.olderCalls = undefined;
		this.viewer = {};
		session.owner = '';
		this.viewer = await get(VIEWER, {}, signal);
		session.owner = this.viewer.user_id;
		session.isKnown = true;
		this.tell('viewer');
		follow({ topics: TOPICS, user_id: this.everybody }, signal, (event, data) => this.take(event, data),
			(state, error) => this.report(state, error));
		this.loadOlderCalls().catch(() => {});
	}

	/** @param {'live' | 'lost'} state @param {Error} [error] */
	report(state, error) {
		if (state === 'lost' && this.connection !== 'lost') this.lostAt = now();
		this.connection = state;
		this.connectionError = error?.message ?? '';
		this.tell('connection');
	}

	/** @param {string} event @param {Any} data */
	take(event, data) {
		const [topic, what] = event.split('.');
		if (topic === 'reset') return this.reset(data.topics);
		if (what === 'synced') return this.sync(topic);
		if (topic === 'calls') this.takeCall(data.call, data.stages);
		else if (topic === 'confirmations') this.takeConfirmation(data.confirmation);
		else if (topic === 'tasks') this.takeTask(data.task);
		else if (topic === 'providers') this.put('providers', this.providers, data.provider?.name, data.provider, what);
		else if (what === 'problem') this.problems = data.problems ?? [];
		else if (topic === 'tools') this.put('tools', this.tools, data.tool?.name, data.tool, what);
		this.tell(topic);
	}

	/**
	 * @param {string} topic
	 * @param {Map<string, Any>} map
	 * @param {string} key
	 * @param {Any} value
	 * @param {string} [what]
	 */
	put(topic, map, key, value, what) {
		if (!key) return;
		this.stale.get(topic)?.delete(key);
		if (what === 'removed') map.delete(key);
		else map.set(key, value);
	}

	/** @param {Any | undefined} confirmation */
	takeConfirmation(confirmation) {
		if (!confirmation) return;
		const id = confirmation.confirmation_id;
		const known = this.confirmations.get(id);
		this.stale.get('confirmations')?.delete(id);
		if (known && known.sequence > confirmation.sequence) return;
		// Lists leave out long arguments, which a card has asked for.
		const whole = confirmation.arguments_cut && known && !known.arguments_cut ? known.arguments : undefined;
		this.confirmations.set(id, whole ? { ...confirmation, arguments: whole, arguments_cut: false } : confirmation);
		this.tell('confirmations');
	}

	/** @param {Any | undefined} call @param {Any[]} [stages] */
	takeCall(call, stages = []) {
		if (!call) return;
		const known = this.calls.get(call.call_id);
		// A list that was asked for before its end does not bring a call back to life.
		if (known?.call.ended_at && !call.ended_at) return;
		this.calls.set(call.call_id, { call, stages: stages.length ? stages : (known?.stages ?? []) });
		if (this.calls.size > MOST_CALLS) this.calls.delete(/** @type {string} */ (this.calls.keys().next().value));
		this.tell('calls');
	}

	/** @param {Any | undefined} task */
	takeTask(task) {
		if (!task) return;
		this.stale.get('tasks')?.delete(task.task_id);
		// A list that was asked for before a change does not take it back.
		if (this.tasks.get(task.task_id)?.position > task.position) return;
		this.tasks.set(task.task_id, task);
		this.tell('tasks');
	}

	/** @param {string[]} topics */
	reset(topics) {
		for (const topic of topics) {
			this.synced.delete(topic);
			const map = /** @type {any} */ (this)[topic];
			if (map instanceof Map && topic !== 'calls') {
				// The stream begins with what is open of these, and with all of the others.
				const kept = [...map].filter(([, one]) => (topic === 'confirmations' ? one.state === 'PENDING' :
					!one.ended_at));
				this.stale.set(topic, new Set(kept.map(([key]) => key)));
			}
			if (topic === 'calls') {
				for (const [id, { call }] of this.calls) if (!call.ended_at) this.calls.delete(id);
				this.olderCalls = undefined;
				this.loadOlderCalls().catch(() => {});
			}
			this.tell(topic);
		}
	}

	/** @param {string} topic */
	sync(topic) {
		for (const key of this.stale.get(topic) ?? []) /** @type {any} */ (this)[topic].delete(key);
		this.stale.delete(topic);
		this.synced.add(topic);
		this.tell(topic);
	}

	/** The next page of calls that ended before. */
	async loadOlderCalls() {
		if (this.olderCalls === '') return;
		const { signal } = this.stop;
		const page = await get('/v1/calls', { user_id: this.everybody, page_size: 200, page_token: this.olderCalls },
			signal);
		if (signal.aborted) return;
		this.olderCalls = page.next_page_token ?? '';
		for (const call of page.calls) this.takeCall(call);
		this.synced.add('older calls');
		this.tell('calls');
	}

	/** Questions of agents that wait for the viewer. */
	get questions() {
		return [...this.tasks.values()].filter((one) => one.kind === 'QUESTION' && !one.ended_at);
	}

	/** Confirmations that wait for a person; first those that the viewer may decide on, the oldest first. */
	get waiting() {
		return [...this.confirmations.values()].filter((one) => one.state === 'PENDING').sort((a, b) =>
			Number(b.may_decide?.allowed ?? false) - Number(a.may_decide?.allowed ?? false) ||
			instant(a.created_at) - instant(b.created_at));
	}
}

export const store = new Store();
