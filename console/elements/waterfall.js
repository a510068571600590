// What a call did when, against its deadline: a bar for each stage and each call beneath it. Waiting is squeezed, so that
// work is seen beside it.
import { html, nothing } from '../vendor/lit.js';
import { css, properties } from '../lib/element.js';
import { link } from '../lib/route.js';
import { instant, lasting, now, span } from '../lib/time.js';
import { plural, words } from '../lib/text.js';

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
/** A stage of waiting has at most this share of the width. */
const SQUEEZED = 0.15;

/** @typedef {{type: string, name: string, words: string, from: number, to: number, depth: number, link?: string, state?: string}} Bar */

class Waterfall extends properties({
  call: /** @type {Any} */ ({}), stages: /** @type {Any[]} */ ([]),
  nested: /** @type {Any[]} */ ([]),
}) {

  connectedCallback() {
    super.connectedCallback();
    this.timer = setInterval(() => { if (!this.call.ended_at) this.requestUpdate(); }, 250);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  /** @returns {Bar[]} */
  bars() {
    const end = instant(this.call.ended_at) || now();
    let attempts = 0;
    const bars = this.stages.map((stage, index) => {
      const [name, told] = STAGES[stage.type] ?? [words(stage.type), ''];
      const isRequest = stage.type === 'REQUESTING';
      if (isRequest) attempts += 1;
      return { type: stage.type, name: isRequest ? `request ${attempts}` : name, words: told, from: instant(stage.time),
        to: instant(this.stages.slice(index + 1).find((next) => stage.type !== 'EXECUTING' || next.type !== 'REQUESTING')?.time) || end,
        depth: isRequest ? 1 : 0 };
    });
    const nested = this.nested.map((call) => ({ type: 'NESTED', name: call.tool, words: 'It called another tool.', depth: 1,
      from: instant(call.arrived_at), to: instant(call.ended_at) || now(), link: link('calls', call.call_id), state: call.state }));
    const commit = bars.findIndex((bar) => bar.type === 'COMMITTING');
    bars.splice(commit < 0 ? bars.length : commit, 0, ...nested);
    return bars;
  }

  /** A scale from instants to a share of the width: what only waits, or is left until the deadline, is squeezed. @param {Bar[]} bars */
  scale(bars) {
    const deadline = instant(this.call.deadline);
    const last = Math.max(...bars.map((bar) => bar.to));
    const edges = [...new Set([...bars.flatMap((bar) => [bar.from, bar.to]), ...(deadline ? [deadline] : [])])].sort((a, b) => a - b);
    const parts = edges.slice(1).map((to, index) => {
      const from = edges[index];
      const isIdle = from >= last || bars.some((bar) => /^AWAITING/.test(bar.type) && bar.from <= from && bar.to >= to);
      return { from, to, isIdle, size: to - from };
    });
    const work = parts.filter((part) => !part.isIdle).reduce((sum, part) => sum + part.size, 0) || 1;
    for (const part of parts) part.size = part.isIdle ? Math.min(part.size, work * SQUEEZED) : Math.max(part.size, work * 0.004);
    const total = parts.reduce((sum, part) => sum + part.size, 0) || 1;
    return {
      squeezed: parts.filter((part) => part.isIdle && part.size < part.to - part.from),
      /** @param {number} at */
      at: (at) => parts.reduce((sum, part) => sum + part.size * Math.max(0, Math.min(1, (at - part.from) / (part.to - part.from || 1))), 0) / total,
    };
  }

  render() {
    const bars = this.bars();
    if (!bars.length) return nothing;
    const { at, squeezed } = this.scale(bars);
    const deadline = instant(this.call.deadline);
    const end = instant(this.call.ended_at) || now();
    const isLate = end > deadline;
    return html`<ol class="waterfall" aria-label="Stages of the call">${bars.map((bar) => html`<li class="depth-${bar.depth}" title=${bar.words}>
        <span class="name">${bar.link ? html`<a href=${bar.link}>${bar.name}</a>` : bar.name}</span>
        <span class="track"><span class="fill ${bar.type.toLowerCase()} ${bar.state === 'FAILED' ? 'failed' : ''} ${squeezed.some((part) => part.from >= bar.from && part.to <= bar.to) ? 'squeezed' : ''}"
          ${css({ left: `${at(bar.from) * 100}%`, width: `${Math.max(0.4, (at(bar.to) - at(bar.from)) * 100)}%` })}></span>
          ${deadline ? html`<span class="deadline" ${css({ left: `${at(deadline) * 100}%` })}></span>` : nothing}</span>
        <span class="took">${lasting(bar.to - bar.from)}</span></li>`)}</ol>
      <p class="quiet">${this.call.ended_at ? `It took ${lasting(span(this.call.duration))}` : `It has taken ${lasting(Math.max(0, end - instant(this.call.arrived_at)))} so far`}${deadline
        ? (isLate ? '; the deadline, the red line, has passed.' : `; ${lasting(deadline - end)} ${this.call.ended_at ? 'were' : 'are'} left to its deadline, the red line.`) : '.'}
        ${squeezed.length ? `${plural(squeezed.length, 'stretch', 'stretches')} of waiting ${squeezed.length === 1 ? 'is' : 'are'} drawn shorter.` : ''}</p>`;
  }
}
customElements.define('tw-waterfall', Waterfall);
