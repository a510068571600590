// An instant, relative and by hovering exact; and the time that is left until one.
import { html } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { ago, exact, instant, lasting, now } from '../lib/time.js';

const ticks = new EventTarget();
setInterval(() => ticks.dispatchEvent(new Event('tick')), 1_000);

class Ticking extends properties({ at: '', until: '', over: 'over', after: '' }) {
	connectedCallback() {
		super.connectedCallback();
		ticks.addEventListener('tick', this.changed);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		ticks.removeEventListener('tick', this.changed);
	}
}

class When extends Ticking {
	render() {
		const at = instant(this.at);
		return at ? html`<time datetime=${this.at} title=${exact(at)}>${ago(at)}</time>` : '–';
	}
}
customElements.define('tw-when', When);

class Left extends Ticking {
	render() {
		const left = instant(this.until) - now();
		this.classList.toggle('soon', left < 60_000);
		const told = left > 60_000 ? lasting(Math.ceil(left / 1000) * 1000) : `${Math.ceil(left / 1000)} s`;
		return html`<time datetime=${this.until} title=${exact(instant(this.until))}>${left > 0 ? `${told}${this.after}` :
			this.over}</time>`;
	}
}
customElements.define('tw-left', Left);
