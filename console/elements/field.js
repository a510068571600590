// A value of a JSON Schema as a form shows it. It holds no value of its own: `change` is called with the new one, undefined
// for none.
import { html, live, nothing } from '../vendor/lit.js';
import { properties } from '../lib/element.js';
import { isObject, isRaw, member, number, parse, stringify } from '../lib/json.js';
import { bounds, kind, resolve } from '../lib/schema.js';
import { shown } from '../lib/text.js';

let count = 0;

class Field extends properties({
  schema: /** @type {Schema} */ ({}),
  root: /** @type {Schema} */ ({}), value: /** @type {any} */ (undefined), name: '',
  pointer: '', required: false, violations: /** @type {Map<string, string[]>} */ (new Map()),
  change: /** @type {(value: any) => void} */ (() => {}), isRoot: false, depth: 0,
}) {
  number = count++;
  /** The text of a value that is no JSON yet. @type {string | undefined} */ draft = undefined;

  render() {
    const schema = resolve(this.schema, this.root);
    const as = kind(schema, this.depth);
    const wrong = this.violations.get(this.pointer) ?? [];
    const id = `field-${this.number}`;
    const about = html`${schema.description && !this.isRoot ? html`<span class="about" id="${id}-about">${shown(schema.description)}</span>` : nothing}
      ${wrong.map((text) => html`<span class="complaint" id="${id}-wrong">${shown(text)}</span>`)}`;
    if (as === 'object') return this.object(schema, about);
    if (as === 'map' || as === 'list') return this.several(schema, as, about);
    const label = html`<span class="label">${this.name}${this.required ? html`<span class="must" title="required"> *</span>` : nothing}
      <span class="quiet">${as === 'json' ? 'JSON' : ['choice', 'boolean', 'date'].includes(as) ? '' : schema.type} ${as === 'choice' ? '' : bounds({ ...schema, pattern: undefined })}${schema.writeOnly ? ' · sensitive' : ''}</span></span>`;
    return html`<label class="field ${wrong.length ? 'wrong' : ''}" for=${id}>${label}${this.control(schema, as, id, wrong.length > 0)}</label>${about}`;
  }

  /** @param {any} schema @param {string} as @param {string} id @param {boolean} isWrong */
  control(schema, as, id, isWrong) {
    const described = `${schema.description ? `${id}-about ` : ''}${isWrong ? `${id}-wrong` : ''}`.trim() || nothing;
    const invalid = isWrong ? 'true' : nothing;
    const text = this.value === undefined ? '' : typeof this.value === 'string' ? this.value : stringify(this.value);
    const hint = schema.examples?.length ? String(text ? '' : stringify(schema.examples[0]).replace(/^"|"$/g, '')) : nothing;
    /** @param {any} event */
    const typed = (event) => this.change(event.target.value === '' && !(this.required && as === 'text' && this.value === '') ? undefined : event.target.value);
    if (as === 'choice' || as === 'boolean') {
      const values = as === 'boolean' ? [true, false] : 'const' in schema ? [schema.const] : schema.enum;
      return html`<select id=${id} aria-describedby=${described} aria-invalid=${invalid} @change=${(event) =>
        this.change(event.target.value === '' ? undefined : values[Number(event.target.value)])}>
        <option value="">${this.required ? 'Choose…' : schema.default === undefined ? 'not given' : `not given (default ${stringify(schema.default)})`}</option>
        ${values.map((/** @type {any} */ value, /** @type {number} */ index) => html`<option .value=${String(index)} ?selected=${stringify(value) === stringify(this.value) && this.value !== undefined}>
          ${value === true ? 'true' : value === false ? 'false' : shownChoice(value)}</option>`)}</select>`;
    }
    if (as === 'json') {
      return html`<textarea id=${id} class="code" rows="3" spellcheck="false" aria-describedby=${described} aria-invalid=${invalid}
        .value=${live(this.draft ?? (this.value === undefined ? '' : stringify(this.value, 2)))} @input=${(event) => this.json(event.target.value)}></textarea>
        ${this.draft === undefined ? nothing : html`<span class="complaint">This is no JSON yet; it is taken as it stands once it is.</span>`}`;
    }
    if (as === 'number' || as === 'integer') {
      return html`<input id=${id} inputmode=${as === 'integer' && !(schema.minimum < 0) ? 'numeric' : 'decimal'} placeholder=${hint} autocomplete="off" aria-describedby=${described} aria-invalid=${invalid}
        .value=${live(text)} @change=${(event) => this.change(event.target.value.trim() === '' ? undefined : number(event.target.value.trim()))}
        @input=${(event) => { if (isWhole(event.target.value)) this.change(number(event.target.value)); }}>`;
    }
    if (as === 'lines' || (typeof this.value === 'string' && this.value.includes('\n'))) {
      return html`<textarea id=${id} rows="4" aria-describedby=${described} aria-invalid=${invalid} .value=${live(text)} @input=${typed}></textarea>`;
    }
    return html`<input id=${id} type=${as === 'date' ? 'date' : schema.writeOnly ? 'password' : 'text'} placeholder=${hint} autocomplete="off" spellcheck="false"
      aria-describedby=${described} aria-invalid=${invalid} .value=${live(text)} @input=${typed}>`;
  }

  /** @param {string} text */
  json(text) {
    try {
      this.draft = undefined;
      this.change(text.trim() ? parse(text) : undefined);
    } catch {
      this.draft = text;
      this.requestUpdate();
    }
  }

  /** @param {any} schema @param {string | number} key @param {any} value @param {boolean} required @param {(value: any) => void} change */
  field(schema, key, value, required, change) {
    return html`<tw-field .schema=${schema} .root=${this.root} .value=${value} .name=${String(key)} .pointer=${member(this.pointer, key)} .required=${required}
      .violations=${this.violations} .change=${change} .depth=${this.depth + 1}></tw-field>`;
  }

  /** @param {any} schema @param {any} about */
  object(schema, about) {
    const value = isObject(this.value) ? this.value : {};
    const required = new Set(schema.required ?? []);
    const known = Object.entries(schema.properties);
    const sorted = [...known.filter(([name]) => required.has(name)), ...known.filter(([name]) => !required.has(name))];
    /** @param {string} name @param {any} part */
    const set = (name, part) => {
      const next = { ...(isObject(this.value) ? this.value : {}) };
      if (part === undefined) delete next[name];
      else next[name] = part;
      this.change(Object.keys(next).length || this.required || this.isRoot ? next : undefined);
    };
    const parts = sorted.map(([name, one]) => this.field(one, name, value[name], required.has(name), (part) => set(name, part)));
    const unknown = Object.keys(value).filter((name) => !(name in schema.properties));
    const others = unknown.map((name) => this.field({}, name, value[name], false, (part) => set(name, part)));
    if (this.isRoot) return html`<div class="fields">${about}${parts}${others}</div>`;
    return html`<fieldset><legend>${this.name}${this.required ? html`<span class="must"> *</span>` : nothing}</legend>${about}${parts}${others}</fieldset>`;
  }

  /** Lists and maps. @param {any} schema @param {'list' | 'map'} as @param {any} about */
  several(schema, as, about) {
    const isList = as === 'list';
    /** @type {[string | number, any][]} */
    const entries = isList ? (Array.isArray(this.value) ? this.value.map((one, index) => [index, one]) : [])
      : Object.entries(isObject(this.value) ? this.value : {});
    const of = isList ? schema.items : schema.additionalProperties;
    /** @param {[string | number, any][]} next */
    const set = (next) => this.change(!next.length && !this.required ? undefined : isList ? next.map(([, one]) => one) : Object.fromEntries(next));
    return html`<fieldset class=${as}><legend>${this.name}${this.required ? html`<span class="must"> *</span>` : nothing} <span class="quiet">${isList ? 'list' : 'map'} ${bounds({ minItems: schema.minItems, maxItems: schema.maxItems, default: schema.default })}</span></legend>${about}
      ${entries.map(([key, one], at) => html`<div class="item">
        ${isList ? nothing : html`<label class="field key"><span class="label">Name</span><input .value=${live(String(key))} autocomplete="off" spellcheck="false"
          @change=${(event) => set(entries.map((entry, index) => (index === at ? [event.target.value, one] : entry)))}></label>`}
        ${this.field(of, isList ? at : key, one, true, (value) => set(entries.map((entry, index) => (index === at ? [key, value ?? blank(of, this.root)] : entry))))}
        <button type="button" class="small" aria-label="Remove ${this.name} ${isList ? at + 1 : key}" @click=${() => set(entries.filter((_, index) => index !== at))}>Remove</button></div>`)}
      <button type="button" class="small" @click=${() => set([...entries, [isList ? entries.length : `name${entries.length + 1}`, blank(of, this.root)]])}>Add to ${this.name || 'the list'}</button></fieldset>`;
  }
}
customElements.define('tw-field', Field);

/** @param {any} value */
const shownChoice = (value) => (typeof value === 'string' ? value : stringify(value));

/** Whether a text is a number that will not become another one by the next key, such as `1.`. @param {string} text */
const isWhole = (text) => text === String(number(text)) || isRaw(number(text));

/** What a new element begins with. @param {any} schema @param {any} root @returns {any} */
function blank(schema, root) {
  const known = resolve(schema, root);
  if (known.default !== undefined) return known.default;
  if (known.enum) return known.enum[0];
  return { string: '', boolean: false, object: {}, array: [] }[/** @type {string} */ (known.type)] ?? (known.type ? 0 : null);
}
