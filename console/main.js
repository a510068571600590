// Begins: the theme, who the page acts as, then the elements. Screens are loaded when they are shown.
import './elements/app.js';
import { get, VIEWER } from './lib/api.js';
import { pause } from './lib/events.js';
import { read, setTheme } from './lib/local.js';
import { session } from './lib/sign_in.js';
import { store } from './lib/store.js';

setTheme(read('theme'));

let known = 0;

/** Takes over other credentials: those of the same user go on with what is known. */
async function change() {
	if (session.console.sign_in !== 'none' && (await get(VIEWER)).user_id === store.viewer.user_id) return;
	// Nothing that an element shows or asks for is of the user before.
	document.querySelector('tw-app')?.replaceWith(document.createElement('tw-app'));
	await store.start();
}

session.addEventListener('change', () => {
	if (session.credentials === known || session.question || !store.viewer.user_id) return;
	known = session.credentials;
	insist(change);
});

async function begin() {
	session.console = await get('/v1/console');
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
	known = session.credentials;
	await store.start();
}

/** Does it again until the server answers. @param {() => Promise<void>} work */
async function insist(work) {
	for (let failures = 0; ; failures += 1) {
		try {
			return await work();
		} catch (error) {
			if (/** @type {Error} */ (error).name === 'AbortError') return;
			store.report('lost', /** @type {Error} */ (error));
		}
		await pause(failures);
	}
}

insist(begin);
