// A chart of lines over time: each line a series of one length, undefined where there is no value. By the pointer, or by the
// arrow keys, it says the values of an instant.
import { html, nothing, svg } from '../vendor/lit.js';
import { properties } from '../lib/element.js';

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [600, 150, 44, 18];

/** @typedef {{name: string, values: (number | undefined)[], tone: string}} Line */

class Chart extends properties({
  label: '', times: /** @type {number[]} */ ([]), lines: /** @type {Line[]} */ ([]), told: String, chosen: -1,
}) {
  /** A round number at or above the greatest value. */
  top() {
    const most = Math.max(0, ...this.lines.flatMap((line) => line.values.map((value) => value ?? 0)));
    if (!most) return 1;
    const power = 10 ** Math.floor(Math.log10(most));
    return power * /** @type {number} */ ([1, 2, 5, 10].find((step) => step * power >= most));
  }

  /** @param {number} index */
  x(index) {
    return LEFT + (index / Math.max(1, this.times.length - 1)) * (WIDTH - LEFT - 4);
  }

  /** @param {PointerEvent} event */
  point(event) {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    this.chosen = Math.max(0, Math.min(this.times.length - 1, Math.round(((at - LEFT) / (WIDTH - LEFT - 4)) * (this.times.length - 1))));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    this.chosen = Math.max(0, Math.min(this.times.length - 1, (this.chosen < 0 ? this.times.length : this.chosen) + step));
  }

  render() {
    const top = this.top();
    const y = (/** @type {number} */ value) => 6 + (1 - value / top) * (HEIGHT - BOTTOM - 6);
    const path = (/** @type {Line} */ { values }) => values.map((value, index) => (value === undefined ? ''
      : `${index && values[index - 1] !== undefined ? 'L' : 'M'}${this.x(index).toFixed(1)} ${y(value).toFixed(1)}${values[index + 1] === undefined && (!index || values[index - 1] === undefined) ? 'h1' : ''}`)).join('');
    const { chosen } = this;
    const time = (/** @type {number} */ at) => new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
    const at = this.times[chosen];
    const now = chosen >= 0 ? chosen : this.times.length - 1;
    return html`<figure class="chart"><figcaption><b>${this.label}</b> ${this.lines.map((line) => html`<span class="legend ${line.tone}">${line.name}
        <b>${line.values[now] === undefined ? '–' : this.told(/** @type {any} */ (line.values[now]))}</b></span>`)}
        <span class="quiet end">${at ? new Date(at).toLocaleTimeString() : 'now'}</span></figcaption>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" tabindex="0" aria-label="${this.label}, the last 15 minutes. Arrow keys read values."
        @pointermove=${this.point} @pointerleave=${() => { this.chosen = -1; }} @keydown=${this.key} @blur=${() => { this.chosen = -1; }}>
        ${[0, 0.5, 1].map((share) => svg`<line class="grid" x1=${LEFT} x2=${WIDTH - 4} y1=${y(top * share)} y2=${y(top * share)}></line>
          <text x=${LEFT - 6} y=${y(top * share) + 4} text-anchor="end">${this.told(top * share)}</text>`)}
        ${[0, 1 / 3, 2 / 3, 1].map((share) => {
          const index = Math.round(share * (this.times.length - 1));
          return svg`<text x=${this.x(index)} y=${HEIGHT - 3} text-anchor=${share === 1 ? 'end' : share ? 'middle' : 'start'}>${this.times[index] ? time(this.times[index]) : ''}</text>`;
        })}
        ${this.lines.map((line) => svg`<path class=${line.tone} d=${path(line)}></path>`)}
        ${chosen >= 0 ? svg`<line class="at" x1=${this.x(chosen)} x2=${this.x(chosen)} y1="4" y2=${HEIGHT - BOTTOM}></line>` : nothing}
      </svg></figure>`;
  }
}
customElements.define('tw-chart', Chart);
