// Chat: a conversation with the server's agent. Its calls lead to their stages, and what waits for a person to its
// approval.
import { chat } from '../lib/chat.js';
import { badge, html, lasting, link, nothing, NOWHERE, problemOf, properties, replace, shown, span,
	words } from '../elements/parts.js';
import { markdown } from '../elements/markdown.js';

const LONGEST = 16_384;

class ChatScreen extends properties({ at: NOWHERE }) {
	isAtEnd = true;

	connectedCallback() {
		super.connectedCallback();
		chat.addEventListener('change', this.changed);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		chat.removeEventListener('change', this.changed);
	}

	/** @param {Changed} changed */
	willUpdate(changed) {
		const { id } = this.at;
		const log = this.first('.log');
		this.isAtEnd = !log || log.scrollTop + log.clientHeight > log.scrollHeight - 60;
		// An address names the conversation, so that it is taken up after the page was loaded again.
		if (changed.has('at') && id && id !== chat.session && !chat.running) chat.begin(id);
		else if (chat.session && id !== chat.session) queueMicrotask(() => {
			if (this.isConnected) replace(link('chat', chat.session));
		});
	}

	updated() {
		const log = this.first('.log');
		if (this.isAtEnd) log.scrollTop = log.scrollHeight;
	}

	/** @param {any} event */
	submit(event) {
		event.preventDefault();
		const field = this.first('textarea');
		const message = field.value.trim();
		if (!message || chat.running) return;
		field.value = '';
		this.isAtEnd = true;
		chat.say(message);
	}

	/** @param {KeyboardEvent} event */
	onKey(event) {
		if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) this.submit(event);
	}

	beginAnew() {
		chat.begin('');
		replace(link('chat'));
		this.first('textarea').focus();
	}

	render() {
		const { turns, running, session } = chat;
		return html`<div class="chat">
			<div class="bar"><h1>Chat</h1>${session ? html`<button class="small end" @click=${this.beginAnew}>New
				conversation</button>` : nothing}</div>
			<div class="log" role="log" aria-label="Conversation" tabindex="0">${turns.map((turn) => this.turn(turn))}${
				turns.length ? nothing : html`<p class="empty">${session ?
					'The server remembers this conversation; this tab does not show it.'
					: 'Ask in your own words.'} <span>The server’s agent answers by the
					<a href="#/tools">tools</a> that you may call. Its calls are listed here; what a person must approve waits for
					that.</span></p>`}</div>
			<form @submit=${this.submit}><label>Your message <textarea rows="2" data-search maxlength=${LONGEST}
					@keydown=${this.onKey}></textarea></label>
				${running ? html`<button type="button" class="no" @click=${() => chat.stop()}>Stop</button>`
					: html`<button class="main" data-run>Send</button>`}</form>
		</div>`;
	}

	/** @param {Turn} turn */
	turn(turn) {
		const { state, text, reply, calls, pending, problem, alerts, progress } = turn;
		const isLast = turn === chat.turns.at(-1);
		const cite = (/** @type {string} */ source) => {
			const call = reply?.sources.find((/** @type {Any} */ one) => one.source_id === source)?.call_id;
			return call ? html`<a class="quiet" href=${link('calls', call)}>[${source}]</a>` : shown(`[${source}]`);
		};
		return html`<section class="turn" aria-busy=${state === 'running'}>
			<p class="question">${shown(turn.message)}</p>
			${calls.length ? html`<ul class="plain">${calls.map(called)}</ul>` : nothing}
			${alerts.map((alert) => html`<p class="notice bad"><b>${shown(alert.source)}</b> ${shown(alert.message)}</p>`)}
			${markdown(text, cite)}
			${reply?.warnings?.map((/** @type {string} */ warning) => html`<p class="quiet">${shown(warning)}</p>`)}
			${reply && reply.outcome !== 'ANSWERED' ? html`<p><span class="badge wait">${words(reply.outcome)}</span></p>`
				: nothing}
			${isLast && reply?.proposal && !chat.running ? html`<p class="buttons"><button class="main"
				@click=${() => chat.say('yes')}>Yes</button> <span class="quiet">or say what is different</span></p>` : nothing}
			${state === 'running' ? html`<p class="quiet" role="status">${shown(progress || 'Working…')}</p>`
				: state === 'stopped' ? html`<p class="quiet">You stopped it. A write that had begun may still finish.</p>`
				: nothing}
			${pending.map(({ tool, confirmation_required: one }) => html`<div class="notice"><b>A person must approve
				${tool}.</b> ${shown(one.summary)}<p><a href=${link('approvals', one.confirmation_id)}>Open the approval</a>
				<span class="quiet">The turn goes on by itself once it is decided; <tw-left .until=${one.expires_at}
					.after=${' left'}></tw-left>.</span></p></div>`)}
			${problemOf(problem, isLast ? () => chat.run(turn) : undefined)}</section>`;
	}
}
customElements.define('tw-chat', ChatScreen);

/** @param {Any} call */
const called = ({ call_id: id, tool, result, confirmation_required: waits, duration }) => html`<li class="line">
	<a href=${link('calls', id)}>${tool}</a> ${waits ? badge('AWAITING_CONFIRMATION') : !result ? badge('RUNNING')
		: result.error ? badge('FAILED', words(result.error.code)) : badge('SUCCEEDED')}
	<span class="end took quiet">${duration ? lasting(span(duration)) : ''}</span></li>`;
