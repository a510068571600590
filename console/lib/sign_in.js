// Who the page acts as. Tokens stay in memory; sessionStorage has what a sign-in at an issuer needs on its way back.

const CHANNEL = 'toolwire-sign-in';

/** @param {ArrayBuffer | Uint8Array} bytes */
const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
	.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const here = () => location.origin + location.pathname;

class Session extends EventTarget {
	/** @type {any} The answer of `/v1/console`. */
	console = { sign_in: 'none', issuers: [] };
	user = '';
	/** The user whose data the page shows. */
	owner = '';
	token = '';
	refreshToken = '';
	/** @type {Issuer | undefined} */
	issuer;
	/** Whether the server has accepted a sign-in in this tab. */
	isKnown = false;
	/** Changes with each sign-in. */
	credentials = 0;
	/** Why a sign-in is asked for; empty while none is. */
	question = '';
	/** @type {PromiseWithResolvers<void> | undefined} */
	waiting;

	/** @returns {Record<string, string>} */
	headers() {
		if (this.token) return { authorization: `Bearer ${this.token}` };
		return this.console.sign_in === 'none' && this.user ? { 'x-toolwire-user': this.user } : {};
	}

	/** Waits until there are other credentials than those that were refused. @param {number} used */
	async renew(used) {
		if (used !== this.credentials) return;
		if (this.refreshToken && await this.refresh()) return;
		this.ask(!this.token ? 'Sign in to go on.' : this.isKnown
			? 'Your sign-in has ended. Sign in again to go on; nothing that you typed is lost.' :
				'The server did not accept this token. Check that it is whole and not expired.');
		await this.waiting?.promise;
	}

	/** @param {string} question */
	ask(question) {
		this.question = question;
		this.waiting ??= Promise.withResolvers();
		this.dispatchEvent(new Event('change'));
	}

	/** Takes over a token. @param {string} token @param {string} [refreshToken] */
	accept(token, refreshToken = '') {
		this.token = token.trim();
		this.refreshToken = refreshToken;
		this.credentials += 1;
		this.question = '';
		this.waiting?.resolve();
		this.waiting = undefined;
		this.dispatchEvent(new Event('change'));
	}

	/** Acts as another user of a server without sign-in. @param {string} user */
	actAs(user) {
		this.user = user.trim();
		this.credentials += 1;
		this.dispatchEvent(new Event('change'));
	}

	/** @param {Issuer} issuer @returns {Promise<any>} */
	async endpoints(issuer) {
		const response = await fetch(`${issuer.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
		if (!response.ok) throw new
			Error(`${issuer.issuer} does not say where to sign in: it answered ${response.status}.`);
		return response.json();
	}

	/**
	 * Goes to an issuer: in this window, or where input would be lost in another one.
	 * @param {Issuer} issuer
	 * @param {boolean} apart
	 */
	async begin(issuer, apart) {
		const popup = apart ? open('', '_blank', 'popup,width=480,height=680') : null;
		const { authorization_endpoint: endpoint } = await this.endpoints(issuer);
		const [verifier, nonce, state] = [random(), random(), `${popup ? 'w' : 'p'}.${random()}`];
		sessionStorage.setItem(state, JSON.stringify({ verifier, nonce, issuer, hash: location.hash }));
		const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
		const url = new URL(endpoint);
		const parameters = { response_type: 'code', client_id: issuer.client_id, redirect_uri: here(),
			scope: issuer.scopes.join(' '), state, nonce, code_challenge: base64url(digest), code_challenge_method: 'S256',
			...(issuer.resource && { resource: issuer.resource }) };
		for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
		if (!popup) return location.assign(url);
		popup.location.replace(url);
		const channel = new BroadcastChannel(CHANNEL);
		channel.onmessage = ({ data }) => {
			if (new URLSearchParams(data).get('state') !== state) return;
			channel.close();
			this.finish(data).catch((error) => this.ask(error.message));
		};
	}

	/**
	 * Takes over what an issuer sent back in the address of the page.
	 * @param {string} search
	 * @returns {Promise<'none' | 'elsewhere' | 'done'>} `elsewhere` if another window waits for it.
	 */
	async finish(search) {
		const answer = new URLSearchParams(search);
		const state = answer.get('state') ?? '';
		if (!state || !(answer.has('code') || answer.has('error'))) return 'none';
		if (state.startsWith('w.') && location.search === search) {
			new BroadcastChannel(CHANNEL).postMessage(search);
			window.close();
			return 'elsewhere';
		}
		const begun = JSON.parse(sessionStorage.getItem(state) ?? 'null');
		sessionStorage.removeItem(state);
		if (location.search === search) history.replaceState(null, '', location.pathname + (begun?.hash || location.hash));
		if (!begun) throw new Error('This sign-in did not begin in this tab. Sign in again.');
		if (answer.has('error')) throw new Error(answer.get('error_description') ||
			`The sign-in was refused: ${answer.get('error')}.`);
		if (answer.has('iss') && answer.get('iss') !== begun.issuer.issuer) throw new
			Error('Another issuer answered. Sign in again.');
		this.issuer = begun.issuer;
		await this.exchange({ grant_type: 'authorization_code', code: answer.get('code') ?? '', redirect_uri: here(),
			code_verifier: begun.verifier }, begun.nonce);
		return 'done';
	}

	/** @param {Record<string, string>} parameters @param {string} [nonce] */
	async exchange(parameters, nonce) {
		const issuer = /** @type {Issuer} */ (this.issuer);
		const { token_endpoint: endpoint } = await this.endpoints(issuer);
		const body = new URLSearchParams({ client_id: issuer.client_id, ...parameters });
		if (issuer.resource) body.set('resource', issuer.resource);
		const response = await fetch(endpoint, { method: 'POST', body });
		const answer = await response.json().catch(() => ({}));
		if (!response.ok || !answer.access_token) {
			throw new Error(answer.error_description || `${issuer.issuer} gave no token: it answered ${response.status}.`);
		}
		if (nonce && answer.id_token) {
			const claims = JSON.parse(atob(answer.id_token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
			if (claims.nonce !== nonce) throw new
				Error('The answer of the issuer belongs to another sign-in. Sign in again.');
		}
		this.accept(answer.access_token, answer.refresh_token ?? parameters.refresh_token);
	}

	async refresh() {
		try {
			await this.exchange({ grant_type: 'refresh_token', refresh_token: this.refreshToken });
			return true;
		} catch {
			this.refreshToken = '';
			return false;
		}
	}
}

export const session = new Session();
