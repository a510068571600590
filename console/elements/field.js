// A value of a JSON Schema as a form shows it. It holds no value of its own: `change` is called with the new one, or
// with undefined for none.
import { live } from '../vendor/lit.js';
import { bounds, kind, resolve } from '../lib/schema.js';
import { html, isObject, isRaw, member, nothing, number, parse, properties, shown, stringify } from './parts.js';

let count = 0;

class Field extends properties({
	schema: /** @type {Schema} */ ({}), root: /** @type {Schema} */ ({}), value: /** @type {any} */ (undefined), name: '',
	pointer: '', required: false, violations: /** @type {Map<string, string[]>} */ (new Map()),
	change: /** @type {(value: any) => void} */ (() => {}), isRoot: false, depth: 0,
}) {
	key_ = `field-${count++}`;
	/** The text of a value that is no JSON yet. @type {string | undefined} */ draft = undefined;
	complaint = '';
	/** A name that is refused, and of which entry. @type {{at: number, key: string} | undefined} */ refused = undefined;

	render() {
		const schema = resolve(this.schema, this.root);
		const as = kind(schema, this.depth);
		const wrong = this.violations.get(this.pointer) ?? [];
		const id = this.key_;
		const about = html`${schema.description && !this.isRoot
			? html`<span class="about" id="${id}-about">${shown(schema.description)}</span>` : nothing}
			${wrong.map((text, index) => html`<span class="complaint"
				id="${id}-wrong${index || ''}">${shown(text)}</span>`)}`;
		if (as === 'object') return this.object(schema, about);
		if (as === 'map' || as === 'list') return this.several(schema, as === 'list', about);
		const type = as === 'json' ? 'JSON' : ['choice', 'boolean', 'date'].includes(as) ? '' : schema.type;
		return html`<label class="field ${wrong.length ? 'wrong' : ''}" for=${id}><span class="label">${this.heading()}
			<span class="quiet">${type} ${as === 'choice' ? '' : bounds({ ...schema, pattern: undefined })}${schema.writeOnly
				? ' · sensitive' : ''}</span></span>${this.control(schema, as, id, wrong.length > 0)}</label>${about}`;
	}

	heading() {
		return html`${this.name}${this.required ? html`<span class="must" title="required"> *</span>` : nothing}`;
	}

	/** @param {Schema} schema @param {string} as @param {string} id @param {boolean} isWrong */
	control(schema, as, id, isWrong) {
		const { value } = this;
		const described = `${schema.description ? `${id}-about ` : ''}${isWrong ? `${id}-wrong` : ''}`.trim() || nothing;
		const invalid = isWrong ? 'true' : nothing;
		const text = value === undefined ? '' : typeof value === 'string' ? value : stringify(value);
		const example = schema.examples?.[0];
		const hint = example === undefined ? nothing : typeof example === 'string' ? example : stringify(example);
		const typed = (/** @type {any} */ event) => this.edit(event.target.value || undefined);
		if (as === 'choice' || as === 'boolean') {
			/** @type {any[]} */ const values = as === 'boolean' ? [true, false] : schema.enum ?? [schema.const];
			const none = this.required ? 'Choose…' : `not given${schema.default === undefined ? '' :
				` (default ${stringify(schema.default)})`}`;
			return html`<select id=${id} aria-describedby=${described} aria-invalid=${invalid}
				@change=${(event) => this.edit(values[event.target.value])}><option value=""
					.selected=${value === undefined}>${none}</option>
				${values.map((one, index) => html`<option .value=${String(index)}
					.selected=${stringify(one) === stringify(value)}>
					${typeof one === 'string' ? one : stringify(one)}</option>`)}</select>`;
		}
		if (as === 'json') {
			return html`<textarea id=${id} class="code" rows="3" spellcheck="false" aria-describedby=${described}
				aria-invalid=${invalid}
				.value=${live(this.draft ?? stringify(value, 2))} @input=${(event) => this.json(event.target.value)}></textarea>
				${this.draft === undefined ? nothing : html`<span class="complaint">Not JSON: ${this.complaint}</span>`}`;
		}
		if (as === 'number' || as === 'integer') {
			return html`<input id=${id} inputmode=${as === 'integer' && schema.minimum >= 0 ? 'numeric' : 'decimal'}
				placeholder=${hint}
				autocomplete="off" aria-describedby=${described} aria-invalid=${invalid} .value=${live(text)}
				@change=${(event) => this.edit(event.target.value.trim() ? number(event.target.value.trim()) : undefined)}
				@input=${(event) => isWhole(event.target.value) && this.edit(number(event.target.value))}>`;
		}
		if (as === 'lines' || text.includes('\n')) {
			return html`<textarea id=${id} rows="4" aria-describedby=${described} aria-invalid=${invalid} .value=${live(text)}
				@input=${typed}></textarea>`;
		}
		return html`<input id=${id} type=${as === 'date' ? 'date' : schema.writeOnly ? 'password' : 'text'}
			placeholder=${hint}
			autocomplete="off" spellcheck="false" aria-describedby=${described} aria-invalid=${invalid} .value=${live(text)}
				@input=${typed}>`;
	}

	/** @param {string} text */
	json(text) {
		this.draft = undefined;
		try {
			this.edit(text.trim() ? parse(text) : undefined);
		} catch (error) {
			this.draft = text;
			this.complaint = /** @type {Error} */ (error).message;
		}
		this.requestUpdate();
	}

	/** Moves the focus to an entry once it is drawn; if there is none, to the button that adds one. @param {number} at */
	follow(at) {
		requestAnimationFrame(() => {
			const next = this.querySelectorAll(':scope > fieldset > .item, :scope > fieldset > button')[at];
			/** @type {any} */ (next.querySelector('input, select, textarea, button') ?? next).focus();
		});
	}

	/** What was wrong with a value is no longer said once it changes. @param {any} value */
	edit(value) {
		this.violations.delete(this.pointer);
		this.change(value);
	}

	/**
	 * @param {Schema} schema
	 * @param {string | number} key
	 * @param {any} value
	 * @param {boolean} required
	 * @param {(value: any) => void} change
	 * @param {string} [name]
	 */
	inner(schema, key, value, required, change, name = String(key)) {
		return html`<tw-field .schema=${schema} .root=${this.root} .value=${value} .name=${name}
			.pointer=${member(this.pointer, key)} .required=${required} .violations=${this.violations} .change=${change}
			.depth=${this.depth + 1}></tw-field>`;
	}

	/** @param {Schema} schema @param {any} about */
	object(schema, about) {
		const value = isObject(this.value) ? this.value : {};
		const isNeeded = (/** @type {string} */ name) => Boolean(schema.required?.includes(name));
		const names = Object.keys({ ...schema.properties, ...value }).sort((a, b) => Number(isNeeded(b)) -
			Number(isNeeded(a)));
		const parts = names.map((name) => this.inner(schema.properties[name] ?? {}, name, value[name], isNeeded(name),
			(part) => {
			const next = { ...this.value, [name]: part };
			if (part === undefined) delete next[name];
			this.edit(Object.keys(next).length || this.required || this.isRoot ? next : undefined);
		}));
		if (this.isRoot) return html`${about}${parts}`;
		return html`<fieldset><legend>${this.heading()}</legend>${about}${parts}</fieldset>`;
	}

	/** A list, or a map. @param {Schema} schema @param {boolean} isList @param {any} about */
	several(schema, isList, about) {
		/** @type {[string, any][]} */ const entries = this.value && typeof this.value === 'object' ?
			Object.entries(this.value) : [];
		const of = isList ? schema.items : schema.additionalProperties;
		/** @param {[string, any][]} next */
		const set = (next) => {
			this.refused = undefined;
			this.edit(!next.length && !this.required ? undefined
				: isList ? next.map(([, one]) => one) : Object.fromEntries(next));
		};
		/** @param {number} at @param {string} key @param {any} one */
		const put = (at, key, one) => set(entries.map((entry, index) => (index === at ? [key, one] : entry)));
		/** A name that another entry has would replace it. @param {number} at @param {string} key @param {any} one */
		const rename = (at, key, one) => {
			this.refused = !key || entries.some(([other], index) => other === key && index !== at) ? { at, key } : undefined;
			if (!this.refused) return put(at, key, one);
			this.requestUpdate();
		};
		const item = (/** @type {[string, any]} */ [key, one], /** @type {number} */ at) => {
			const wrong = this.refused?.at === at && this.refused;
			// Nothing matches this pattern: the form is not sent.
			return html`<div class="item">
				${isList ? nothing : html`<label class="field key"><span class="label">Name</span><input placeholder="name"
					.value=${live(wrong ? wrong.key : key)} autocomplete="off" spellcheck="false" required
					pattern=${wrong ? '(?!)' : nothing} @change=${(event) => rename(at, event.target.value, one)}
					@input=${(event) => wrong && rename(at, event.target.value, one)}>${wrong
					? html`<span class="complaint" role="alert">Each needs a name of its own.</span>` : nothing}</label>`}
				${this.inner(of, key, one, true, (value) => put(at, key, value ?? blank(of, this.root)),
					isList ? `${this.name} ${at + 1}` : 'Value')}
				<button type="button" class="small" aria-label="Remove ${this.name} ${(!isList && key) || at + 1}"
					@click=${() => { set(entries.filter((_, index) => index !== at)); this.follow(at); }}>Remove</button></div>`;
		};
		const add = () => {
			const at = entries.findIndex(([key]) => !isList && !key);
			if (at < 0) set([...entries, ['', blank(of, this.root)]]);
			this.follow(at < 0 ? entries.length : at);
		};
		return html`<fieldset><legend>${this.heading()} <span class="quiet">${isList ? 'list' : 'map'}
			${bounds({ minItems: schema.minItems,
			maxItems: schema.maxItems, default: schema.default })}</span></legend>${about}${entries.map(item)}
			<button type="button" class="small" @click=${add}>Add to ${this.name || 'the list'}</button></fieldset>`;
	}
}
customElements.define('tw-field', Field);

/** Whether a text is a number already, as `1.` is not. @param {string} text */
const isWhole = (text) => text === String(number(text)) || isRaw(number(text));

/** What a new element begins with. @param {Schema} schema @param {Schema} root @returns {any} */
function blank(schema, root) {
	const { type, default: given, enum: values } = resolve(schema, root);
	if (given !== undefined || values) return given ?? values[0];
	return { string: '', boolean: false, object: {}, array: [], number: 0, integer: 0 }[String(type)] ?? null;
}
