// Tasks: the trees of the viewer's agents, and beside them the task that is opened.
import { get, html, instant, link, nothing, NOWHERE, plural, problemOf, properties, shown, store, when } from
	'../elements/parts.js';
import { choice, reset, search, split } from '../elements/split.js';
import { badgesOf, stateOf } from '../elements/timeline.js';

/** The part of the address that the card reads. */
const OF_CARD = ['view', 'path', 'version'];

class Tasks extends properties({ at: NOWHERE, token: '', next: '' }) {
	static topics = ['tasks', 'viewer'];

	willUpdate() {
		// The stream begins with what has not ended; the rest is listed.
		this.once(`list ${this.token}`, async () => {
			const page = await get('/v1/tasks', { kinds: ['ROOT', 'AGENT', 'QUESTION'], page_size: 200, page_token:
				this.token });
			for (const task of page.tasks) store.takeTask(task);
			return { next: page.next_page_token };
		});
	}

	/** What the filter asks for; without one, the roots. @param {URLSearchParams} facets */
	found(facets) {
		const [state, role, text] = ['state', 'role', 'text'].map((name) => facets.get(name) ?? '');
		return [...store.tasks.values()].filter((task) => (facets.size || !task.parent_id) &&
			(!state || stateOf(task) === state) && (!role || task.role === role) &&
			text.toLowerCase().split(/\s+/).every((word) => `${task.request} ${task.task_id}`.toLowerCase().includes(word)))
			.sort((a, b) => instant(b.created_at) - instant(a.created_at));
	}

	render() {
		const { query, id } = this.at;
		const facets = new URLSearchParams([...query].filter(([name]) => !OF_CARD.includes(name)));
		const tasks = this.found(facets);
		// The words of the list itself.
		const options = (/** @type {(task: Any) => string} */ of) => [...new Set([...store.tasks.values()].map(of))]
			.filter(Boolean).sort().map((value) => /** @type {[string, string]} */ ([value, value]));
		return split({ at: this.at, title: 'Tasks', count: `${plural(tasks.length, 'task')}${this.next ? ', and older ones'
			: ''}`,
			head: html`${search(this.at, 'Search tasks')}
				<div class="selects">${choice(this.at, 'state', 'State', options(stateOf))}
					${choice(this.at, 'role', 'Role', options(({ role }) => role))}
					${this.next ? html`<button class="small" @click=${() => { this.token = this.next; }}>Load older
						ones</button>` : nothing}</div>
				${problemOf(this.problem, this.again)}`,
			list: tasks.length ? html`<tw-rows .label=${'Tasks'} .items=${tasks} .name=${nameOf} .chosen=${id}
					.row=${(task) => this.row(task, facets)}></tw-rows>`
				: html`<p class="empty">${!store.synced.has('tasks') ? 'Loading…' : facets.size ?
					html`No task matches. ${reset('tasks', id)}`
					: html`No tasks yet. <span>An agent that works on something begins one by <code>POST /v1/tasks</code>, or by
						the tool <a href=${link('tools', 'start_task')}>start_task</a>. Its steps, documents and questions appear
						here by themselves.</span>`}</p>`,
			card: html`<tw-task .name=${id} .query=${query} .facets=${facets}></tw-task>`,
			hint: tasks.length ? 'Choose a task to see what was done.' : '' });
	}

	/** @param {Any} task @param {URLSearchParams} facets */
	row(task, facets) {
		return html`<a href=${link('tasks', task.task_id, facets)} aria-current=${task.task_id === this.at.id ? 'true' :
			nothing}>
			<span class="line"><b>${shown(task.request)}</b>
				<span class="end quiet">${when(task.updated_at)}</span></span>
			<span class="line">${badgesOf(task)}</span></a>`;
	}
}
customElements.define('tw-tasks', Tasks);

/** @param {Any} task */
const nameOf = (task) => task.task_id;
