// Approvals: the queue of calls that wait for a person, the card of one, and what was decided.
import { approval, get, html, inShort, instant, lasting, link, nothing, NOWHERE, older, plural, problemOf, properties,
	replace, shown, store, until, when } from '../elements/parts.js';

class Approvals extends properties({ at: NOWHERE, token: '', next: '' }) {
	static topics = ['confirmations', 'viewer', 'connection'];
	opened = false;

	willUpdate() {
		// The stream begins with what is open; what was decided is listed.
		this.once(`list ${this.token}`, async () => {
			const page = await get('/v1/confirmations', { page_size: 100, page_token: this.token });
			for (const one of page.confirmations) store.takeConfirmation(one);
			return { next: page.next_page_token };
		});
		// Beside the list there is room for a card: the first that waits, once, so that it never turns into another one.
		const first = store.waiting.find((one) => one.may_decide?.allowed);
		if (this.at.id) this.opened = true;
		else if (first && !this.opened && store.synced.has('confirmations') && matchMedia('(min-width: 861px)').matches) {
			this.opened = true;
			replace(link('approvals', first.confirmation_id));
		}
	}

	render() {
		const { waiting } = store;
		const mine = waiting.filter((one) => one.may_decide?.allowed);
		const others = waiting.filter((one) => !one.may_decide?.allowed);
		const decided = [...store.confirmations.values()].filter((one) => one.state !== 'PENDING')
			.sort((a, b) => instant(ended(b)) - instant(ended(a)));
		const list = (/** @type {Any[]} */ all) => html`<ul class="cards">${all.map((one) => this.entry(one))}</ul>`;
		return html`<div class="split ${this.at.id ? 'has-card' : ''}">
			<section class="pane list" aria-labelledby="approvals">
				<h1 id="approvals">Approvals</h1>
				${problemOf(this.problem, this.again)}
				${mine.length ? html`<h2>${mine.length === 1 ? 'One call waits for you' :
					`${mine.length} calls wait for you`}</h2>
					${list(mine)}` : html`<p class="empty">${store.synced.has('confirmations') ? html`Nothing waits for you.
						<span>A call that a person must approve appears here by itself. To see one, call a
							<a href=${link('tools', '', { approval: 'yes' })}>tool that needs approval</a>.</span>` :
								'Loading…'}</p>`}
				${others.length ? html`<h2>Waiting for others</h2>${list(others)}` : nothing}
				${decided.length ? html`<h2>Decided</h2><p class="quiet">${summary(decided)}</p>${list(decided.slice(0,
					300))}` : nothing}
				${older(this)}
			</section>
			<section class="pane card-pane" aria-label="Approval">${this.at.id
				? html`<tw-approval-card .name=${this.at.id}></tw-approval-card>`
				: html`<p class="empty">${mine.length ? 'Choose a call to see all of it.' : ''}</p>`}</section>
		</div>`;
	}

	/** @param {Any} one */
	entry(one) {
		const isOpen = one.state === 'PENDING';
		return html`<li><a class="entry" href=${link('approvals', one.confirmation_id)}
			aria-current=${one.confirmation_id === this.at.id ? 'true' : nothing}>
			<span class="line"><b>${one.tool}</b>${one.consequence_level === 'HIGH' ?
				html` <span class="badge bad">high</span>` : nothing}
				<span class="end">${isOpen ? until(one.expires_at) : approval(one)}</span></span>
			<span class="summary">${inShort(one)}</span>
			<span class="quiet">${shown(one.user_id)} asked${isOpen || !one.decided_by ? nothing : html`, ${
				shown(one.decided_by)} decided`} ${when(isOpen ? one.created_at : ended(one))}${one.reason
				? html` · ${shown(one.reason)}` : nothing}</span>
		</a></li>`;
	}
}
customElements.define('tw-approvals', Approvals);

/** When it ended. @param {Any} one */
const ended = (one) => one.decided_at ?? one.expires_at ?? one.created_at;

/** @param {Any[]} decided */
function summary(decided) {
	const waits = decided.filter((one) => one.decided_at)
		.map((one) => instant(one.decided_at) - instant(one.created_at)).sort((a, b) => a - b);
	const expired = decided.filter((one) => one.state === 'EXPIRED');
	const unused = expired.filter((one) => one.decided_by).length;
	const rest = expired.length - unused;
	return `${waits.length ? `Half of these waited less than ${lasting(waits[Math.floor(waits.length / 2)])}. ` : ''}${
		rest ? `${plural(rest, 'call')} expired without a decision. ` : ''}${
		unused ? `${plural(unused, 'call was', 'calls were')} approved, and not made in time.` : ''}`;
}
