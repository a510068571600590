// The base of all elements: they render into the document itself, so that one style sheet, labels and focus reach them.
import { Directive, LitElement, directive, noChange } from '../vendor/lit.js';
import { problem } from './api.js';
import { store } from './store.js';

export class Base extends LitElement {
	/** @type {string[]} The topics of the store that it shows. */
	static topics = [];
	/** @type {Any} */ static properties = { problem: { attribute: false } };
	asked = '';
	changed = () => this.requestUpdate();
	/** Makes the last request again. */
	again = () => {
		this.asked = '';
		this.requestUpdate();
	};

	constructor() {
		super();
		/** @type {Failure} */ this.problem = undefined;
	}

	/** The first element in it that matches. @param {string} selector @returns {any} */
	first(selector) {
		return this.querySelector(selector);
	}

	createRenderRoot() {
		return this;
	}

	get topics() {
		return /** @type {typeof Base} */ (this.constructor).topics;
	}

	connectedCallback() {
		super.connectedCallback();
		for (const topic of this.topics) store.addEventListener(topic, this.changed);
	}

	disconnectedCallback() {
		super.disconnectedCallback();
		for (const topic of this.topics) store.removeEventListener(topic, this.changed);
	}

	/**
	 * Asks once for each key, when the viewer is known. The answer is properties of the element; one for an older key is
	 * dropped.
	 * @param {string} key
	 * @param {() => Promise<Any>} ask
	 */
	async once(key, ask) {
		if (!store.viewer.user_id || key === this.asked) return;
		this.asked = key;
		try {
			const answer = await ask();
			if (key === this.asked) Object.assign(this, answer, { problem: undefined });
		} catch (error) {
			if (key === this.asked) this.problem = problem(error);
		}
		this.requestUpdate();
	}
}

/**
 * An element with these properties and their values at first; a change of one renders the element again.
 * @template {object} T
 * @param {T} values
 * @returns {typeof Base & (new (...args: any[]) => T)}
 */
export function properties(values) {
	return /** @type {any} */ (class extends Base {
		static properties = Object.fromEntries(Object.keys(values).map((name) => [name, { attribute: false }]));

		constructor() {
			super();
			Object.assign(this, values);
		}
	});
}

/** A property that has no value at first. */
export const unset = /** @type {Any | undefined} */ (undefined);

// Sets properties of the style of an element: a `style` attribute is refused by the page's policy.
class Css extends Directive {
	render() {
		return noChange;
	}

	/** @param {any} part @param {any[]} properties */
	update(part, [properties]) {
		for (const [name, value] of Object.entries(properties)) part.element.style.setProperty(name, String(value));
		return noChange;
	}
}
export const css = directive(Css);
