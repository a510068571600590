// Calls, as they happen: a list with facets, and beside it the call that is opened.
import { clock, exact, faceName, html, instant, lasting, link, nothing, now, NOWHERE, plural, properties,
	setFacet, shown, span, standing, stateName, store, words } from '../elements/parts.js';
import { choice, filter, reset, split } from '../elements/split.js';

/** A call that took longer is slow, in milliseconds. */
const SLOW = 1_000;
const STATES = ['RUNNING', 'AWAITING_CONFIRMATION', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'OUTCOME_UNKNOWN'];
const FACETS = [['tool', 'Tool', 'tool'], ['user', 'User', 'user_id'], ['client', 'Client', 'face'],
	['code', 'Failure', 'code']];
/** States and codes in words. @param {string} value */
const called = (value) => (/^[A-Z_]+$/.test(value) ? stateName(value) : value);

/** How long a call has taken. @param {Any} call */
const taken = (call) => (call.ended_at ? span(call.duration) : Math.max(0, now() - instant(call.arrived_at)));

class Calls extends properties({ at: NOWHERE }) {
	static topics = ['calls', 'confirmations', 'viewer'];
	isLoading = false;

	/** @param {Any} call @param {URLSearchParams} [query] */
	fits(call, query = this.at.query) {
		const states = query.getAll('state');
		return (!states.length || states.includes(call.state)) &&
			FACETS.every(([facet, , field]) => !query.get(facet) || call[field] === query.get(facet)) &&
			(!query.get('task') || call.task_id === query.get('task')) && (!query.get('slow') || taken(call) > SLOW) &&
			(query.get('nested') !== 'no' || !call.parent_call_id);
	}

	render() {
		const { query, id } = this.at;
		const all = [...store.calls.values()].map(({ call }) => call).sort((a, b) =>
			(a.arrived_at < b.arrived_at ? 1 : -1));
		const calls = all.filter((call) => this.fits(call));
		const task = query.get('task');
		const count = `${plural(calls.length, 'call')}${query.size ? ` of ${all.length.toLocaleString('en')}` : ''}${
			store.olderCalls === '' ? '' : ', and older ones'}`;
		return split({ at: this.at, title: 'Calls', count,
			head: filter(query.size > 0, html`<div class="chips" role="group" aria-label="State">${STATES.map((state) =>
					this.chip('state', state, stateName(state)))}
					${this.chip('slow', '1', 'slow')} ${this.chip('nested', 'no', 'not nested')}</div>
				<div class="selects">${FACETS.map(([facet, title, field]) => {
					const known = new Set(all.map((call) => call[field]).filter((value) => value && value !== 'UNSPECIFIED'));
					return choice(this.at, facet, title, [...known].sort().map((value) => [value,
					facet === 'client' ? faceName(value) : called(value)]));
				})}
					${task ? html`<button class="small" @click=${() => setFacet(this.at, 'task')}>Task ${task} ×</button>` :
						nothing}
					${query.size ? reset('calls', id) : nothing}</div>`),
			list: calls.length ? html`<tw-rows class="calls" .label=${'Calls'} .items=${calls} .name=${nameOf}
					.row=${(call) => this.row(call)} .chosen=${id} @end=${this.older}></tw-rows>`
				: html`<p class="empty">${!store.synced.has('older calls') ? 'Loading…' : query.size ?
					this.filters(all) : html`No calls yet. <span>Call a <a href="#/tools">tool</a>, or
						<a href="#/connect">connect</a> an agent. Its calls appear here by themselves.</span>`}</p>`,
			card: html`<tw-call .name=${id} .back=${link('calls', '', query)}></tw-call>`,
			hint: 'Choose a call to see what it did, and how long each part took.' });
	}

	/** What excludes all calls: each filter, and how many there would be without it. @param {Any[]} all */
	filters(all) {
		const { query } = this.at;
		return html`No call matches.${[...new Set(query.keys())].map((name) => {
			const rest = new URLSearchParams(query);
			rest.delete(name);
			return html`<span>${plural(all.filter((call) => this.fits(call, rest)).length, 'call')} without the filter
				<b>${name}: ${query.getAll(name).map(called).join(', ')}</b></span>`;
		})}`;
	}

	/** The next page of older calls, once the end of the list is near. */
	older() {
		if (this.isLoading || !store.olderCalls) return;
		this.isLoading = true;
		store.loadOlderCalls().catch(() => {}).finally(() => { this.isLoading = false; });
	}

	/** @param {string} name @param {string} value @param {string} title */
	chip(name, value, title) {
		const had = this.at.query.getAll(name);
		const isOn = had.includes(value);
		const next = isOn ? had.filter((one) => one !== value) : [...had, value];
		return html`<button class="chip" aria-pressed=${isOn} @click=${() =>
			setFacet(this.at, name, ...next)}>${title}</button>`;
	}

	/** @param {Any} call */
	row(call) {
		const at = instant(call.arrived_at);
		const took = taken(call);
		return html`<a class="call" href=${link('calls', call.call_id, this.at.query)}
				aria-current=${call.call_id === this.at.id ? 'true' : nothing}>
			<span class="time" title=${exact(at)}>${clock(at)}</span>
			<span class="tool">${call.parent_call_id ? html`<span class="quiet" title="called by another tool">↳</span> ` :
				nothing}${call.tool}</span>
			<span class="from quiet">${call.state === 'FAILED' ? `${words(call.code)} · ` : ''}${
				faceName(call.face)}${store.viewer.observes ? html` · ${shown(call.user_id)}` : nothing}</span>
			<span class="state">${standing(call)}</span>
			<span class="took ${took > SLOW && call.state !== 'AWAITING_CONFIRMATION' ? 'slow' :
				''}">${lasting(took)}${call.ended_at ? '' : '…'}${call.from_cache
				? html`<span class="quiet" title="from a cache"> cache</span>` : nothing}</span>
		</a>`;
	}
}
customElements.define('tw-calls', Calls);

/** @param {Any} call */
const nameOf = (call) => call.call_id;
