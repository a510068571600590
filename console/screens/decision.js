// The decision on an approval: approve, deny with a reason or a proposal; afterwards the verdict, in the same place.
import { html, instant, nothing, now, parse, post, problem, problemOf, properties, segment, shown, stateName, store,
	stringify } from '../elements/parts.js';

const LONGEST = 1_000;

class Decision extends properties({
	confirmation: /** @type {Any} */ ({}), asking: /** @type {'' | 'name' | 'deny'} */ (''), busy: '', complaint: '',
	proposal: /** @type {string | undefined} */ (undefined),
}) {
	follows = false;

	/** @param {Changed} changed */
	willUpdate(changed) {
		const before = changed.get('confirmation')?.confirmation_id;
		if (!before || before === this.confirmation.confirmation_id) return;
		[this.asking, this.busy, this.problem, this.proposal] = ['', '', undefined, undefined];
	}

	/** The focus goes where the verdict is, once it is there. */
	updated() {
		const verdict = /** @type {HTMLElement | null} */ (this.follows && this.querySelector('.verdict'));
		if (!verdict) return;
		this.follows = false;
		verdict.focus();
	}

	/** @param {Any} decision */
	async decide(decision) {
		const { busy: before } = this;
		if (before) return;
		this.busy = decision.approve ? 'approve' : 'deny';
		this.problem = undefined;
		try {
			const { data } = await post(`/v1/confirmations/${segment(this.confirmation.confirmation_id)}:decide`, decision);
			store.takeConfirmation(data.confirmation);
			this.asking = '';
			this.follows = true;
		} catch (error) {
			this.problem = problem(error);
		}
		this.busy = '';
	}

	/** What was typed. @param {string} name */
	typed(name) {
		return this.first(`[name="${name}"]`).value.trim();
	}

	approve() {
		const { tool, may_decide: may } = this.confirmation;
		if (!may.name_required) return this.decide({ approve: {} });
		if (this.asking !== 'name') return this.ask('name');
		if (this.typed('tool') === tool) return this.decide({ approve: { tool } });
		this.complaint = `This is not the name of the tool: ${tool}`;
	}

	deny() {
		if (this.asking !== 'deny') return this.ask('deny');
		const words = [this.typed('reason')];
		try {
			if (this.proposal !== undefined)
				words.push(`Arguments that would be approved: ${stringify(parse(this.proposal))}`);
		} catch (error) {
			this.complaint = `The proposal is no JSON: ${/** @type {Error} */ (error).message}`;
			return;
		}
		const reason = words.filter(Boolean).join('\n');
		if (reason && reason.length <= LONGEST) return this.decide({ deny: { reason } });
		this.complaint = reason ? `Reason and proposal are ${reason.length - LONGEST} characters longer than ${LONGEST}.`
			: 'Say why, for the caller.';
	}

	/** @param {'name' | 'deny'} asking */
	async ask(asking) {
		this.asking = asking;
		this.complaint = '';
		await this.updateComplete;
		this.first('input, textarea')?.focus();
	}

	render() {
		const { confirmation: one } = this;
		if (one.state !== 'PENDING') return this.verdict(one);
		if (instant(one.expires_at) <= now()) {
			return html`<div class="verdict" tabindex="-1" role="status">This call can no longer be decided: its time is
				over.</div>`;
		}
		return html`<div class="decision" role="group" aria-label="Decision">${problemOf(this.problem)}
			${one.may_decide?.allowed ? this.form(one) : html`<p class="why" id="rests">You cannot decide:
				${shown(one.may_decide?.reason ?? '')}.</p>
				<div class="buttons"><button class="yes" disabled aria-describedby="rests">Approve</button>
				<button class="no" disabled aria-describedby="rests">Deny</button></div>`}</div>`;
	}

	/** @param {Any} one */
	form(one) {
		const { asking, busy, proposal } = this;
		const submit = (/** @type {Event} */ event) => {
			event.preventDefault();
			if (asking) (asking === 'deny' ? this.deny() : this.approve());
		};
		const back = () => { this.asking = ''; };
		return html`<form @submit=${submit} @keydown=${(event) => event.key === 'Escape' && back()}>
			${asking === 'name' ? html`<label>This has high consequences. Type the tool’s name, <code>${one.tool}</code>, to
				approve
				<input name="tool" autocomplete="off" autocapitalize="none" spellcheck="false"></label>` : nothing}
			${asking === 'deny' ? html`<label>Why not? The caller, mostly a model, reads this
					<textarea name="reason" rows="3" maxlength=${LONGEST}></textarea></label>
				${proposal === undefined ? html`<p><button type="button" class="small"
					@click=${() => { this.proposal = stringify(one.arguments, 2); }}>
						Propose other arguments</button></p>` : html`<label>Arguments that you would approve. They are told as
							text; the caller makes
						a new call <textarea class="code" rows="6" spellcheck="false" .value=${proposal}
							@input=${(event) => { this.proposal = event.target.value; }}></textarea></label>`}` : nothing}
			${asking && this.complaint ? html`<p class="complaint" role="alert">${this.complaint}</p>` : nothing}
			<div class="buttons">
				${asking === 'deny' ? nothing : html`<button type="button" class="yes" data-key="1" ?disabled=${Boolean(busy)}
					?data-run=${asking === 'name'} @click=${this.approve}>${busy === 'approve' ? 'Approving…' :
						'Approve'}</button>`}
				${asking === 'name' ? nothing : html`<button type="button" class="no" data-key="2" ?disabled=${Boolean(busy)}
					?data-run=${asking === 'deny'} @click=${this.deny}>${busy === 'deny' ? 'Denying…' : 'Deny'}</button>`}
				${asking ? html`<button type="button" @click=${back}>Back</button>` : nothing}
			</div>
		</form>`;
	}

	/** @param {Any} one */
	verdict(one) {
		const tone = one.state === 'APPROVED' || one.state === 'USED' ? 'good' : one.state === 'DENIED' ? 'bad' : '';
		const who = one.decided_by === store.viewer.user_id ? 'you' : one.decided_by;
		return html`<div class="verdict ${tone}" tabindex="-1" role="status">
			<strong>${stateName(one.state)}</strong>${who ? html` by ${shown(who)}` : nothing}${one.decided_at
				? html`, <tw-when .at=${one.decided_at}></tw-when>` : nothing}
			${one.on_behalf_of ? html`<br>on behalf of ${shown(one.on_behalf_of)} (as they say)` : nothing}
			${one.reason ? html`<br>“${shown(one.reason)}”` : nothing}
			${one.state === 'APPROVED' ? html`<br>The caller has <tw-left .until=${one.expires_at}
				.over=${'no time'}></tw-left> left
				to make the call.` : nothing}
			${one.used_by_call_id ? html`<br><a href="#/calls/${one.used_by_call_id}">The call that was made</a>` : nothing}
			${problemOf(this.problem)}</div>`;
	}
}
customElements.define('tw-decision', Decision);
