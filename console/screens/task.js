// One task: what it is and waits for, its tree, its timeline, what its model sees, and its documents.
import { save } from '../lib/local.js';
import { crumbs, facts, get, html, instant, link, loading, nothing, outside, plural, post, problem, Problem,
	problemOf, properties, segment, send, shown, store, unset, when } from '../elements/parts.js';
import { asSeen, badgesOf, timeline } from '../elements/timeline.js';

const VIEWS = [['', 'Timeline'], ['full', 'In full'], ['model', 'As the model sees it'], ['documents', 'Documents']];
const PAGE = 200;

class Task extends properties({ name: '', query: new URLSearchParams(), facets: new URLSearchParams(), task: unset,
	list: /** @type {Any[]} */ ([]), upTo: PAGE, rendering: unset, isAsking: false, told: '' }) {
	static topics = ['tasks', 'viewer'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('name')) {
			Object.assign(this, { task: undefined, list: [], upTo: PAGE, rendering: undefined, problem: undefined,
				isAsking: false, told: '' });
		}
		const { name, query, task, list, upTo } = this;
		const path = `/v1/tasks/${segment(name)}`;
		const isModel = query.get('view') === 'model';
		// Who has seen all of it follows what is added.
		const most = task && list.length >= task.next_sequence ? list.length + PAGE : upTo;
		// Asked for again when the stream says that something of it changed; what the timeline has does not change.
		this.once(`${name} ${store.tasks.get(name)?.position} ${isModel} ${upTo}`, async () => {
			const [answer, rendering, more] = await Promise.all([get(path), isModel ? get(`${path}/rendering`) : undefined,
				list.length < most ? get(`${path}/timeline`, { sequence: list.length, page_size: most - list.length })
					: { entries: [] }]);
			if (!task) {
				const tree = await get('/v1/tasks', { root_id: answer.task.root_id, page_size: 1_000 });
				for (const one of tree.tasks) store.takeTask(one);
			}
			store.takeTask(answer.task);
			return { task: answer.task, rendering, list: [...list, ...more.entries] };
		});
	}

	/** Loads an entry with what is kept apart of it. @param {number} sequence */
	async load(sequence) {
		const { entry } = await get(`/v1/tasks/${segment(this.name)}/timeline/${sequence}`);
		Object.assign(this, { list: this.list.map((one) => (one.sequence === sequence ? entry : one)) });
	}

	/**
	 * Sends what a form says.
	 * @param {any} event
	 * @param {string} verb
	 * @param {(data: Any) => string} tell
	 * @param {string} [id] Of which task.
	 */
	async submit(event, verb, tell, id = this.name) {
		event.preventDefault();
		const given = Object.fromEntries(new FormData(event.target));
		this.problem = undefined;
		try {
			const { data } = await post(`/v1/tasks/${segment(id)}:${verb}`, given);
			store.takeTask(data.task);
			Object.assign(this, { told: tell(data), isAsking: false });
		} catch (error) {
			this.problem = problem(error);
		}
	}

	render() {
		const { task, facets, query } = this;
		const back = crumbs(link('tasks', '', facets), 'Tasks');
		if (!task) return html`${back}${loading(this.problem, this.again)}`;
		const view = query.get('view') ?? '';
		const calls = link('calls', '', { task: task.task_id });
		return html`<article>${back}
			<header><p class="line">${badgesOf(task)} ${task.tainted ? html`<span class="badge wait"
					title="Its writes need approval from then on">has read text from outside</span>` : nothing}
				${task.ended_at ? nothing : html`<span class="end">expires in <tw-left .until=${task.deadline}
					.over=${'no time'}></tw-left></span>`}</p>
				<h1 class="lead request" tabindex="0">${shown(task.request)}</h1></header>
			${facts([['Waits for', task.waiting?.length && task.waiting.map(waiting)],
				['Worked on by', task.lease?.holder], ['Why', task.message],
				['Begun', when(task.created_at)],
				['Labels', Object.entries(task.labels ?? {}).map((pair) => pair.join(': ')).join(', ')],
				['Calls', html`<a href=${calls}>calls of this task</a>`]])}
			${problemOf(this.problem)}<p role="status">${this.told}</p>${task.ended_at ? nothing : this.forms(task)}
			${this.tree(task)}
			<nav class="chips" aria-label="View">${VIEWS.map(([name, title]) => html`<a class="chip"
				href=${this.to(task.task_id, name)} aria-current=${name === view ? 'page' : nothing}>${title}</a>`)}</nav>
			${this.view(view, task)}</article>`;
	}

	/** @param {string} id @param {string} [view] */
	to(id, view) {
		const query = new URLSearchParams(this.facets);
		if (view) query.set('view', view);
		return link('tasks', id, query);
	}

	/** @param {string} view @param {Any} task */
	view(view, task) {
		const { rendering, list, query } = this;
		if (view === 'documents') return html`<tw-documents .name=${this.name} .path=${query.get('path') ?? ''}
			.version=${Number(query.get('version') ?? 0)} .position=${Math.max(...treeOf(task).map((one) => one.position))}
				.query=${query}></tw-documents>`;
		if (view === 'model') return rendering ? asSeen(rendering) : loading();
		return html`${timeline(list, view === 'full', (sequence) => this.load(sequence).catch((error) => {
			this.problem = problem(error);
		}))}${list.length < task.next_sequence ? html`<p><button @click=${() => { this.upTo = list.length + PAGE; }}>Show
			more of
			${plural(task.next_sequence, 'entry', 'entries')}</button></p>` : nothing}`;
	}

	/** What can be done about it: a question is answered, and any task is cancelled. @param {Any} task */
	forms(task) {
		const cancelled = (/** @type {Any} */ { descendants: also }) => `It is cancelled${also
			? `, and ${plural(also, 'task')} below` : ''}.`;
		const { task_id: own } = task;
		return html`${store.questions.filter((one) => one.task_id === own || one.parent_id === own).map((one) => html`<form
				class="notice" @submit=${(event) => this.submit(event, 'answer', () => 'Your answer was given.', one.task_id)}>
				${one.task_id === own ? nothing : html`<p><b>${shown(one.request)}</b></p>`}
				<label>Your answer <textarea name="answer" rows="3" required></textarea></label>
				<p><button class="main" data-run>Answer</button></p></form>`)}
			${this.isAsking ? html`<form @submit=${(event) => this.submit(event, 'cancel', cancelled)}>
				<label>Why? The timeline tells it <input name="reason" maxlength="1000" autocomplete="off"></label>
				<p class="quiet">What works for it is cancelled too. A write that has begun goes on.</p>
				<p class="buttons"><button class="no" data-run>Cancel it</button>
					<button type="button" @click=${() => { this.isAsking = false; }}>Back</button></p></form>`
				: html`<p><button class="no" @click=${this.ask}>Cancel the task</button></p>`}`;
	}

	async ask() {
		this.isAsking = true;
		await this.updateComplete;
		this.first('[name="reason"]').focus();
	}

	/** @param {Any} task */
	tree(task) {
		const all = treeOf(task);
		if (all.length < 2) return nothing;
		const below = (/** @type {string} */ parent) => all.filter((one) => one.parent_id === parent)
			.sort((a, b) => instant(a.created_at) - instant(b.created_at));
		/** @type {(parent: string) => any} */
		const branch = (parent) => html`<ul class="tree-of-tasks">${below(parent).map((one) => html`<li>
			<a class="line" href=${this.to(one.task_id)} aria-current=${one.task_id === task.task_id ? 'true' : nothing}>
				${badgesOf(one)} <span class="summary">${shown(one.request)}</span></a>
			${below(one.task_id).length ? branch(one.task_id) : nothing}</li>`)}</ul>`;
		return html`<h2>Tree</h2>${branch('')}`;
	}
}
customElements.define('tw-task', Task);

