// The sign-in, and the list of keys.
import { KEYS, SCREENS } from '../lib/keys.js';
import { session } from '../lib/sign_in.js';
import { Base, html, nothing, properties } from './parts.js';

class SignIn extends properties({ failure: '' }) {

	constructor() {
		super();
		session.addEventListener('change', this.changed);
	}

	/** @param {Issuer} issuer */
	async begin(issuer) {
		this.failure = '';
		try {
			await session.begin(issuer, session.isKnown);
		} catch (error) {
			this.failure = `${/** @type {Error} */ (error).message} A token signs in too.`;
		}
	}

	/** @param {Event} event */
	submit(event) {
		event.preventDefault();
		const form = /** @type {HTMLFormElement} */ (event.target);
		const token = String(new FormData(form).get('token') ?? '');
		form.reset();
		if (token.trim()) session.accept(token);
	}

	updated() {
		const dialog = this.first('dialog');
		if (session.question && !dialog.open) dialog.showModal();
		if (!session.question && dialog.open) dialog.close();
	}

	render() {
		const { issuers } = session.console;
		return html`<dialog aria-labelledby="sign-in" @cancel=${(event) => event.preventDefault()}>
			<h2 id="sign-in">Sign in</h2>
			<p class=${session.token && !session.isKnown ? 'complaint' : ''}>${session.question}</p>
			${this.failure ? html`<p class="notice bad" role="alert">${this.failure}</p>` : nothing}
			${issuers.map((/** @type {any} */ issuer) => html`<p><button class="main"
				@click=${() => this.begin(issuer)}>Sign in
				at ${new URL(issuer.issuer).host}</button></p>`)}
			<form @submit=${this.submit}>
				<label>${issuers.length ? 'Or by a token' : 'Your token'}
					<input type="password" name="token" autocomplete="off" spellcheck="false" required></label>
				<button class=${issuers.length ? '' : 'main'}>Sign in</button>
				<p class="quiet">It is kept in this tab’s memory and is forgotten when the tab is closed or loaded again.
					A token is what your operator gave you, or what <code>toolwire login</code> stores.</p>
			</form>
		</dialog>`;
	}
}
customElements.define('tw-sign-in', SignIn);

class Help extends Base {
	show() {
		this.first('dialog').showModal();
	}

	render() {
		return html`<dialog aria-labelledby="keys">
			<h2 id="keys">Keys</h2>
			<dl class="facts">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
				${SCREENS.map(([letter, , title]) => html`<div><dt><kbd>g ${letter}</kbd></dt><dd>${title}</dd></div>`)}</dl>
			<form method="dialog"><button>Close</button></form>
		</dialog>`;
	}
}
customElements.define('tw-help', Help);
