// The audit: who wrote and who decided, and which requests were refused.
import { save } from '../lib/local.js';
import { badge, faceName, get, html, link, nothing, NOWHERE, older, plural, problemOf, properties, shown, stringify,
	when, words } from '../elements/parts.js';

class Audit extends properties({ at: NOWHERE, rows: /** @type {Any[] | undefined} */ (undefined), filter:
	/** @type {Any} */ ({}), token: '', next: '' }) {
	static topics = ['viewer'];

	get isRefusals() {
		return this.at.id === 'refusals';
	}

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('at') || changed.has('filter')) [this.rows, this.token] = [undefined, ''];
		const { token } = this;
		this.once(stringify([this.at.id, this.filter, token]), async () => {
			const page = await get(this.isRefusals ? '/v1/refusals' : '/v1/records',
				{ ...this.filter, page_size: 100, page_token: token });
			return { next: page.next_page_token, rows: [...(token ? this.rows ?? [] : []),
				...(page.records ?? page.refusals)] };
		});
	}

	/** What is listed, as a file of one JSON object a line. */
	save() {
		const lines = (this.rows ?? []).map((row) => `${stringify(row)}\n`);
		save(new Blob(lines, { type: 'application/x-ndjson' }), `toolwire-${this.at.id || 'records'}.ndjson`);
	}

	/** @param {any} event */
	submit(event) {
		event.preventDefault();
		const given = Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value));
		if (given.since) given.since = new Date(/** @type {string} */ (given.since)).toISOString();
		this.filter = given;
	}

	render() {
		const { rows } = this;
		const tab = (/** @type {string} */ id, /** @type {string} */ title) =>
			html`<a class="chip" href=${link('audit', id)}
			aria-current=${this.at.id === id ? 'page' : nothing} @click=${() => { this.filter = {}; }}>${title}</a>`;
		return html`<div class="page">
			<div class="bar"><h1>Audit</h1><nav class="chips" aria-label="Records">${tab('', 'Writes and decisions')}
				${tab('refusals', 'Refusals')}</nav></div>
			<form class="selects" @submit=${this.submit}>
				<label>User <input name="user_id" data-search autocomplete="off"></label>
				${this.isRefusals ? nothing : html`<label>Tool <input name="tools" autocomplete="off"></label>
					<label>What <select name="kinds"><option value="">any</option><option value="WRITE">write</option>
						<option value="DECISION">decision</option></select></label>`}
				<label>Since <input type="datetime-local" name="since"></label>
				<button>Search</button> ${rows?.length ? html`<button type="button" @click=${this.save}>Save what is
					listed</button>` : nothing}
			</form>
			${problemOf(this.problem, this.again)}
			<p class="quiet" role="status">${rows ? `${plural(rows.length, 'record')}${this.next ? ', and older ones' : ''}`
				: ''}</p>
			${rows?.length ? html`<div class="table records" tabindex="0"><table>${this.isRefusals ? refusals(rows) :
				records(rows)}</table></div>`
				: this.problem ? nothing : html`<p class="empty">${rows ?
					'No record matches. The audit holds writes, decisions and refused requests; reads are under Calls.' :
					'Loading…'}</p>`}
			${older(this)}</div>`;
	}
}
customElements.define('tw-audit', Audit);

/** @param {string[]} names @param {any} body */
const table = (names, body) => html`<thead><tr>${names.map((name) =>
	html`<th>${name}</th>`)}</tr></thead><tbody>${body}</tbody>`;

/** @param {Any[]} rows */
const records = (rows) => table(['When', 'Who', 'What', 'Verdict', 'End', 'Call'], rows.map((row) => {
	const isDecision = row.kind === 'DECISION';
	// Without a decision the record names whose call it was.
	const isDecided = !isDecision || ['APPROVED', 'DENIED'].includes(row.verdict);
	return html`<tr><td>${when(row.time)}</td>
		<td>${isDecided ? shown(row.user_id) : 'nobody'}${!isDecided || row.caller !== row.user_id ?
			html` <span class="quiet">on a call of ${shown(row.caller)}</span>` : nothing}</td>
		<td>${words(row.kind)} <code>${row.tool}</code></td>
		<td>${badge(row.verdict)}${row.approver && !(isDecision && isDecided) ?
			html` <span class="quiet">${isDecided ? 'by' : 'approved by'} ${shown(row.approver)}</span>` : nothing}</td>
		<td>${words(row.code ?? '')}</td>
		<td>${row.call_id ? html`<a href=${link('calls', row.call_id)}>call</a>` : nothing}
			${row.confirmation_id ? html`<a href=${link('approvals', row.confirmation_id)}>approval</a>` :
				nothing}</td></tr>`;
}));

/** @param {Any[]} rows */
const refusals = (rows) => table(['Last', 'How many', 'Who', 'From', 'Reason', 'What'], rows.map((row) => html`<tr>
	<td>${when(row.last_time)}</td><td>${row.count}</td><td>${shown(row.user_id || 'unknown')}</td>
	<td>${shown(`${row.peer} ${faceName(row.face)}`)}</td><td>${words(row.reason)}</td>
	<td><code>${shown(row.target)}</code></td></tr>`));
