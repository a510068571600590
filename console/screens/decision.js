// The decision on an approval: approve, deny with a reason or a proposal; afterwards the verdict, in the same place.
import { html, nothing } from '../vendor/lit.js';
import { post, problem, segment } from '../lib/api.js';
import { properties } from '../lib/element.js';
import { parse, stringify } from '../lib/json.js';
import { store } from '../lib/store.js';
import { instant, now } from '../lib/time.js';
import { shown } from '../lib/text.js';
import { stateName } from '../elements/badges.js';
import { problemOf } from '../elements/problem.js';
import '../elements/when.js';

const LONGEST = 1_000;

class Decision extends properties({
  confirmation: /** @type {Any} */ ({}), asking: '', busy: '',
  problem: /** @type {Failure} */ (undefined),
}) {
  proposal = '';
  complaint = '';
  follows = false;

  /** @param {Map<string, any>} changed */
  willUpdate(changed) {
    const before = changed.get('confirmation')?.confirmation_id;
    if (before && before !== this.confirmation.confirmation_id) [this.asking, this.busy, this.problem, this.proposal] = ['', '', undefined, ''];
  }

  /** @param {Any} decision @param {string} busy */
  async decide(decision, busy) {
    const { busy: before } = this;
    if (before) return;
    this.busy = busy;
    this.problem = undefined;
    const { confirmation_id: id } = this.confirmation;
    try {
      const { data } = await post(`/v1/confirmations/${segment(id)}:decide`, decision);
      store.takeConfirmation(data.confirmation ?? data);
      this.asking = '';
      this.follows = true;
    } catch (error) {
      this.problem = problem(error);
    }
    this.busy = '';
  }

  /** The focus goes where the verdict is, once it is there. */
  updated() {
    const verdict = /** @type {HTMLElement | null} */ (this.follows && this.querySelector('.verdict'));
    if (!verdict) return;
    this.follows = false;
    verdict.focus();
  }

  async approve() {
    if (!this.confirmation.may_decide.name_required) return this.decide({ approve: {} }, 'approve');
    if (this.asking !== 'name') return this.ask('name');
    const typed = /** @type {HTMLInputElement} */ (this.querySelector('[name="tool"]')).value.trim();
    if (typed !== this.confirmation.tool) return this.complain(`This is not the name of the tool: ${this.confirmation.tool}`);
    return this.decide({ approve: { tool: typed } }, 'approve');
  }

  async deny() {
    if (this.asking !== 'deny') return this.ask('deny');
    const reason = /** @type {HTMLTextAreaElement} */ (this.querySelector('[name="reason"]')).value.trim();
    let text = reason;
    if (this.proposal) {
      try {
        text = `${reason ? `${reason}\n` : ''}Arguments that would be approved: ${stringify(parse(this.proposal))}`;
      } catch (error) {
        return this.complain(`The proposal is no JSON: ${/** @type {Error} */ (error).message}`);
      }
    }
    if (!text) return this.complain('Say why, for the caller.');
    if (text.length > LONGEST) return this.complain(`That is ${text.length - LONGEST} characters too long: reason and proposal have ${LONGEST} together.`);
    return this.decide({ deny: { reason: text } }, 'deny');
  }

  /** @param {'name' | 'deny'} asking */
  async ask(asking) {
    this.asking = asking;
    this.complaint = '';
    await this.updateComplete;
    /** @type {HTMLElement | null} */ (this.querySelector('input, textarea'))?.focus();
  }

  /** @param {string} text */
  complain(text) {
    this.complaint = text;
    this.requestUpdate();
  }

  render() {
    const one = this.confirmation;
    if (one.state !== 'PENDING') return this.verdict(one);
    if (instant(one.expires_at) <= now()) return html`<div class="verdict" tabindex="-1" role="status">This call can no longer be decided: its time is over.</div>`;
    const may = one.may_decide ?? { allowed: false, reason: '' };
    return html`<div class="decision" role="group" aria-label="Decision">
      ${problemOf(this.problem)}
      ${may.allowed ? this.form(one) : html`<p class="why" id="rests">You cannot decide: ${shown(may.reason)}.</p>
        <div class="buttons"><button class="yes" disabled aria-describedby="rests">Approve</button>
        <button class="no" disabled aria-describedby="rests">Deny</button></div>`}
    </div>`;
  }

  /** @param {Any} one */
  form(one) {
    const submit = (/** @type {Event} */ event) => {
      event.preventDefault();
      return this.asking === 'deny' ? this.deny() : this.approve();
    };
    return html`<form @submit=${submit} @keydown=${(event) => { if (event.key === 'Escape') this.asking = ''; }}>
      ${this.asking === 'name' ? html`<label>This has high consequences. Type the tool’s name, <code>${one.tool}</code>, to approve
        <input name="tool" autocomplete="off" autocapitalize="none" spellcheck="false" required></label>` : nothing}
      ${this.asking === 'deny' ? html`<label>Why not? The caller, mostly a model, reads this
          <textarea name="reason" rows="3" maxlength=${LONGEST}></textarea></label>
        ${this.proposal ? html`<label>Arguments that you would approve. They are told as text; the caller makes a new call
            <textarea name="proposal" class="code" rows="6" spellcheck="false" .value=${this.proposal}
              @input=${(event) => { this.proposal = event.target.value || ' '; }}></textarea></label>`
          : html`<p><button type="button" class="small" @click=${() => {
            this.proposal = stringify(one.arguments, 2);
            this.requestUpdate();
          }}>Propose other arguments</button></p>`}` : nothing}
      ${this.complaint && this.asking ? html`<p class="complaint" role="alert">${this.complaint}</p>` : nothing}
      <div class="buttons">
        ${this.asking === 'deny' ? nothing : html`<button type="button" class="yes" data-key="1" ?disabled=${Boolean(this.busy)}
          ?data-run=${this.asking === 'name'} @click=${this.approve}>${this.busy === 'approve' ? 'Approving…' : 'Approve'}</button>`}
        ${this.asking === 'name' ? nothing : html`<button type="button" class="no" data-key="2" ?disabled=${Boolean(this.busy)}
          ?data-run=${this.asking === 'deny'} @click=${this.deny}>${this.busy === 'deny' ? 'Denying…' : 'Deny'}</button>`}
        ${this.asking ? html`<button type="button" @click=${() => { this.asking = ''; }}>Back</button>` : nothing}
      </div>
    </form>`;
  }

  /** @param {Any} one */
  verdict(one) {
    const yes = one.state === 'APPROVED' || one.state === 'USED';
    const self = one.decided_by && one.decided_by === store.viewer.user_id ? 'you' : one.decided_by;
    return html`<div class="verdict ${yes ? 'good' : one.state === 'DENIED' ? 'bad' : ''}" tabindex="-1" role="status">
      <strong>${stateName(one.state)}</strong>${self ? html` by ${shown(self)}` : nothing}${one.decided_at ? html`, <tw-when .at=${one.decided_at}></tw-when>` : nothing}
      ${one.on_behalf_of ? html`<br>on behalf of ${shown(one.on_behalf_of)} (as they say)` : nothing}
      ${one.reason ? html`<br>“${shown(one.reason)}”` : nothing}
      ${one.state === 'APPROVED' ? html`<br><span class="quiet">The caller has <tw-left .until=${one.expires_at} .over=${'no time'}></tw-left> left to make the call.</span>` : nothing}
      ${one.used_by_call_id ? html`<br><a href="#/calls/${one.used_by_call_id}">The call that was made</a>` : nothing}
      ${problemOf(this.problem)}</div>`;
  }
}
customElements.define('tw-decision', Decision);
