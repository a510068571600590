// A tool, tried: the arguments as a form or as JSON, what would happen, the call, and the call for other programs.
import { FORMS } from '../lib/copy.js';
import { forgetInputs, inputs, keepInput } from '../lib/local.js';
import { kind, resolve, withoutSensitive } from '../lib/schema.js';
import { ago, badge, get, html, isObject, link, nothing, parse, post, problem, problemOf, properties, segment, shown,
	stateName, store, stringify, unset } from '../elements/parts.js';
import '../elements/copy.js';
import '../elements/explained.js';
import '../elements/field.js';
import '../elements/result.js';

class Try extends properties({
	tool: /** @type {Any} */ ({}), call: '', request: '', args: /** @type {Any} */ ({}), busy: '',
	json: /** @type {string | undefined} */ (undefined), explained: unset,
	outcome: unset, form: 'curl', key: '', note: '', timeout: '',
}) {
	// `json` is the arguments as they are typed, undefined in the form; `key` the request id of a write that is not over.
	static topics = ['confirmations'];

	/** @param {Changed} changed */
	willUpdate(changed) {
		if (changed.has('tool') && changed.get('tool')?.name !== this.tool.name) {
			this.abort?.abort();
			this.clear();
			[this.args, this.json, this.key, this.note] = [{}, undefined, '', ''];
		}
		if (this.call && (changed.has('call') || changed.has('tool'))) this.refill();
		if (changed.has('request')) this.key = this.request;
	}

	clear() {
		[this.explained, this.outcome, this.problem] = [undefined, undefined, undefined];
	}

	/** Takes over the arguments of a call that was recorded. */
	async refill() {
		try {
			const { recording } = await get(`/v1/calls/${segment(this.call)}`, { view: 'EVENTS' });
			if (recording?.arguments) this.fill(recording.arguments);
			this.note = recording?.arguments ? '' : `The arguments of that call are not kept. ${recording?.note ?? ''}`;
		} catch (error) {
			this.note = `The arguments of that call cannot be read: ${problem(error).message}`;
		}
	}

	/** @param {Any} args */
	fill(args) {
		this.args = parse(stringify(args));
		if (this.json !== undefined) this.json = stringify(args, 2);
		this.clear();
	}

	/** The arguments, or undefined after a complaint about their text. */
	taken() {
		if (this.json === undefined) return this.args;
		try {
			const args = parse(this.json || '{}');
			if (!isObject(args)) throw new Error('they are an object, { … }');
			this.args = args;
			return args;
		} catch (error) {
			this.problem = problem(new Error(`The arguments are no JSON: ${/** @type {Error} */ (error).message}`));
			return undefined;
		}
	}

	/** Asks the server about the arguments. @param {string} busy @param {(args: Any) => Promise<void>} ask */
	async send(busy, ask) {
		this.clear();
		const args = this.taken();
		if (!args) return;
		this.busy = busy;
		try {
			await ask(args);
		} catch (error) {
			const isStopped = /** @type {Error} */ (error).name === 'AbortError';
			this.problem = problem(isStopped ? new Error('You stopped the call.') : error);
		}
		this.busy = '';
		await this.updateComplete;
		const outcome = this.first('.outcome');
		outcome?.focus({ preventScroll: true });
		outcome?.scrollIntoView({ block: 'nearest' });
	}

	explain() {
		return this.send('explain', async (args) => {
			this.explained = (await post(`/v1/tools/${segment(this.tool.name)}:explain`, args)).data;
		});
	}

	async run() {
		const { busy } = this;
		if (busy) return;
		await this.send('run', async (args) => {
			this.abort = new AbortController();
			if (this.tool.category !== 'READ') this.key ||= uuid();
			keepInput(this.tool.name, withoutSensitive(args, this.tool.input_schema));
			const { data, headers } = await post(`/v1/tools/${segment(this.tool.name)}:call`, args, {
				...(this.key && { 'idempotency-key': this.key }), ...(this.timeout && { 'x-toolwire-timeout': this.timeout }),
			}, this.abort.signal);
			this.outcome = { ...data, call_id: data.call_id ?? headers.get('x-toolwire-call-id') };
		});
		// A write that waits, or whose answer was lost, is asked for again under its request; any other is over.
		const { status = 200, code = '' } = this.problem ?? {};
		if (code !== 'CONFIRMATION_REQUIRED' && status > 0 && status < 500) this.key = '';
	}

	/** What is wrong with each value, by pointer. @returns {Map<string, string[]>} */
	get violations() {
		/** @type {Map<string, string[]>} */ const by = new Map();
		for (const { pointer, description } of this.explained?.field_violations ?? this.problem?.body.field_violations ??
			[]) {
			by.set(pointer, [...(by.get(pointer) ?? []), description]);
		}
		return by;
	}

	render() {
		const schema = this.tool.input_schema ?? { type: 'object' };
		const isEmpty = schema.type === 'object' && !Object.keys(schema.properties ?? {}).length &&
			!schema.additionalProperties;
		const canForm = isEmpty || kind(resolve(schema, schema)) === 'object';
		if (!canForm) this.json ??= stringify(this.args, 2);
		const { busy, json, key } = this;
		return html`<section class="try" aria-label="Try it">
			<div class="bar"><h2>Try it</h2>${canForm && !isEmpty ? html`<button class="small end" @click=${this.swap}>
				${json === undefined ? 'As JSON' : 'As a form'}</button>` : nothing}</div>
			${this.pick()}
			${this.note ? html`<p class="notice">${shown(this.note)}</p>` : nothing}
			<form @submit=${(event) => event.preventDefault()}>
				${json !== undefined ? html`<label>Arguments, as JSON<textarea class="code"
					rows=${Math.min(20, json.split('\n').length + 3)}
						spellcheck="false" .value=${json} @input=${(event) =>
							{ this.json = event.target.value; }}></textarea></label>`
					: isEmpty ? html`<p class="quiet">It takes no arguments.</p>`
					: html`<tw-field .schema=${schema} .root=${schema} .value=${this.args} .violations=${this.violations}
						.isRoot=${true}
							.change=${(value) => { this.args = value ?? {}; }}></tw-field>`}
				<div class="buttons">
					<button class="main" type="button" data-run ?disabled=${Boolean(busy) || this.tool.status?.state ===
						'DISABLED'}
						@click=${this.run}>${busy === 'run' ? 'Running…' : 'Call'}</button>
					<button type="button" ?disabled=${Boolean(busy)} @click=${this.explain}>${busy === 'explain' ? 'Asking…' :
						'What would happen?'}</button>
					${busy === 'run' ? html`<button type="button" @click=${() => this.abort?.abort()}>Stop</button>` : nothing}
					<label class="inline">Deadline <input class="short" placeholder=${this.tool.timeout ?? '15s'}
						.value=${this.timeout}
						@input=${(event) => { this.timeout = event.target.value.trim(); }}></label>
				</div>
				${key && !busy ? html`<p class="quiet">The next call repeats the request <code>${key.slice(0, 8)}…</code>: it
					is done once.
					<button class="small" type="button" @click=${() => { this.key = ''; }}>Make a new request</button></p>` :
						nothing}
			</form>
			<div class="outcome" tabindex="-1" aria-live="polite">${this.explained
				? html`<tw-explained .value=${this.explained}></tw-explained>` : nothing}${this.ended()}</div>
			${this.copies()}
		</section>`;
	}

	swap() {
		if (this.json === undefined) this.json = stringify(this.args, 2);
		else if (this.taken()) this.json = undefined;
	}

	/** Examples and last inputs, which fill the form. */
	pick() {
		const { examples = [], name } = this.tool;
		const last = inputs(name);
		if (!examples.length && !last.length) return nothing;
		/** @param {any} event */
		const choose = ({ target }) => {
			if (target.value === 'forget') forgetInputs(name);
			else if (target.value) this.fill(last[target.value].arguments);
			target.value = '';
			this.requestUpdate();
		};
		return html`<div class="chips" role="group" aria-label="Fill in">
			${examples.map((example) => html`<button class="chip" title=${stringify(example.arguments)}
				@click=${() => this.fill(example.arguments ?? {})}>${shown(example.description || 'Example')}</button>`)}
			${last.length ? html`<select aria-label="Last inputs on this machine" @change=${choose}><option value="">Last
				inputs…</option>
				${last.map((input, index) => html`<option .value=${String(index)}>${ago(input.time)}:
					${stringify(input.arguments).slice(0, 60)}</option>`)}<option value="forget">Forget these</option></select>`
						: nothing}</div>`;
	}

	ended() {
		const { problem: failure, outcome } = this;
		const asked = failure?.code === 'CONFIRMATION_REQUIRED' && failure.body.confirmation;
		if (asked) {
			const state = store.confirmations.get(asked.confirmation_id)?.state;
			return html`<div class="notice"><b>A person must approve this call.</b> Nothing has been done.
				<p>${shown(asked.summary ?? '')}</p>
				<p><a href=${link('approvals', asked.confirmation_id)}>The approval</a> ${state ? badge(state) : nothing}</p>
				${state === 'APPROVED' ? html`<p><button class="main" @click=${this.run}>It is approved: make the
					call</button></p>`
					: state && state !== 'PENDING' ? html`<p>It is ${stateName(state)}.</p>` : nothing}</div>`;
		}
		if (failure) {
			return html`${problemOf(failure)}${failure.callId ? html`<p><a href=${link('calls', failure.callId)}>The
				call</a></p>` : nothing}`;
		}
		if (!outcome) return nothing;
		return html`<div class="line"><h3>Result</h3>${outcome.call_id ?
			html`<a class="end" href=${link('calls', outcome.call_id)}>The
			call, stage by stage</a>` : nothing}</div><tw-result .value=${outcome}></tw-result>`;
	}

	copies() {
		let { args } = this;
		try {
			if (this.json !== undefined) args = parse(this.json || '{}');
		} catch {
			return nothing;
		}
		const call = { tool: this.tool.name, args, isWrite: this.tool.category !== 'READ', timeout: this.timeout };
		return html`<details class="more"><summary>Copy this call</summary><div class="chips" role="group"
			aria-label="Form">
			${Object.keys(FORMS).map((name) => html`<button class="chip" aria-pressed=${name === this.form}
				@click=${() => { this.form = name; }}>${name}</button>`)}</div>
			<tw-copy .label=${`the call as ${this.form}`} .text=${FORMS[this.form](call)}></tw-copy></details>`;
	}
}
customElements.define('tw-try', Try);

/** A new request id, on plain HTTP too, where pages have no `randomUUID`. */
function uuid() {
	const bytes = crypto.getRandomValues(new Uint8Array(16));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
		.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
