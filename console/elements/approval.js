// Approvals in words: where one stands, and what could be taken for it.
import { badge, hour, html, instant, isInner, link, marked, member, nothing, shown, stateName, store, text, until } from
	'./parts.js';

/** So many calls and values are compared. */
const MOST = 50;
/** The leaves of arguments: lists compare each with others. @type {WeakMap<object, Map<string, string>>} */
const known = new WeakMap();

/** Whether a call was approved, but not made before that ended. @param {Any} one */
const isLost = (one) => one.decided_by && /^(EXP|VOI|WIT)/.test(one.state);

/** @param {Any} one */
export const approval = (one) => badge(one.state, one.state === 'APPROVED' ? 'approved, not made' :
	isLost(one) ? 'approved, not used' : undefined);

/** Where a call stands; one that asked for approval, as that does. @param {Any} call */
export function standing({ state, confirmation_id: id }) {
	const one = state === 'AWAITING_CONFIRMATION' && store.confirmations.get(id);
	return !one ? badge(state) : one.state === 'PENDING' ? badge(state, 'waits for approval') : approval(one);
}

/** Who decided when, and what follows. @param {Any} one */
export function decided(one) {
	const { state, decided_by: by } = one;
	const { user_id: me } = store.viewer;
	return html`<strong>${isLost(one) ? 'approved' : stateName(state)}</strong>${by
		? html` by ${by === me ? 'you' : shown(by)}, ${hour(instant(one.decided_at))}` : nothing}${isLost(one)
		? `, not used: ${stateName(state)}` : ''}
		${one.on_behalf_of ? html`<br>on behalf of ${shown(one.on_behalf_of)} (as they say)` : nothing}
		${one.reason ? html`<br><span class="whole">“${shown(one.reason)}”</span>` : nothing}
		${state === 'APPROVED' ? html`<br>Not carried out yet: ${one.user_id === me ? 'you' : 'the caller'} must repeat
			it, ${until(one.expires_at)}. ${one.user_id === me && !one.task_id && !one.path[1] ? html`<a class="button main"
				href=${link('tools', one.tool, { confirmation: one.confirmation_id, request: one.request_id })}>Make the
				call</a>` : nothing}` : nothing}
		${one.used_by_call_id ? html`<br><a href="#/calls/${one.used_by_call_id}">The call that was made</a>` : nothing}`;
}

/** The texts of what holds no other values, by pointer. @param {any} value */
function leaves(value) {
	const found = known.get(value) ?? new Map();
	if (found.size) return found;
	/** @param {any} one @param {string} path */
	const walk = (one, path) => {
		if (!isInner(one)) found.set(path, text(one));
		else for (const key of Object.keys(one)) if (found.size < MOST) walk(one[key], member(path, key));
	};
	walk(value, '');
	if (isInner(value)) known.set(value, found);
	return found;
}

/** @param {any} value @param {any} other @returns {Differences} */
function differences(value, other) {
	const [mine, its] = [leaves(value), leaves(other)];
	return new Map([...mine, ...its].map(([path]) => /** @type {const} */ ([path, [mine.get(path) ?? 'nothing',
		its.get(path) ?? 'nothing']])).filter(([, [one, two]]) => one !== two));
}

/** Other calls of its tool that wait, the most alike first, and how it differs from each. @param {Any} one */
export const alike = (one) => (one.state !== 'PENDING' ? [] : [...store.confirmations.values()].filter((other) =>
	other.state === 'PENDING' && other.tool === one.tool && other.confirmation_id !== one.confirmation_id).slice(0, MOST)
	// A list leaves out long arguments.
	.map((other) => ({ other, differs: differences(one.arguments ?? other.arguments, other.arguments ??
		one.arguments) }))
	.sort((a, b) => a.differs.size - b.differs.size));

/** @param {Any} one @param {Any} other */
const isEqual = (one, other) => one.arguments_digest === other.arguments_digest;

/** A pointer as people write it. @param {string} pointer */
const dotted = (pointer) => html`<code>${shown(pointer.slice(1).replaceAll('/', '.'))}</code>`;

/** A call in a list: its first arguments, and those that differ from the most alike call. @param {Any} one */
export function inShort(one) {
	const [near] = alike(one);
	const all = [...leaves(one.arguments)].filter(([path], index) => index < 8 || near?.differs.has(path));
	return html`${near ? html`<span class="breach">${isEqual(one, near.other) ? 'An equal call waits.' :
		'Another call of it waits. Marked: what differs.'}</span>` : nothing}
		${one.arguments ? all.map(([path, value]) => html`<span class="given">${dotted(path)}
			${marked(value, near?.differs.get(path)?.[1])}</span>`) : shown(one.summary)}`;
}

/** @param {Any} one */
const see = (one) => html`<a href=${link('approvals', one.confirmation_id)}>See it</a>`;

/** The notice that an equal call is approved already. @param {Any} one @param {any} args Its own, or others. */
export function approvedBefore(one, args) {
	const other = [...store.confirmations.values()].find(({ tool, state, ...rest }) => tool === one.tool &&
		/^(APPROVED|USED)$/.test(state) && (args === one.arguments ? isEqual(one, rest) :
			!differences(args, rest.arguments).size));
	return other ? html`<p class="notice"><b>An equal call by ${shown(other.user_id)} was approved already.</b>
		${see(other)}</p>` : nothing;
}

/** What could be taken for a call that waits. @param {Any} one */
export const warnings = (one) => (one.state !== 'PENDING' ? nothing : html`${alike(one).slice(0, 3)
	.map(({ other, differs }) => html`<p class="notice">
		<b>Another call of ${one.tool} by ${shown(other.user_id)} waits.</b>
		${isEqual(one, other) ? 'Its arguments are the same.' : html`It differs in ${[...differs].slice(0, 4).map(([path,
			[mine, its]]) => html`${dotted(path)}: ${marked(its, mine)} (here ${marked(mine, its)}); `)}${
			differs.size > 4 || !differs.size ? 'other values.' : ''}`} ${see(other)}</p>`)}
	${approvedBefore(one, one.arguments)}`);
