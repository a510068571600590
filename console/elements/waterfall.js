// What a call did when, against its deadline: a bar for each stage and each call beneath it. Waiting is squeezed, so
// that work is seen beside it.
import { css, html, instant, lasting, link, nothing, now, plural, properties, span, words } from './parts.js';

/** @type {Record<string, [string, string]>} */
const STAGES = {
	RECEIVED: ['received', 'The request was read.'],
	CHECKING: ['checked', 'Right and arguments were checked.'],
	AWAITING_CONFIRMATION: ['approval', 'It waited for a person.'],
	AWAITING_PERMIT: ['permit', 'It waited for a quota or a permit of its user.'],
	RECORDING: ['recorded', 'Its beginning was recorded.'],
	EXECUTING: ['executed', 'The tool worked.'],
	REQUESTING: ['request', 'A request went to the source.'],
	COMMITTING: ['committed', 'The outcome was recorded.'],
};
/** Waiting has at most this share of the width that work has. */
const SQUEEZED = 0.15;

class Waterfall extends properties({
	call: /** @type {Any} */ ({}), stages: /** @type {Any[]} */ ([]), nested: /** @type {Any[]} */ ([]),
}) {
	connectedCallback() {
		super.connectedCallback();
		this.timer = setInterval(() => this.call.ended_at || this.requestUpdate(), 250);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		clearInterval(this.timer);
	}

	/** @param {number} end @returns {Bar[]} */
	bars(end) {
		let attempts = 0;
		const bars = this.stages.map(({ type, time }, index) => {
			const [name, told] = STAGES[type] ?? [words(type), ''];
			const isRequest = type === 'REQUESTING';
			if (isRequest) attempts += 1;
			// An execution goes on while its requests do.
			const next = this.stages.slice(index + 1).find((one) => type !== 'EXECUTING' || one.type !== 'REQUESTING');
			return { type, name: isRequest ? `request ${attempts}` : name, words: told, from: instant(time),
				to: instant(next?.time) || end, depth: Number(isRequest) };
		});
		const nested = this.nested.map((call) => ({ type: 'NESTED', name: call.tool, words: 'It called another tool.',
			depth: 1,
			from: instant(call.arrived_at), to: instant(call.ended_at) || now(), link: link('calls', call.call_id), state:
				call.state }));
		const commit = bars.findIndex((bar) => bar.type === 'COMMITTING');
		bars.splice(commit < 0 ? bars.length : commit, 0, ...nested);
		return bars;
	}

	/** From instants to a share of the width. @param {Bar[]} bars @param {number} deadline */
	scale(bars, deadline) {
		const last = Math.max(...bars.map((bar) => bar.to));
		const edges = [...new Set([...bars.flatMap((bar) => [bar.from, bar.to]), deadline || last])].sort((a, b) => a - b);
		const parts = edges.slice(1).map((to, index) => {
			const from = edges[index];
			const isIdle = from >= last || bars.some((bar) => /^AWAITING/.test(bar.type) && bar.from <= from && bar.to >= to);
			return { from, to, isIdle, size: to - from };
		});
		const sum = () => parts.reduce((total, part) => total + part.size, 0) || 1;
		const work = parts.reduce((total, part) => total + (part.isIdle ? 0 : part.size), 0) || 1;
		for (const part of parts) part.size = part.isIdle ? Math.min(part.size, work * SQUEEZED) :
			Math.max(part.size, work * 0.004);
		const total = sum();
		return {
			squeezed: parts.filter((part) => part.isIdle && part.size < part.to - part.from),
			/** @param {number} at */
			at: (at) => parts.reduce((share, { from, to, size }) =>
				share + size * Math.max(0, Math.min(1, (at - from) / (to - from || 1))), 0) / total * 100,
		};
	}

	render() {
		const { call } = this;
		const end = instant(call.ended_at) || now();
		const deadline = instant(call.deadline);
		const bars = this.bars(end);
		const { at, squeezed } = this.scale(bars, deadline);
		const row = (/** @type {Bar} */ bar) => html`<li class="depth-${bar.depth}" title=${bar.words}>
			<span class="name">${bar.link ? html`<a href=${bar.link}>${bar.name}</a>` : bar.name}</span>
			<span class="track"><span class="fill ${bar.type.toLowerCase()} ${bar.state === 'FAILED' ? 'failed' : ''}
				${squeezed.some((part) => part.from >= bar.from && part.to <= bar.to) ? 'squeezed' : ''}"
				${css({ left: `${at(bar.from)}%`, width: `${Math.max(0.4, at(bar.to) - at(bar.from))}%` })}></span>
				${deadline ? html`<span class="deadline" ${css({ left: `${at(deadline)}%` })}></span>` : nothing}</span>
			<span class="took">${lasting(bar.to - bar.from)}</span></li>`;
		const took = call.ended_at ? span(call.duration) : Math.max(0, end - instant(call.arrived_at));
		const left = !deadline ? '' : end > deadline ? ' The deadline, the red line, has passed.'
			: ` ${lasting(deadline - end)} ${call.ended_at ? 'were' : 'are'} left to its deadline, the red line.`;
		return html`<ol class="waterfall" aria-label="Stages of the call">${bars.map(row)}</ol>
			<p class="quiet">It ${call.ended_at ? 'took' : 'has taken'} ${lasting(took)}.${left} ${squeezed.length
				? `${plural(squeezed.length, 'wait is', 'waits are')} drawn shorter.` : ''}</p>`;
	}
}
customElements.define('tw-waterfall', Waterfall);
