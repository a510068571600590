// A task in words: its role and state, its timeline, in short or in full, and what a model is shown of it.
import { badge, html, link, nothing, outside, plural, shown, stateName, store, stringify, when, words } from
	'./parts.js';
import './arguments.js';

/** @type {Record<string, string>} */
const BLOCKED = { CHILD: 'waits for a task', QUESTION: 'waits for an answer', AUTHORIZATION: 'waits for credentials',
	UNKNOWN_OUTCOME: 'a write’s end is not known' };

/** A task's state in words, or what it waits for. @param {Any} task */
export const stateOf = ({ state, kind, block_reason: reason }) => BLOCKED[reason] ?? (state !== 'PENDING'
	? stateName(state) : kind === 'QUESTION' ? 'waits for you' : 'not begun');

/** A task's state, and which worker it is for. @param {Any} task */
export const badgesOf = (task) => html`${badge(task.state, stateOf(task))} ${task.role
	? html`<span class="badge">${shown(task.role)}</span>` : nothing}`;

/** The parts of an entry that are shown in full alone. */
const DETAILS = ['input', 'result', 'error', 'documents', 'provenance'];
const BRIEF = 160;

/**
 * What an entry is, what it says, what it holds, and its tone.
 * @param {Any} entry
 * @returns {[string, string, Any, string?]}
 */
function said({ created, started, message, tool_call: call, answer, decision, ended }) {
	if (created) return ['begins', created.request, created];
	if (started) return ['taken over', `by ${started.holder}`, {}];
	if (message) return [message.role === 'USER' ? 'user' : 'agent', message.text, {}];
	if (call) {
		return [call.tool, call.error?.message || call.status || brief(call.result ?? call.input), call,
			call.error ? 'failed' : ''];
	}
	const part = answer ?? decision;
	if (part) return [answer ? 'answer' : 'decision', `${part.status} ${part.error?.message ?? brief(part.result)}`,
		part];
	return [words(ended?.state ?? 'ended'), ended?.message || brief(ended?.result), ended ?? {}];
}

/** @param {any} content */
const same = (content) => content;

/** @param {any} value */
const brief = (value) => (value === undefined ? '' : stringify(value));

/**
 * @param {Any[]} entries
 * @param {boolean} isFull
 * @param {(sequence: number) => void} load Loads an entry whose long parts are kept apart.
 */
export const timeline = (entries, isFull, load) => html`<ol class="timeline">${entries.map((entry) => {
	const { tool_call: call } = entry;
	const [what, text, part, tone = ''] = said(entry);
	const held = Object.fromEntries(Object.entries(part).filter(([name, value]) => DETAILS.includes(name) && value &&
		!['[]', '{}'].includes(stringify(value))));
	const apart = part.kept_apart ?? [];
	// Of a tool that is gone it is not known.
	const framed = call?.result && (store.tools.get(call.tool)?.untrusted ?? true) ? outside : same;
	return html`<li class=${tone}><div class="line"><b>${shown(what)}</b>
			<span class="end quiet">${entry.call_id ? html`<a href=${link('calls', entry.call_id)}>call</a> · ` :
				nothing}${when(entry.timestamp)}</span></div>
		${framed(html`<div class=${isFull ? 'whole' : 'summary'}>${shown(isFull || text.length <= BRIEF ? text
			: `${text.slice(0, BRIEF)}…`)}</div>
		${isFull && Object.keys(held).length ? html`<tw-json .value=${held} .open=${3}></tw-json>` : nothing}`)}
		${isFull && apart.length ? html`<button class="small" @click=${() => load(entry.sequence)}>Load its
			${apart.map((/** @type {Any} */ { part: name, size_bytes: size }) => `${name} (${plural(size, 'byte')})`)
				.join(' and ')}</button>` : nothing}</li>`;
})}</ol>`;

/** What a model is shown. @param {Any} rendering */
export const asSeen = ({ system, messages, tokens, cuts }) => html`<p class="quiet">${plural(tokens, 'token')} of the
	default budget. ${cuts.length ? html`Left out: ${shown(cuts.join('; '))}.` : 'Nothing was left out.'}</p>
	${system ? html`<h3>System</h3>${block({ text: system })}` : nothing}
	${messages.map((/** @type {Any} */ { role, blocks }) => html`<h3>${words(role)}</h3>${blocks.map(block)}`)}`;

/** @param {Any} one */
function block({ text, tool_use: use, tool_result: result, document: page, opaque, tokens = 0 }) {
	const [what, content] = use ? [`calls ${use.tool}`, stringify(use.input, 2)]
		: result ? [`${result.tool} ${result.is_error ? 'failed' : 'answers'}`, result.content]
		: page ? [`document ${page.path}, version ${page.version}`, page.text || `${page.mime_type}, as bytes`]
		: ['', text ?? `${opaque?.provider}: bytes that only it reads`];
	const cut = (result ?? page)?.tokens_cut;
	return html`${what ? html`<p class="quiet">${shown(what)}${cut ? `, ${plural(cut, 'token')} left out` : ''}</p>` :
		nothing}
		<pre class="wrap" tabindex="0" title=${plural(tokens, 'token')}>${shown(content)}</pre>`;
}
