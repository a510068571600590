// The keyboard: what each key does is said once, here and in the help that `?` shows. Elements mark what a key is for.

/** The screens by their letter after `g`. */
export const SCREENS = /** @type {const} */ ([
	['a', 'approvals', 'Approvals'], ['s', 'tasks', 'Tasks'], ['h', 'chat', 'Chat'],
	['o', 'overview', 'Overview'], ['c', 'calls', 'Calls'], ['l', 'limits', 'Limits'], ['u', 'audit', 'Audit'],
	['t', 'tools', 'Tools'], ['p', 'providers', 'Providers'], ['n', 'connect', 'Connect'],
]);

export const KEYS = [
	['/', 'search, or write'], ['g, then a letter', 'go to a screen'], ['j, k', 'down, up in a list'], ['Enter', 'open'],
	['Esc', 'back to the list'], ['1', 'approve'], ['2', 'deny'], ['Ctrl + Enter', 'run, or send'], ['?', 'this list'],
];

let afterG = 0;

/** @param {EventTarget | null} target */
const isTyping = (target) => target instanceof HTMLElement && (target.isContentEditable ||
	['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName) &&
		!['checkbox', 'radio'].includes(/** @type {any} */ (target).type));

/** The first element that is shown and marked so. @param {string} selector */
const seen = (selector) => /** @type {HTMLElement | undefined} */ (
	[...document.querySelectorAll(selector)].find((one) => one.checkVisibility()));

/** @param {KeyboardEvent} event */
export function onKey(event) {
	if (event.defaultPrevented || event.isComposing) return;
	if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) return press(event, '[data-run]');
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	if (document.querySelector('dialog[open]')) return;
	if (event.key === 'Escape') {
		if (isTyping(event.target)) return /** @type {HTMLElement} */ (event.target).blur();
		return press(event, '[data-back]');
	}
	if (isTyping(event.target)) return;
	if (Date.now() - afterG < 1_500) {
		afterG = 0;
		const screen = SCREENS.find(([letter]) => letter === event.key)?.[1];
		if (screen) {
			event.preventDefault();
			location.hash = `#/${screen}`;
		}
		return;
	}
	if (event.key === 'g') afterG = Date.now();
	else if (event.key === '/') {
		const search = seen('[data-search]');
		if (search) event.preventDefault();
		search?.focus();
	} else if (event.key === 'j' || event.key === 'k') {
		const rows = /** @type {any} */ (seen('tw-rows'));
		if (rows) event.preventDefault();
		rows?.move(event.key === 'j' ? 1 : -1);
	} else if (event.key === '?') /** @type {any} */ (document.querySelector('tw-help'))?.show();
	else if ((event.key === '1' || event.key === '2') && !event.repeat) press(event, `[data-key="${event.key}"]`);
}

/** @param {KeyboardEvent} event @param {string} selector */
function press(event, selector) {
	// The one of the form that has the focus first.
	const button = /** @type {HTMLElement | null | undefined} */ (/** @type {Element} */ (event.target).closest('form')
		?.querySelector(selector)) ?? seen(selector);
	if (!button) return;
	event.preventDefault();
	button.click();
}