/** The tasks of its tree. @param {Any} task */
const treeOf = (task) => [...store.tasks.values()].filter((one) => one.root_id === task.root_id);

/** @param {Any} one */
const waiting = ({ confirmation_id: confirmation, task_id: task, source, call_id: call }) => html`<div>${confirmation
	? html`<a href=${link('approvals', confirmation)}>an approval</a>` : task ? html`<a href=${link('tasks',
		task)}>${store.tasks.get(task)?.kind === 'QUESTION' ? 'your answer' : 'a task'}</a>` : source
		? html`credentials for ${shown(source)}: the agent goes on once they are given`
		: html`<a href=${link('calls', call)}>a write whose end is not known</a>: look at its target, then say what became
			of
			it by <code>POST /v1/tasks/…:resolve</code>`}</div>`;

/** A text of more bytes is saved, not shown. */
const MOST_SHOWN = 200_000;
const TEXT = /^text\/|json|xml|yaml|javascript/;

/** The documents of a tree of tasks: the list, and of one its versions and what each says. */
class Documents extends properties({ name: '', path: '', version: 0, position: 0, query: new URLSearchParams(),
	all: /** @type {Any[] | undefined} */ (undefined), versions: /** @type {Any[]} */ ([]),
	content: /** @type {string | undefined} */ (undefined), isOutside: false, known: unset }) {
	static topics = ['viewer'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('path') || changed.has('version')) [this.content, this.problem] = [undefined, undefined];
		const { name, path, version } = this;
		const workspace = `/v1/workspaces/${segment(name)}`;
		this.once(`${name} ${path} ${version} ${this.position}`, async () => {
			const { documents } = await get(`${workspace}/documents`, { page_size: 1_000 });
			if (!path) return { all: documents };
			const { versions } = await get(`${workspace}/versions/${escaped(path)}`, { page_size: 1_000 });
			const one = versions.find((/** @type {Any} */ { version: number }) => number === (version ||
				versions[0]?.version));
			const isShown = one && !one.deleted && TEXT.test(one.mime_type) && one.size_bytes <= MOST_SHOWN;
			const response = isShown ? await this.fetch(one) : undefined;
			return { all: documents, versions, known: one, content: await response?.text(), isOutside:
				response?.headers.has('x-toolwire-untrusted') };
		});
	}

	/** @param {Any} one @returns {Promise<Response>} */
	async fetch(one) {
		const response = await send('GET', `/v1/workspaces/${segment(this.name)}/documents/${escaped(this.path)}`,
			{ query: { version: one.version }, headers: { accept: '*/*' } });
		if (response.ok) return response;
		throw new Problem(response.status, await response.json().catch(() => ({})), response.headers);
	}

	async save() {
		save(await (await this.fetch(/** @type {Any} */ (this.known))).blob(), this.path.split('/').at(-1) ?? '');
	}

	/** @param {Record<string, string>} more */
	to(more) {
		const query = new URLSearchParams(this.query);
		for (const name of ['path', 'version']) query.delete(name);
		for (const [name, value] of Object.entries(more)) query.set(name, value);
		return link('tasks', this.name, query);
	}

	render() {
		if (this.problem) return problemOf(this.problem, this.again);
		if (!this.all) return loading();
		if (this.path) return this.one();
		if (!this.all.length) return html`<p class="empty">The tree has no documents. <span>What its agents write by
			<code>write_file</code>, and what is uploaded to it, is listed here.</span></p>`;
		return html`<ul class="plain">${this.all.map((one) => html`<li><div class="line"><a
			href=${this.to({ path: one.path })}>${shown(one.path)}</a><span class="end quiet">version
				${one.version}, ${plural(one.token_count, 'token')}, ${when(one.updated_at)}</span></div>
			<span class="quiet">${shown(one.description || one.auto_summary)}</span></li>`)}</ul>`;
	}

	one() {
		const { known, versions, content } = this;
		const text = html`<pre class="wrap page-text" tabindex="0">${shown(content ?? '')}</pre>`;
		return html`<p class="crumbs"><a href=${this.to({})}>All documents</a></p><h3>${shown(this.path)}</h3>
			<ol class="plain">${versions.map((one) => html`<li><div class="line"><a aria-current=${one === known ? 'true' :
				nothing}
				href=${this.to({ path: this.path, version: String(one.version) })}>version ${one.version}</a>
				${one.deleted ? html`<span class="badge bad">deleted</span>` : nothing}
				<span class="quiet">${plural(one.size_bytes, 'byte')} by ${shown(one.written_by)}</span>
				<span class="end quiet">${one.call_id ? html`<a href=${link('calls', one.call_id)}>call</a> · ` :
					nothing}${when(one.written_at)}</span></div>${shown(one.why)}</li>`)}</ol>
			${content === undefined ? known && !known.deleted ? html`<p class="quiet">It is no short text: save it to read
				it.</p>`
				: nothing : this.isOutside ? outside(text) : text}
			${known && !known.deleted ? html`<p><button @click=${() => this.save().catch((error) => { this.problem = error;
				})}>Save
				version ${known.version}</button></p>` : nothing}`;
	}
}
customElements.define('tw-documents', Documents);

/** @param {string} path */
const escaped = (path) => path.split('/').map(segment).join('/');
