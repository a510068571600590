// Words in colour, which never stand for the colour alone.
import { html, nothing } from '../vendor/lit.js';
import { shown, words } from '../lib/text.js';

/** @type {Record<string, string>} */
const TONES = {
	SUCCEEDED: 'good', APPROVED: 'good', USED: 'good', READY: 'good', SERVING: 'good', EXECUTED: 'good', CACHED: 'good',
		ALLOWED: 'good',
	RUNNING: 'busy', PENDING: 'wait', AWAITING_CONFIRMATION: 'wait', CONFIRMATION_REQUIRED: 'wait', LIMITED: 'wait',
		DEGRADED: 'wait',
	EXPIRED: 'wait', JOINING: 'wait', LEAVING: 'wait', DRAINING: 'wait',
	COMPLETED: 'good', BLOCKED: 'wait',
	FAILED: 'bad', OUTCOME_UNKNOWN: 'bad', DENIED: 'bad', REFUSED: 'bad', INVALID: 'bad', DISABLED: 'bad', VOIDED: 'bad',
};

/** @type {Record<string, string>} */
const NAMES = { AWAITING_CONFIRMATION: 'waits for approval', PENDING: 'waits', VOIDED: 'void', USED:
	'approved and used' };

/** @param {string} state */
export const stateName = (state) => NAMES[state] ?? words(state);

/** @param {string} state @param {string} [text] */
export const badge = (state, text) => html`<span class="badge ${TONES[state] ?? ''}">${text ??
	stateName(state)}</span>`;

/** What a call may change, and how much that matters. @param {Any} tool */
export const consequence = (tool) => html`<span class="badge ${tool.category === 'READ' ? '' :
	'busy'}">${words(tool.category)}</span>${
	tool.consequence_level === 'HIGH' ? html` <span class="badge bad">high consequence</span>`
		: tool.consequence_level === 'MEDIUM' ? html` <span class="badge wait">medium consequence</span>` : nothing}`;

/** Names and values; those without a value are left out. @param {any[][]} pairs */
export const facts = (pairs) => html`<dl class="facts">${pairs.map(([name, value]) => (!value ? nothing
	: html`<div><dt>${name}</dt><dd>${typeof value === 'string' ? shown(value) : value}</dd></div>`))}</dl>`;
