// A chart of lines over time. By the pointer, or by the arrow keys, it says the values of an instant.
import { svg } from '../vendor/lit.js';
import { html, nothing, properties } from './parts.js';

const [HEIGHT, LEFT, BOTTOM] = [150, 52, 18];

class Chart extends properties({
	label: '', times: /** @type {number[]} */ ([]), lines: /** @type {Line[]} */ ([]),
	told: /** @type {(value: any) => string} */ (String), chosen: -1,
}) {
	wide = 600;
	resize = new ResizeObserver(() => {
		this.wide = Math.max(240, this.querySelector('svg')?.clientWidth ?? 0);
		this.requestUpdate();
	});

	connectedCallback() {
		super.connectedCallback();
		this.resize.observe(this);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		this.resize.disconnect();
	}

	/** A round number at or above the greatest value. */
	top() {
		const most = Math.max(0, ...this.lines.flatMap((line) => line.values.map((value) => value ?? 0)));
		const power = 10 ** Math.floor(Math.log10(most || 1));
		return power * ([1, 2, 5].find((step) => step * power >= most) ?? 10);
	}

	/** @param {number} index */
	choose(index) {
		this.chosen = Math.max(0, Math.min(this.times.length - 1, index));
	}

	/** @param {any} event */
	point(event) {
		const { left } = event.currentTarget.getBoundingClientRect();
		this.choose(Math.round(((event.clientX - left - LEFT) / (this.wide - LEFT - 4)) * (this.times.length - 1)));
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (!step) return;
		event.preventDefault();
		this.choose((this.chosen < 0 ? this.times.length : this.chosen) + step);
	}

	render() {
		const { chosen, times, wide } = this;
		const last = times.length - 1;
		const top = this.top();
		const x = (/** @type {number} */ index) => LEFT + (index / Math.max(1, last)) * (wide - LEFT - 4);
		const y = (/** @type {number} */ value) => 6 + (1 - value / top) * (HEIGHT - BOTTOM - 6);
		// A value between two that are missing is a ring.
		const path = (/** @type {Line} */ { values }) => values.map((value, index) => (value === undefined ? ''
			: `${values[index - 1] === undefined ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)}h.1${
				(values[index - 1] ?? values[index + 1]) === undefined ? 'm-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0' : ''}`)).join('');
		const time = (/** @type {number} */ at) => new Date(at).toLocaleTimeString(undefined,
			{ hour: '2-digit', minute: '2-digit' });
		const at = chosen < 0 ? last : chosen;
		const rest = () => { this.chosen = -1; };
		return html`<figure class="chart"><figcaption><b>${this.label}</b>
				${this.lines.map(({ name, tone, values }) => html`<span class="legend ${tone}">${name}
					<b>${values[at] === undefined ? '–' : this.told(values[at])}</b></span>`)}
				<span class="quiet end">${chosen < 0 ? 'now' : new Date(times[chosen]).toLocaleTimeString()}</span></figcaption>
			<svg viewBox="0 0 ${wide} ${HEIGHT}" role="img" tabindex="0"
				aria-label="${this.label}, the last 15 minutes. Arrow keys
				read values." @pointermove=${this.point} @pointerleave=${rest} @keydown=${this.key} @blur=${rest}>
				${[0, top / 2, top].map((value) => svg`<line x1=${LEFT} x2=${wide - 4} y1=${y(value)} y2=${y(value)}></line>
					<text x=${LEFT - 6} y=${y(value) + 4} text-anchor="end">${value ? this.told(value) : 0}</text>`)}
				${(times.length ? [0, 1, 2] : []).map((third) => svg`<text x=${x((third / 2) * last)} y=${HEIGHT - 3}
					text-anchor=${['start', 'middle', 'end'][third]}>${time(times[Math.round((third / 2) * last)])}</text>`)}
				${this.lines.map((line) => svg`<path class=${line.tone} d=${path(line)}></path>`)}
				${chosen < 0 ? nothing : svg`<line class="at" x1=${x(chosen)} x2=${x(chosen)} y1="4"
					y2=${HEIGHT - BOTTOM}></line>`}
			</svg></figure>`;
	}
}
customElements.define('tw-chart', Chart);
