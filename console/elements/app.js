// The frame of the page: navigation, the state of the connection, the screen of the address, and the dialogs.
import { KEYS, onKey, SCREENS } from '../lib/keys.js';
import { forgetAll, read, setTheme } from '../lib/local.js';
import { session } from '../lib/sign_in.js';
import { Base, html, loading, nothing, properties, route, shown, store } from './parts.js';

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
			<h2 id="keys">Keyboard shortcuts</h2>
			<dl class="facts">${KEYS.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}
				${SCREENS.map(([letter, , title]) => html`<div><dt><kbd>g ${letter}</kbd></dt><dd>${title}</dd></div>`)}</dl>
			<form method="dialog"><button>Close</button></form>
		</dialog>`;
	}
}
customElements.define('tw-help', Help);

/** The element of each screen. @type {Record<string, string>} */
const VIEWS = Object.fromEntries(SCREENS.map(([, screen]) => [screen, `tw-${screen}`]));

/** What a screen shows beside its list; it is loaded when it is first opened. @type {Record<string, string>} */
const CARDS = { approvals: 'approval_card', calls: 'call', tools: 'tool', tasks: 'task' };

/** How often the file of a screen was asked for in vain. @type {Record<string, number>} */
const failures = {};

/** @param {string} file */
async function load(file) {
	try {
		// Some browsers remember a failure by its address. The server takes no query here.
		await import(`../screens/${file}.js${failures[file] ? `#${failures[file]}` : ''}`);
	} catch (error) {
		failures[file] = (failures[file] ?? 0) + 1;
		throw error;
	}
}

class App extends Base {
	static topics = ['viewer', 'connection', 'confirmations', 'tasks'];

	constructor() {
		super();
		this.at = route();
		this.loaded = '';
		this.failed = false;
		/** The screen that is shown. @type {HTMLElement | undefined} */
		this.view = undefined;
		this.replaceChildren();
		addEventListener('hashchange', () => this.go());
		addEventListener('keydown', onKey);
		session.addEventListener('change', this.changed);
		store.addEventListener('confirmations', () => { if (!this.at.screen) this.go(); });
		store.addEventListener('connection', () => { if (this.failed && store.connection === 'live') this.go(); });
		this.go();
	}

	async go() {
		const before = this.at;
		this.at = route();
		this.first('#menu:popover-open')?.hidePopover();
		if (!this.at.screen) {
			// The first screen: approvals while one waits, else the tools.
			if (!store.synced.has('confirmations')) return;
			const first = store.waiting.some((one) => one.may_decide?.allowed) ? 'approvals' : 'tools';
			return location.replace(`#/${first}`);
		}
		const { screen, id } = this.at;
		const title = SCREENS.find(([, name]) => name === screen)?.[2] ?? 'Not found';
		document.title = `${title}${id ? `: ${id}` : ''} · Toolwire`;
		let failed = false;
		const files = [VIEWS[screen] && screen, id && CARDS[screen]].filter(Boolean);
		await Promise.all(files.map(load)).catch(() => { failed = true; });
		// Another screen may have been asked for meanwhile.
		if (screen !== this.at.screen) return;
		this.failed = failed;
		this.loaded = screen;
		this.requestUpdate();
		await this.updateComplete;
		if (before.screen && before.screen !== screen) this.querySelector('main')?.focus();
	}

	render() {
		/** @type {Record<string, number>} */
		const counts = { approvals: store.waiting.filter((one) => one.may_decide?.allowed).length,
			tasks: store.questions.length };
		const [other] = Object.keys(counts).filter((screen) => counts[screen] && screen !== this.at.screen);
		const link = (/** @type {readonly string[]} */ [letter, screen, title]) =>
			html`<a href="#/${screen}" title="g ${letter}"
			aria-current=${this.at.screen === screen ? 'page' : nothing}>${title}${counts[screen]
				? html` <span class="count" aria-label="${counts[screen]} wait">${counts[screen]}</span>` : nothing}</a>`;
		return html`<a class="skip" href="#content" @click=${this.skip}>Skip to content</a>
			<header class="top">
				<a class="brand" href="#/"><img src="icon.svg" alt="" width="22" height="22"> Toolwire</a>
				<nav aria-label="Screens">${SCREENS.map(link)}</nav>
				${other ? html`<a class="wait-link" href="#/${other}">${counts[other]} to
					${other === 'tasks' ? 'answer' : 'approve'}</a>` : nothing}
				${this.connection()}
				<button class="menu-button" popovertarget="menu" aria-label="Menu">${store.viewer.user_id ?
					html`<span class="who">${shown(store.viewer.user_id)}</span>` : nothing} ☰</button>
				<div id="menu" popover>${this.menu(link)}</div>
			</header>
			<main id="content" tabindex="-1">${this.content()}</main>
			<tw-sign-in></tw-sign-in><tw-help></tw-help>`;
	}

	content() {
		const again = (/** @type {string} */ why, /** @type {() => void} */ run) => html`<p class="empty"
			role="alert">${why} <button @click=${run}>Try again</button></p>`;
		if (store.connection === 'lost' && !store.viewer.user_id) {
			// As when the network returns: the pause before the next attempt ends.
			return again(store.connectionError, () => dispatchEvent(new Event('online')));
		}
		if (!this.at.screen) return html`<p class="empty" role="status">Connecting…</p>`;
		if (this.failed) return again('This part of the page could not be loaded.', () => this.go());
		if (!VIEWS[this.at.screen]) return html`<p class="empty">There is no such screen. <a
			href="#/approvals">Approvals</a></p>`;
		if (this.loaded !== this.at.screen) return loading();
		const name = VIEWS[this.at.screen];
		if (this.view?.localName !== name) this.view = document.createElement(name);
		return Object.assign(this.view, { at: this.at });
	}

	connection() {
		const { connection, connectionError, lostAt } = store;
		if (connection === 'live') return html`<span class="connection live" role="status"
			title="Changes are shown as they happen"><span>Live</span></span>`;
		if (connection === 'connecting') return html`<span class="connection"
			role="status"><span>Connecting…</span></span>`;
		return html`<span class="connection lost" role="status" title=${connectionError}><span><span class="who">connection
			</span>lost <tw-when aria-hidden="true" .at=${new Date(lostAt).toISOString()}></tw-when><span class="who">; trying
			again</span></span></span>`;
	}

	/** @param {(screen: readonly string[]) => any} link */
	menu(link) {
		const theme = read('theme');
		const { user_id: user, observes, approves } = store.viewer;
		return html`<nav aria-label="All screens">${SCREENS.map(link)}</nav>
			${user ? html`<p>You are <b>${shown(user)}</b>.<br><span
				class="quiet">${observes ? 'You see all users’ calls.' : 'You see your own calls.'}
				${approves ? 'You may approve calls of others.' : ''}</span></p>` : nothing}
			${session.console.sign_in === 'none' ? html`<form @submit=${this.actAs}><label>Act as
					<input name="user" autocomplete="off" placeholder=${user ?? 'user'} .value=${session.user}></label>
						<button>Change</button></form>`
				: session.token ? html`<p><button @click=${this.signOut}>Sign out</button></p>` : nothing}
			<fieldset class="theme"><legend>Theme</legend>${[['', 'System'], ['light', 'Light'],
				['dark', 'Dark']].map(([value, name]) => html`<label>
				<input type="radio" name="theme" .checked=${theme === value} @change=${() => setTheme(value)}>
					${name}</label>`)}</fieldset>
			<p><button @click=${() => /** @type {any} */ (this.querySelector('tw-help')).show()}>Keyboard
				shortcuts</button></p>
			<p class="quiet">Toolwire ${session.console.version ?? ''}</p>`;
	}

	signOut() {
		// All that the page knows of the user goes with it.
		forgetAll();
		location.reload();
	}

	/** @param {Event} event */
	actAs(event) {
		event.preventDefault();
		session.actAs(String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('user') ?? ''));
		this.first('#menu')?.hidePopover();
	}

	/** @param {Event} event */
	skip(event) {
		event.preventDefault();
		this.querySelector('main')?.focus();
	}
}
customElements.define('tw-app', App);
