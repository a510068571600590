// The card of a tool: when to use it, its parameters, and below a form to try it.
import { html, nothing } from '../vendor/lit.js';
import { get, problem, segment } from '../lib/api.js';
import { properties } from '../lib/element.js';
import { stringify } from '../lib/json.js';
import { link } from '../lib/route.js';
import { bounds, condition, resolve, typeOf } from '../lib/schema.js';
import { store } from '../lib/store.js';
import { lasting, span } from '../lib/time.js';
import { brief, shown } from '../lib/text.js';
import { badge, consequence, facts } from '../elements/badges.js';
import { problemOf } from '../elements/problem.js';
import './try.js';

/** @typedef {Any} Tool */

class ToolCard extends properties({
  name: '', back: '', query: new URLSearchParams(), tool: /** @type {Tool | undefined} */ (undefined),
  problem: /** @type {Failure} */ (undefined),
}) {
  static topics = ['tools', 'viewer'];
  asked = '';

  /** @param {Map<string, any>} changed */
  willUpdate(changed) {
    if (changed.has('name')) [this.tool, this.problem, this.asked] = [undefined, undefined, ''];
    const known = store.tools.get(this.name);
    const version = `${this.name} ${known?.digest ?? ''} ${known?.status?.state ?? ''}`;
    if (store.viewer.user_id && version !== this.asked && (known || store.synced.has('tools'))) {
      this.asked = version;
      this.load();
    }
  }

  async load() {
    const { name } = this;
    try {
      const answer = await get(`/v1/tools/${segment(name)}`);
      if (this.name === name) [this.tool, this.problem] = [answer.tool?.name ? answer.tool : answer, undefined];
    } catch (error) {
      if (this.name === name) this.problem = problem(error);
    }
  }

  render() {
    const { tool } = this;
    const back = html`<p class="crumbs"><a href=${this.back || '#/tools'} data-back>‹ Tools</a></p>`;
    if (!tool) return html`${back}${this.problem ? problemOf(this.problem, () => this.load()) : html`<p class="empty">Loading…</p>`}`;
    const state = tool.status?.state;
    const schema = tool.input_schema ?? {};
    return html`<article>${back}
      <header>
        <p class="line">${consequence(tool)} ${state === 'READY' ? nothing : badge(state)}
          ${tool.requires_confirmation ? html`<span class="badge wait">needs approval</span>` : nothing}</p>
        <h1>${shown(tool.title || tool.name)}</h1>
        <p class="quiet"><code>${tool.name}</code>${tool.version ? html` ${tool.version}` : nothing}</p>
        ${tool.status?.reason ? html`<p class="notice ${state === 'DISABLED' ? 'bad' : ''}">${shown(tool.status.reason)}</p>` : nothing}
        ${sentences(tool.description ?? '')}
        ${conditions(tool)}
      </header>
      <tw-try .tool=${tool} .call=${this.query.get('call') ?? ''} .request=${this.query.get('request') ?? ''}></tw-try>
      ${parameters(schema)}
      <details class="more"><summary>Definition</summary>${facts([
        ['Provider', tool.provider ? html`<a href=${link('providers')}>${tool.provider}</a>` : `this server${tool.domain ? `, ${tool.domain}` : ''}`],
        ['Tags', (tool.tags ?? []).join(', ')],
        ['Time-out', tool.timeout ? lasting(span(tool.timeout)) : ''],
        ['Cached', tool.cache ? `for ${lasting(span(tool.cache.ttl))}, per ${tool.cache.scope}` : ''],
        ['Source', tool.source?.name ?? ''],
        ['Calls', (tool.depends_on ?? []).length ? html`${tool.depends_on.map((/** @type {string} */ name) => html`<a href=${link('tools', name)}>${name}</a> `)}` : ''],
        ['Results', tool.untrusted ? 'hold text that people outside wrote' : ''],
        ['Repeated', tool.idempotent ? 'changes nothing more' : ''],
        ['Typed RPC', tool.typed_method ?? ''],
        ['Size', `${stringify(schema).length.toLocaleString('en')} characters of schema, ${(tool.description ?? '').length.toLocaleString('en')} of description`],
        ['Digest', html`<code class="wrap" title=${tool.digest}>${brief(tool.digest ?? '')}</code>`],
      ])}
      <p><a href=${link('calls', '', { tool: tool.name })}>Calls of this tool</a></p>
      ${(tool.guidance ?? []).length ? html`<ul>${tool.guidance.map((/** @type {string} */ line) => html`<li>${shown(line)}</li>`)}</ul>` : nothing}
      ${tool.output_schema ? html`<h3>Shape of the result</h3><tw-json .value=${tool.output_schema} .open=${1}></tw-json>` : nothing}</details>
    </article>`;
  }
}
customElements.define('tw-tool', ToolCard);

/** What a description says of when to use the tool, and when not, on lines of their own. @param {string} description */
function sentences(description) {
  const parts = description.split(/(?<=\.)\s+(?=(?:Use this|Do not use|Don't use|Prefer|Not for)\b)/);
  return html`${parts.map((part) => {
    const isNot = /^(Do not|Don't|Not for)/.test(part);
    const isUse = /^(Use this|Prefer)/.test(part);
    return html`<p class=${isNot ? 'use not' : isUse ? 'use' : 'lead-text'}>${shown(part)}</p>`;
  })}`;
}

/** @param {Tool} tool */
function conditions(tool) {
  let rules = tool.approve_unless;
  try {
    rules = typeof rules === 'string' ? JSON.parse(rules || '{}') : (rules ?? {});
  } catch {
    return nothing;
  }
  const names = Object.keys(rules);
  if (!names.length || tool.requires_confirmation) return nothing;
  return html`<p class="notice">A person must approve a call unless ${names.map((name, index) => html`${index ? ', and ' : ''}<code>${name}</code>
    is ${shown(stated(rules[name]))}`)}.</p>`;
}

/** @param {Any} rule */
const stated = (rule) => bounds(rule) || condition(undefined, rule).words;

/** @param {Any} schema */
function parameters(schema) {
  const properties = Object.entries(schema.properties ?? {});
  if (!properties.length) return nothing;
  const required = new Set(schema.required ?? []);
  return html`<details class="more"><summary>Parameters</summary><dl class="parameters">${properties.map(([name, one]) => {
    const known = resolve(/** @type {any} */ (one), schema);
    return html`<div><dt><code>${name}</code> <span class="quiet">${typeOf(known, schema)}${required.has(name) ? ', required' : ''}${known.writeOnly ? ', sensitive' : ''}</span></dt>
      <dd>${shown(known.description ?? '')} <span class="quiet">${bounds(known)}</span></dd></div>`;
  })}</dl></details>`;
}
