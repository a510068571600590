// A text to copy, with its button.
import { html, nothing, properties } from './parts.js';

class Copy extends properties({ text: '', label: '', quiet: false, done: '' }) {
	async copy() {
		try {
			await navigator.clipboard.writeText(this.text);
			this.done = 'Copied';
		} catch {
			this.done = 'Select the text and copy it: this browser lets pages copy over HTTPS only';
		}
		setTimeout(() => { this.done = ''; }, 3_000);
	}

	render() {
		return html`${this.quiet ? nothing : html`<pre tabindex="0" aria-label=${this.label}>${this.text}</pre>`}
			<button class="small" type="button" @click=${this.copy}
				aria-label=${this.done || `Copy ${this.label}`}>${this.done ||
				(this.quiet ? `Copy ${this.label}` : 'Copy')}</button>`;
	}
}
customElements.define('tw-copy', Copy);
