// Begins: the theme, who the page acts as, then the elements. Screens are loaded when they are shown.
import './elements/app.js';
import { get, VIEWER } from './lib/api.js';
import { read, setTheme } from './lib/local.js';
import { session } from './lib/sign_in.js';
import { store } from './lib/store.js';

setTheme(read('theme'));

/** Takes over other credentials: those of the same user go on with what is known. */
async function change() {
	if (session.console.sign_in !== 'none' && (await get(VIEWER)).user_id === store.viewer.user_id) return;
	// Nothing that an element shows or asks for is of the user before.
	document.querySelector('tw-app')?.replaceWith(document.createElement('tw-app'));
	await store.start();
}

/** @param {Error} error */
function fail(error) {
	if (error.name === 'AbortError') return;
	store.connection = 'lost';
	store.connectionError = error.message;
	store.tell('connection');
}

async function begin() {
	const response = await fetch('/v1/console', { cache: 'no-store' });
	if (!response.ok) throw new Error(`The server answered ${response.status} to /v1/console.`);
	session.console = await response.json();
	let failure = '';
	try {
		if (await session.finish(location.search) === 'elsewhere') return;
	} catch (error) {
		failure = /** @type {Error} */ (error).message;
	}
	if (session.console.sign_in !== 'none' && !session.token) {
		session.ask(failure || 'Sign in to go on.');
		await session.waiting?.promise;
	}
	let known = session.credentials;
	session.addEventListener('change', () => {
		if (session.credentials === known || session.question || !store.viewer.user_id) return;
		known = session.credentials;
		change().catch(fail);
	});
	await store.start();
}

begin().catch(fail);
