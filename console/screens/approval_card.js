// One approval: all that the decision is bound to, and the decision. The card never turns into another one.
import { alike, approval, approvedBefore, brief, consequence, crumbs, decided, faceName, facts, get, html, instant,
	link, loading, nothing, now, parse, plural, post, problem, problemOf, properties, segment, shown, standing, store,
	stringify, text, unset, until, warnings, when, words } from '../elements/parts.js';
import '../elements/arguments.js';

/** @type {Record<string, string>} */
const CAUSES = {
	MANIFEST: 'Every call of this tool needs approval.',
	RULE: 'A rule of the operator asks for approval of this call.',
	TAINTED: 'A model that has read text from outside made this call, and it does not only read.',
	CALLER: 'The caller asked for approval.',
	CONDITION: 'The arguments break a condition under which the tool needs no approval.',
};

/** The longest denial, in characters. */
const LONGEST = 1_000;

/** The conditions that are broken, as the summary has them: paths, what must be, what is. @param {Any} one */
const brokenBy = ({ cause, summary }) => (cause !== 'CONDITION' ? [] : [...(/, since (.+?)(?:: [\w.-]+ |$)/s.exec(
	summary)?.[1] ?? '').matchAll(/`([^`]+)` (must [^;]+?), but is ([^;]+)/g)]);

/** What changed in the tool since the call was made, in the words of others. @param {Any} one */
const changesIn = ({ definition_changes: changes = [], definition_changes_left_out: more }) => html`<ul
	class="violations">${changes.map((/** @type {Any} */ { pointer, before = 'nothing', after = 'nothing',
		excerpt }) => html`<li>
		<code>${shown(pointer || 'the whole tool')}</code>${excerpt ? ', in part' : ''}: <span
		class="whole"><del>${shown(text(before))}</del> → <ins>${shown(text(after))}</ins></span></li>`)}</ul>
	${more ? `${plural(more, 'more change')} not shown` : nothing}`;

class ApprovalCard extends properties({
	name: '', tool: unset, whole: unset, last: /** @type {Any[] | undefined} */ (undefined), asking:
		/** @type {'' | 'name' | 'deny'} */ (''), busy: '', complaint: '', proposal:
		/** @type {string | undefined} */ (undefined), reason: '',
}) {
	static topics = ['confirmations', 'tools', 'viewer'];
	follows = false;

	/** @returns {any} */
	get one() {
		return store.confirmations.get(this.name);
	}

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('name')) Object.assign(this, { problem: undefined, tool: undefined, whole: undefined, last:
			undefined, asking: '', busy: '', proposal: undefined, reason: '' });
		const path = `/v1/confirmations/${segment(this.name)}`;
		const { tool, definition_digest: digest } = this.one ?? {};
		// Asked for again when the tool becomes another one.
		const present = store.synced.has('tools') ? store.tools.get(tool)?.digest : digest;
		this.once(`${this.name} ${present === digest || present}`, async () => {
			const { confirmation: one } = await get(path);
			store.takeConfirmation(one);
			const user = one.user_id === store.viewer.user_id ? '' : one.user_id;
			// The card is complete without these, which the viewer may have no right to see.
			const [tool, last] = await Promise.all([get(`/v1/tools/${one.tool}`).catch(() => undefined),
				get('/v1/calls', { user_id: user, page_size: 6 }).catch(() => undefined)]);
			return { tool: tool?.tool ?? tool, whole: one,
				last: last?.calls.filter((/** @type {Any} */ other) => other.call_id !== one.call_id).slice(0, 5) };
		});
	}

	render() {
		const { one } = this;
		const back = crumbs('#/approvals', 'Approvals');
		if (!one || one.arguments_cut) {
			return html`${back}${loading(this.problem, this.again)}${this.problem?.status === 404
				? html`<p class="empty">There is no such approval that you may see. Are you another user?</p>` : nothing}`;
		}
		const title = this.tool?.title || one.tool;
		const broken = brokenBy(one);
		const present = store.tools.get(one.tool)?.digest ?? this.tool?.digest;
		const { whole } = this;
		const differs = whole?.definition_changes?.length || whole?.definition_changes_left_out;
		const changed = one.state === 'PENDING' && (differs || present && present !== one.definition_digest);
		return html`<article>${back}
			<header>
				<p class="line">${approval(one)} ${consequence(one)}
					${one.state === 'PENDING' ? html`<span class="end time-left">${until(one.expires_at)}</span>` : nothing}</p>
				<h1><a href=${link('tools', one.tool)}>${shown(title)}</a></h1>
				<p class="quiet">${title === one.tool ? nothing : html`<code>${one.tool}</code>`}${one.path.length > 1
					? html` called by <code>${one.path.slice(0, -1).join(' › ')}</code>` : nothing}</p>
				<p class="lead">${broken.length ? broken.map(([, path, must, is]) => html`Needs approval:
					<code>${shown(path)}</code> is ${shown(is)}. Without approval it ${shown(must)}. `)
					: CAUSES[one.cause] ?? words(one.cause)}</p>
			</header>
			${changed ? html`<div class="notice bad"><b>The tool has changed since this call was made.</b>
				${differs ? changesIn(whole) : nothing}</div>` : warnings(one)}
			<h2>Arguments</h2>
			<tw-arguments .value=${one.arguments} .schema=${this.tool?.input_schema}
				.breaches=${new Map(broken.map(([, path, must]) => [`/${path.replaceAll('.', '/')}`, must]))}
				.differs=${alike(one)[0]?.differs}></tw-arguments>
			<h2>Who asks</h2>
			${facts([
				['User', html`<b>${shown(one.user_id)}</b>${one.user_email ? html` (${shown(one.user_email)})` : nothing}`],
				['By', one.face && html`${faceName(one.face)}${one.client ? html`, as it says
					${shown(one.client)}` : nothing}`],
				['Asked', when(one.created_at)],
				['Task', one.task_id && html`<a href=${link('tasks', one.task_id)}>${brief(one.task_id)}</a>`],
				['Session', one.session_id],
				['Call', one.call_id && this.call(one, one.call_id, brief(one.call_id))],
			])}
			${this.history(one)}
			<footer>${this.decision(one, changed)}</footer>
			<details class="more"><summary>What the decision is bound to</summary>
				${facts(['arguments_digest', 'definition_digest', 'request_id', 'confirmation_id'].map((name) =>
					[words(name), html`<code class="wrap">${one[name]}</code>`]))}
				<tw-copy .quiet=${true} .label=${'the address of this approval'}
					.text=${`${location.origin}/${link('approvals', one.confirmation_id)}`}></tw-copy></details>
		</article>`;
	}

	/** A link, if the viewer may open the call. @param {Any} one @param {string} id @param {string} text */
	call(one, id, text) {
		return store.viewer.observes || one.user_id === store.viewer.user_id ?
			html`<a href=${link('calls', id)}>${text}</a>` : text;
	}

	/** @param {Any} one */
	history(one) {
		if (!this.last) return nothing;
		if (!this.last.length) return html`<p class="quiet">You see no other calls of ${shown(one.user_id)}.</p>`;
		return html`<h2>Last calls of this user</h2><ul class="plain">${this.last.map((call) => html`<li class="line">
			${this.call(one, call.call_id, call.tool)} ${standing(call)}
			<span class="end quiet">${when(call.arrived_at)}</span></li>`)}</ul>`;
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
			const { data } = await post(`/v1/confirmations/${segment(this.name)}:decide`, decision);
			store.takeConfirmation(data.confirmation);
			this.asking = '';
			this.follows = true;
		} catch (error) {
			this.problem = problem(error);
		}
		this.busy = '';
	}

	approve() {
		const { tool, may_decide: may } = this.one;
		if (!may.name_required) return this.decide({ approve: {} });
		if (this.asking !== 'name') return this.ask('name');
		if (this.first('[name="tool"]').value.trim() === tool) return this.decide({ approve: { tool } });
		this.complaint = `This is not the name of the tool: ${tool}`;
	}

	deny() {
		if (this.asking !== 'deny') return this.ask('deny');
		const words = [this.reason.trim()];
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

	/** The decision, or the verdict in its place. @param {Any} one @param {any} isChanged Whether the tool is another. */
	decision(one, isChanged) {
		const { may_decide: may = {} } = one;
		const rests = isChanged ? 'an approval would not hold: the caller must make the call again' : may.allowed ? '' :
			may.reason;
		if (one.state !== 'PENDING') return this.verdict(one);
		if (instant(one.expires_at) <= now()) {
			return html`<div class="verdict" tabindex="-1" role="status">This call can no longer be decided: its time is
				over.</div>`;
		}
		return html`<div class="decision" role="group" aria-label="Decision">${problemOf(this.problem)}
			${rests ? html`<p class="why" id="rests">You cannot decide: ${shown(rests)}.</p>` : nothing}
			${this.form(one, rests)}</div>`;
	}

	/** @param {Any} one @param {string} rests Why the buttons do, if they do. */
	form(one, rests) {
		const { busy, proposal } = this;
		const asking = rests ? '' : this.asking;
		const why = rests ? 'rests' : nothing;
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
					<textarea name="reason" rows="3" maxlength=${LONGEST} .value=${this.reason}
						@input=${(event) => { this.reason = event.target.value; }}></textarea></label>
				${proposal === undefined ? html`<p><button type="button" class="small"
					@click=${() => { this.proposal = stringify(one.arguments, 2); }}>
						Propose other arguments</button></p>` : html`<label>Arguments that you would approve. They are text for the
							caller: nothing is carried out by them <textarea class="code" rows=${Math.min(30,
								proposal.split('\n').length + 2)} spellcheck="false" .value=${proposal}
							@input=${(event) => { this.proposal = event.target.value; }}></textarea></label>
							${this.twice()}`}` : nothing}
			${asking && this.complaint ? html`<p class="complaint" role="alert">${this.complaint}</p>` : nothing}
			<div class="buttons">
				${asking === 'deny' ? nothing : html`<button type="button" class="yes" data-key="1" aria-describedby=${why}
					?disabled=${Boolean(busy || rests)} ?data-run=${asking === 'name'} @click=${this.approve}>${
						busy === 'approve' ? 'Approving…' : 'Approve'}</button>`}
				${asking === 'name' ? nothing : html`<button type="button" class="no" data-key="2" aria-describedby=${why}
					?disabled=${Boolean(busy || rests)} ?data-run=${asking === 'deny'} @click=${this.deny}>${
						busy === 'deny' ? 'Denying…' : 'Deny'}</button>`}
				${asking ? html`<button type="button" @click=${back}>Back</button>` : nothing}
			</div>
		</form>`;
	}

	/** Whether what is proposed is approved already. */
	twice() {
		try {
			return approvedBefore(this.one, parse(this.proposal ?? ''));
		} catch {
			return nothing;
		}
	}

	/** @param {Any} one */
	verdict(one) {
		const tone = one.state === 'APPROVED' || one.state === 'USED' ? 'good' : one.state === 'DENIED' ? 'bad' : '';
		return html`<div class="verdict ${tone}" tabindex="-1" role="status">${decided(one)}
			${problemOf(this.problem)}</div>`;
	}
}
customElements.define('tw-approval-card', ApprovalCard);
