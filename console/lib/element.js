// The base of all elements: they render into the document itself, so that one style sheet, labels and focus reach them.
// Of lit it needs the templates alone: nothing here has a shadow, styles or attributes of its own.
import { Directive, directive, noChange, render } from '../vendor/lit.js';
import { problem } from './api.js';
import { store } from './store.js';

export class Base extends HTMLElement {
	/** @type {string[]} The topics of the store that it shows. */
	static topics = [];
	/** After how many milliseconds it asks again while it is seen. 0: never. */
	static every = 0;
	/** @type {Failure} */ problem;
	/** What follows its size, if that matters. @type {ResizeObserver | undefined} */ resize;
	asked = '';
	/** @type {Record<string, any>} */ #values = {};
	/** What properties were before they changed. @type {Changed} */ #before = new Map();
	#isDue = false;
	/** Ends with the next rendering. */
	updateComplete = Promise.resolve();
	changed = () => this.requestUpdate();
	/** Makes the last request again. */
	again = () => {
		this.asked = '';
		this.requestUpdate();
	};

	/** The first element in it that matches. @param {string} selector @returns {any} */
	first(selector) {
		return this.querySelector(selector);
	}

	/** @param {string} name */
	getValue(name) {
		return this.#values[name];
	}

	/** Sets a property, and renders if that changes it. @param {string} name @param {any} value */
	setValue(name, value) {
		if (Object.is(this.#values[name], value)) return;
		if (!this.#before.has(name)) this.#before.set(name, this.#values[name]);
		this.#values[name] = value;
		this.requestUpdate();
	}

	/** Renders once all changes of this task are made. */
	requestUpdate() {
		if (this.#isDue || !this.isConnected) return;
		this.#isDue = true;
		this.updateComplete = Promise.resolve().then(() => this.#update());
	}

	#update() {
		try {
			// What it changes is rendered with the rest.
			this.willUpdate(this.#before);
		} finally {
			this.#before = new Map();
			this.#isDue = false;
		}
		try {
			render(this.render(), this, { host: this });
		} catch (error) {
			// What it showed before may be of another call.
			delete /** @type {any} */ (this)._$litPart$;
			this.replaceChildren('This cannot be shown.');
			throw error;
		}
		this.updated();
	}

	/** Before each rendering. @param {Changed} _changed */
	willUpdate(_changed) {}

	/** @returns {any} */
	render() {}

	/** After each rendering. */
	updated() {}

	get settings() {
		return /** @type {typeof Base} */ (this.constructor);
	}

	connectedCallback() {
		this.requestUpdate();
		const { topics, every } = this.settings;
		for (const topic of topics) store.addEventListener(topic, this.changed);
		this.resize?.observe(this);
		if (every) this.polling = setInterval(() => document.hidden || this.again(), every);
	}

	disconnectedCallback() {
		for (const topic of this.settings.topics) store.removeEventListener(topic, this.changed);
		this.resize?.disconnect();
		clearInterval(this.polling);
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
	class Element extends Base {
		constructor() {
			super();
			for (const [name, value] of Object.entries({ ...values, problem: undefined })) {
				// A template may have set it before the file of the element was loaded.
				const given = Object.getOwnPropertyDescriptor(this, name)?.value ?? value;
				delete /** @type {any} */ (this)[name];
				this.setValue(name, given);
			}
		}
	}
	for (const name of [...Object.keys(values), 'problem']) {
		Object.defineProperty(Element.prototype, name, {
			get() { return this.getValue(name); },
			set(value) { this.setValue(name, value); },
		});
	}
	return /** @type {any} */ (Element);
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
