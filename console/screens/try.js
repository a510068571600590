// A tool, tried: the arguments as a form or as JSON, what would happen, the call, and the call for other programs.
import { FORMS } from '../lib/copy.js';
import { forgetInputs, inputs, keepInput } from '../lib/local.js';
import { kind, resolve, withoutSensitive } from '../lib/schema.js';
import { ago, badge, facts, get, html, isObject, lasting, link, nothing, parse, post, problem, problemOf, properties,
	segment, shown, span, stateName, store, stringify, unset, violationsOf } from '../elements/parts.js';
import '../elements/arguments.js';
import '../elements/field.js';

class Try extends properties({
	tool: /** @type {Any} */ ({}), call: '', confirmation: '', request: '', args: /** @type {Any} */ ({}), busy: '',
	json: /** @type {string | undefined} */ (undefined), explained: unset,
	outcome: unset, form: 'curl', key: '', note: '', timeout: '', sent: '',
}) {
	// `json` is the arguments as they are typed, undefined in the form; `key` the request id of a write that is not over;
	// `sent` the inputs that what is shown below them is about.
	static topics = ['confirmations', 'tools'];
	/** What is wrong with each value, by pointer. @type {Map<string, string[]>} */ violations = new Map();

	/** @param {Changed} changed */
	willUpdate(changed) {
		const isOther = changed.has('tool') && changed.get('tool')?.name !== this.tool.name;
		if (isOther) {
			this.abort?.abort();
			this.clear();
			const empty = { args: {}, json: undefined, key: '', note: '', timeout: '' };
			Object.assign(this, empty, store.drafts.get(this.tool.name));
		}
		if (changed.has('request') && this.request) this.key = this.request;
		if (isOther || changed.has('call') || changed.has('confirmation')) this.refill();
	}

	updated() {
		const { args, json, key, timeout } = this;
		store.drafts.set(this.tool.name, { args, json, key, timeout });
	}

	clear() {
		[this.explained, this.outcome, this.problem] = [undefined, undefined, undefined];
		this.violations = new Map();
	}

	/** Takes over the arguments of a call that was recorded, or that a person was asked to approve. */
	async refill() {
		const { call, confirmation } = this;
		if (!call && !confirmation) return;
		try {
			const { confirmation: one, recording = one } = await get(confirmation ?
				`/v1/confirmations/${segment(confirmation)}` : `/v1/calls/${segment(call)}?view=EVENTS`);
			const args = recording?.arguments;
			// What is sensitive is not kept, and is typed again.
			if (args) this.fill(withoutSensitive(args, this.tool.input_schema));
			if (one) this.key = one.request_id;
			this.note = !args ? `The arguments of that call are not kept. ${recording?.note ?? ''}` : !one ? ''
				: one.state === 'APPROVED' ? 'You repeat the approved call: it is carried out once.'
					: `The approval of that call is ${stateName(one.state)}.`;
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
			if (!isObject(args)) throw new Error('an object, { … }, is needed');
			this.args = args;
			if (this.problem?.code === 'ARGUMENTS') this.problem = undefined;
			return args;
		} catch (error) {
			this.sent = this.inputs;
			this.problem = problem(`not JSON: ${/** @type {Error} */ (error).message}`, 'ARGUMENTS');
			return undefined;
		}
	}

	/** The inputs as a text. */
	get inputs() {
		return `${this.timeout} ${this.json ?? stringify(this.args, 2)}`;
	}

	/** Asks the server about the arguments. @param {string} busy @param {(args: Any) => Promise<void>} ask */
	async send(busy, ask) {
		this.clear();
		this.sent = this.inputs;
		if (!this.first('form').reportValidity()) return;
		const args = this.taken();
		if (!args) return;
		this.busy = busy;
		try {
			await ask(args);
		} catch (error) {
			this.problem = problem(/** @type {Error} */ (error).name === 'AbortError' ? 'by you.' : error, 'STOPPED');
		}
		for (const { pointer, description } of this.explained?.field_violations ?? this.problem?.body.field_violations ??
			[]) this.violations.set(pointer, [...(this.violations.get(pointer) ?? []), description]);
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
		/** @type {Any | undefined} */ let kept;
		await this.send('run', async (args) => {
			kept = withoutSensitive(args, this.tool.input_schema);
			this.abort = new AbortController();
			if (this.tool.category !== 'READ') this.key ||= uuid();
			const { data, headers } = await post(`/v1/tools/${segment(this.tool.name)}:call`, args, {
				...(this.key && { 'idempotency-key': this.key }), ...(this.timeout && { 'x-toolwire-timeout': this.timeout }),
			}, this.abort.signal);
			this.outcome = { ...data, call_id: data.call_id ?? headers.get('x-toolwire-call-id') };
		});
		// A write that waits, or whose answer was lost, is asked for again under its request; any other is over.
		const { status = 200, code = '' } = this.problem ?? {};
		const isAsked = code === 'CONFIRMATION_REQUIRED';
		if (kept && (status === 200 || isAsked)) keepInput(this.tool.name, kept);
		if (kept && !isAsked && status > 0 && status < 500) this.key = this.note = '';
		this.requestUpdate();
	}

	render() {
		const schema = this.tool.input_schema ?? { type: 'object' };
		const isEmpty = schema.type === 'object' && !Object.keys(schema.properties ?? {}).length &&
			!schema.additionalProperties;
		const canForm = isEmpty || kind(resolve(schema, schema)) === 'object';
		if (!canForm) this.json ??= stringify(this.args, 2);
		const { busy, json, key } = this;
		const isGone = store.synced.has('tools') && !store.tools.has(this.tool.name);
		const rests = Boolean(busy) || isGone;
		const isOld = (this.explained || this.outcome || this.problem) && this.sent !== this.inputs;
		return html`<section class="try" aria-label="Try it">
			<div class="bar"><h2>Try it</h2>${canForm && !isEmpty ? html`<button class="small end" @click=${this.swap}>
				${json === undefined ? 'As JSON' : 'As a form'}</button>` : nothing}</div>
			${this.pick()}
			${isGone ? html`<p class="notice bad" role="status">This tool was removed: it cannot be called.</p>` : nothing}
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
					<button class="main" type="button" data-run ?disabled=${rests || this.tool.status?.state === 'DISABLED'}
						@click=${this.run}>${busy === 'run' ? 'Running…' : 'Call'}</button>
					<button type="button" ?disabled=${rests} @click=${this.explain}>${busy === 'explain' ? 'Asking…' :
						'What would happen?'}</button>
					${busy === 'run' ? html`<button type="button" @click=${() => this.abort?.abort()}>Stop</button>` : nothing}
					<label class="inline">Deadline <input class="short" placeholder="none" pattern="[0-9.]+ ?(ms|[smhd])?"
						title="How long you wait, such as 30s or 2m; without one, as long as the server allows"
						.value=${this.timeout}
						@input=${(event) => { this.timeout = event.target.value.trim(); }}></label>
				</div>
				${key && !busy ? html`<p class="quiet">The next call repeats the request <code>${key.slice(0, 8)}…</code>: it
					is done once.
					<button class="small" type="button" @click=${() => { this.key = this.note = ''; }}>Make a new
						request</button></p>` : nothing}
			</form>
			<div class="outcome ${isOld ? 'old' : ''}" tabindex="-1" aria-live="polite">${isOld ? html`<p
				class="notice">The inputs have changed since.</p>` : nothing}${this.explained
				? prospect(this.explained) : nothing}${this.ended()}</div>
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
		const texts = last.map((input) => stringify(input.arguments));
		// They are shown from where they begin to differ.
		let from = -20;
		while (texts[1] && texts.every((text) => text[from + 20] && text[from + 20] === texts[0][from + 20])) from += 1;
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
				${last.map(({ time }, index) => html`<option .value=${String(index)}>${ago(time)}:
					${from > 0 ? '…' : ''}${texts[index].slice(Math.max(0, from)).slice(0, 160)}</option>`)}<option
					value="forget">Forget these</option></select>` : nothing}</div>`;
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

/** @type {Record<string, string>} */
const PROSPECTS = { EXECUTED: 'would run', CACHED: 'a cache would answer', LIMITED: 'would wait for its source',
	CONFIRMATION_REQUIRED: 'needs approval', INVALID: 'arguments are wrong', REFUSED: 'would be refused' };

/** What a call would come to. @param {Any} value */
function prospect(value) {
	const { prospect: what, summary, refusal, confirmation, quotas, limit, cache, field_violations: violations } = value;
	const may = confirmation?.may_decide;
	const isStopped = ['REFUSED', 'INVALID'].includes(what);
	return html`<div class="explained"><p class="line"><b>What would happen</b>
		${badge(what, PROSPECTS[what])}</p>
		<p>${shown(summary ?? '')} <span class="quiet">Nothing was done.</span></p>
		${violationsOf(violations)}
		${facts([
			['Allowed', refusal ? html`no: ${shown(refusal.message)} <code>${refusal.reason}</code>` : !isStopped && 'yes'],
			['Approval', confirmation ? html`needed. ${shown(confirmation.summary)} ${may?.allowed ? 'You may decide.'
				: may?.reason ? html`You may not decide: ${shown(may.reason)}.` : nothing}` : !isStopped && 'not needed'],
			['Quota', quotas?.length && html`${quotas.map((one) =>
				html`<div>${one.left} of ${one.most} left (${shown(one.quota)})</div>`)}`],
			['Source', limit && html`${shown(limit.source)}: ${limit.can_make_request ? 'can be asked now'
				: html`a wait of ${lasting(span(limit.wait_time))}. ${shown(limit.reason ?? '')}`}`],
			['Cache', cache && (cache.hit ? `has an answer, ${lasting(span(cache.age))} old` : 'has no answer')],
		])}
		${value.arguments ? html`<details class="more"><summary>Arguments as the tool would get them</summary>
			<tw-arguments .value=${value.arguments}></tw-arguments></details>` : nothing}</div>`;
}

/** A new request id, on plain HTTP too, where pages have no `randomUUID`. */
const uuid = () => '10000000-1000-4000-8000-100000000000'.replace(/[018]/g, (digit) => (Number(digit) ^
	(crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (Number(digit) / 4)))).toString(16));
