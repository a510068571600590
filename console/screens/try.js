// A tool, tried: the arguments as a form or as JSON, what would happen, the call itself, and the call as other programs make it.
import { html, nothing } from '../vendor/lit.js';
import { get, post, problem, segment } from '../lib/api.js';
import { FORMS } from '../lib/copy.js';
import { properties } from '../lib/element.js';
import { isObject, parse, stringify } from '../lib/json.js';
import { forgetInputs, inputs, keepInput } from '../lib/local.js';
import { link } from '../lib/route.js';
import { kind, resolve } from '../lib/schema.js';
import { store } from '../lib/store.js';
import { ago } from '../lib/time.js';
import { shown } from '../lib/text.js';
import { badge, stateName } from '../elements/badges.js';
import { problemOf } from '../elements/problem.js';
import '../elements/copy.js';
import '../elements/explained.js';
import '../elements/field.js';
import '../elements/result.js';

class Try extends properties({
  tool: /** @type {Any} */ ({}), call: '', request: '',
  args: /** @type {Any} */ ({}), json: /** @type {string | undefined} */ (undefined), busy: '',
  explained: /** @type {Any | undefined} */ (undefined),
  outcome: /** @type {Any | undefined} */ (undefined),
  problem: /** @type {Failure} */ (undefined), form: 'curl',
}) {
  static topics = ['confirmations'];
  timeout = '';
  /** The request id of the write that waits for approval. */ key = '';
  note = '';

  /** @param {Map<string, any>} changed */
  willUpdate(changed) {
    if (changed.has('tool') && changed.get('tool')?.name !== this.tool.name) {
      this.abort?.abort();
      this.clear();
      [this.args, this.json, this.key, this.note] = [{}, undefined, '', ''];
      for (const [name, one] of Object.entries(this.tool.input_schema?.properties ?? {})) {
        const known = resolve(/** @type {any} */ (one), this.tool.input_schema);
        if (known.const !== undefined) this.args[name] = known.const;
      }
    }
    if (this.call && (changed.has('call') || changed.has('tool'))) this.again();
    if (changed.has('request')) this.key = this.request;
  }

  clear() {
    [this.explained, this.outcome, this.problem] = [undefined, undefined, undefined];
  }

  /** Takes over the arguments of a call that was recorded. */
  async again() {
    this.note = '';
    try {
      const { recording } = await get(`/v1/calls/${segment(this.call)}`, { view: 'EVENTS' });
      if (recording?.arguments) this.fill(recording.arguments);
      else this.note = `The arguments of that call are not kept. ${recording?.note ?? ''}`;
    } catch (error) {
      this.note = `The arguments of that call cannot be read: ${problem(error).message}`;
    }
    this.requestUpdate();
  }

  /** @param {Any} args */
  fill(args) {
    this.args = structuredCloneExact(args);
    if (this.json !== undefined) this.json = stringify(this.args, 2);
    this.clear();
  }

  /** The arguments, or undefined after a complaint about their text. */
  taken() {
    if (this.json === undefined) return this.args;
    try {
      const args = parse(this.json || '{}');
      if (!isObject(args)) throw new Error('the arguments are an object, { … }');
      this.args = args;
      return args;
    } catch (error) {
      this.problem = problem(new Error(`The arguments are no JSON: ${/** @type {Error} */ (error).message}`));
      return undefined;
    }
  }

  async explain() {
    this.clear();
    const args = this.taken();
    const { busy } = this;
    if (!args || busy) return;
    this.busy = 'explain';
    try {
      this.explained = (await post(`/v1/tools/${segment(this.tool.name)}:explain`, args)).data;
    } catch (error) {
      this.problem = problem(error);
    }
    this.busy = '';
    this.focusOutcome();
  }

  async run() {
    this.clear();
    const args = this.taken();
    if (!args || this.busy) return;
    this.busy = 'run';
    this.abort = new AbortController();
    const isWrite = this.tool.category !== 'READ';
    if (isWrite) this.key ||= crypto.randomUUID?.() ?? uuid();
    keepInput(this.tool.name, args);
    try {
      const { data, headers } = await post(`/v1/tools/${segment(this.tool.name)}:call`, args, {
        ...(this.key && { 'idempotency-key': this.key }),
        ...(this.timeout && { 'x-toolwire-timeout': this.timeout }),
      }, this.abort.signal);
      this.outcome = { ...data, call_id: data.call_id ?? headers.get('x-toolwire-call-id') };
      this.key = '';
    } catch (error) {
      if (/** @type {Error} */ (error).name === 'AbortError') this.problem = problem(new Error('You stopped the call.'));
      else this.problem = problem(error);
      // A write whose answer was lost is asked for under the same request; one that was answered is over.
      const waits = this.problem.code === 'CONFIRMATION_REQUIRED' || this.problem.status === 0 || this.problem.status >= 500;
      if (!waits) this.key = '';
    }
    this.busy = '';
    this.focusOutcome();
  }

  async focusOutcome() {
    await this.updateComplete;
    const outcome = /** @type {HTMLElement | null} */ (this.querySelector('.outcome'));
    outcome?.focus({ preventScroll: true });
    outcome?.scrollIntoView({ block: 'nearest' });
  }

  /** What is wrong with each value, by pointer. @returns {Map<string, string[]>} */
  get violations() {
    const all = this.explained?.field_violations ?? this.problem?.body.field_violations ?? [];
    /** @type {Map<string, string[]>} */ const by = new Map();
    for (const { pointer, description } of all) by.set(pointer, [...(by.get(pointer) ?? []), description]);
    return by;
  }

  render() {
    const schema = this.tool.input_schema ?? { type: 'object' };
    const canForm = kind(resolve(schema, schema)) === 'object';
    const isEmpty = schema.type === 'object' && !Object.keys(schema.properties ?? {}).length && !isObject(schema.additionalProperties);
    const isJson = this.json !== undefined || (!canForm && !isEmpty);
    if (isJson && this.json === undefined) this.json = stringify(this.args, 2);
    const isOff = this.tool.status?.state === 'DISABLED';
    return html`<section class="try" aria-label="Try it">
      <div class="bar"><h2>Try it</h2>
        ${canForm ? html`<button class="small end" @click=${this.swap} aria-pressed=${isJson}>${isJson ? 'As a form' : 'As JSON'}</button>` : nothing}</div>
      ${this.pick()}
      ${this.note ? html`<p class="notice">${shown(this.note)}</p>` : nothing}
      <form @submit=${(event) => event.preventDefault()}>
        ${isJson ? html`<label>Arguments, as JSON<textarea class="code" rows=${Math.min(20, Math.max(6, (this.json ?? '').split('\n').length + 1))} spellcheck="false" .value=${this.json ?? ''}
            @input=${(event) => { this.json = event.target.value; }}></textarea></label>`
          : isEmpty ? html`<p class="quiet">It takes no arguments.</p>`
          : html`<tw-field .schema=${schema} .root=${schema} .value=${this.args} .violations=${this.violations} .isRoot=${true}
              .change=${(/** @type {any} */ value) => { this.args = value ?? {}; }}></tw-field>`}
        <div class="buttons">
          <button class="main" type="button" data-run ?disabled=${Boolean(this.busy) || isOff} @click=${this.run}>${this.busy === 'run' ? 'Running…' : 'Call'}</button>
          <button type="button" ?disabled=${Boolean(this.busy)} @click=${this.explain}>${this.busy === 'explain' ? 'Asking…' : 'What would happen?'}</button>
          ${this.busy === 'run' ? html`<button type="button" @click=${() => this.abort?.abort()}>Stop</button>` : nothing}
          <label class="inline">Deadline <input class="short" placeholder=${this.tool.timeout ?? '15s'} aria-label="Deadline, such as 5s" .value=${this.timeout}
            @input=${(event) => { this.timeout = event.target.value.trim(); }}></label>
        </div>
        ${this.key && !this.busy ? html`<p class="quiet">The next call repeats the request <code>${this.key.slice(0, 8)}…</code>: it is done once.
          <button class="small" type="button" @click=${() => { this.key = ''; this.requestUpdate(); }}>Make a new request</button></p>` : nothing}
      </form>
      <div class="outcome" tabindex="-1" aria-live="polite">${this.explained ? html`<tw-explained .value=${this.explained}></tw-explained>` : nothing}${this.ended()}</div>
      ${this.copies()}
    </section>`;
  }

  swap() {
    if (this.json === undefined) this.json = stringify(this.args, 2);
    else if (this.taken()) this.json = undefined;
  }

  /** Examples and last inputs, which fill the form. */
  pick() {
    const examples = this.tool.examples ?? [];
    const last = inputs(this.tool.name);
    if (!examples.length && !last.length) return nothing;
    return html`<div class="chips" role="group" aria-label="Fill in">${examples.map((/** @type {any} */ example) => html`<button class="chip"
        title=${stringify(example.arguments)} @click=${() => this.fill(example.arguments ?? {})}>${shown(example.description || 'Example')}</button>`)}
      ${last.length ? html`<select aria-label="Last inputs on this machine" @change=${(event) => {
        if (event.target.value === 'forget') forgetInputs(this.tool.name);
        else if (event.target.value) this.fill(last[Number(event.target.value)].arguments);
        event.target.value = '';
        this.requestUpdate();
      }}><option value="">Last inputs…</option>${last.map((input, index) => html`<option .value=${String(index)}>${ago(input.time)}: ${stringify(input.arguments).slice(0, 60)}</option>`)}
        <option value="forget">Forget these</option></select>` : nothing}</div>`;
  }

  ended() {
    const confirmation = this.problem?.code === 'CONFIRMATION_REQUIRED' ? this.problem.body.confirmation : undefined;
    if (confirmation) {
      const known = store.confirmations.get(confirmation.confirmation_id);
      return html`<div class="notice"><b>A person must approve this call.</b> Nothing has been done.
        <p>${shown(confirmation.summary ?? '')}</p>
        <p><a href=${link('approvals', confirmation.confirmation_id)}>The approval</a> ${known ? badge(known.state) : nothing}</p>
        ${known?.state === 'APPROVED' ? html`<p><button class="main" @click=${this.run}>It is approved: make the call</button></p>`
          : known && known.state !== 'PENDING' ? html`<p>It is ${stateName(known.state)}.</p>` : nothing}</div>`;
    }
    if (this.problem) {
      return html`${problemOf(this.problem)}${this.problem.callId ? html`<p><a href=${link('calls', this.problem.callId)}>The call</a></p>` : nothing}`;
    }
    if (!this.outcome) return nothing;
    return html`<div class="line"><h3>Result</h3>${this.outcome.call_id ? html`<a class="end" href=${link('calls', this.outcome.call_id)}>The call, stage by stage</a>` : nothing}</div>
      <tw-result .value=${this.outcome}></tw-result>`;
  }

  copies() {
    const call = { tool: this.tool.name, args: this.args, isWrite: this.tool.category !== 'READ', timeout: this.timeout };
    if (this.json !== undefined) {
      try {
        call.args = parse(this.json || '{}');
      } catch {
        return nothing;
      }
    }
    return html`<details class="more"><summary>Copy this call</summary><div class="chips" role="group" aria-label="Form">${Object.keys(FORMS).map((name) =>
      html`<button class="chip" aria-pressed=${name === this.form} @click=${() => { this.form = name; }}>${name}</button>`)}</div>
      <tw-copy .label=${`the call as ${this.form}`} .text=${FORMS[this.form](call)}></tw-copy></details>`;
  }
}
customElements.define('tw-try', Try);

/** A copy in which exact integers stay so. @param {any} value */
const structuredCloneExact = (value) => parse(stringify(value));

/** For pages over plain HTTP, which have no `randomUUID`. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
