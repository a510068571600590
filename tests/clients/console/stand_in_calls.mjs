// Calls of the stand-in: what arguments break, what a call would come to, and the call.
import { limits } from './stand_in_data.mjs';

/** A request that is refused. */
export class Refused extends Error {
  constructor(status, code, detail, more = {}) {
    super(detail);
    Object.assign(this, { status, body: { type: `/errors/${code}`, title: code, status, detail, code, ...more } });
  }
}

export const tool = (state, name) => state.tools.get(name) ?? refuse(404, 'UNKNOWN_TOOL', `Unknown tool: ${name}.`);
export const refuse = (...words) => { throw new Refused(...words); };

/** What the arguments break of `required`, `enum` and unknown names: enough for a form. */
function violations({ input_schema: schema }, args) {
  const missing = (schema.required ?? []).filter((name) => !(name in args)).map((name) =>
    ({ pointer: `/${name}`, rule: 'required',
    description: `\`${name}\` is required: ${schema.properties[name].description ?? ''}` }));
  const wrong = Object.entries(args).flatMap(([name, value]) => {
    const known = schema.properties[name];
    if (!known) return [{ pointer: `/${name}`, rule: 'additionalProperties', description:
      `unknown parameter \`${name}\`` }];
    if (known.enum && !known.enum.includes(value)) return [{ pointer: `/${name}`, rule: 'enum', description:
      `must be one of ${known.enum.join(', ')}` }];
    if (known.type === 'integer' && typeof value !== 'number')
      return [{ pointer: `/${name}`, rule: 'type', description: 'must be a whole number' }];
    return [];
  });
  return [...missing, ...wrong];
}

const redact = ({ input_schema: schema }, args) => Object.fromEntries(Object.entries(args).map(([name, value]) =>
  [name, schema.properties[name]?.writeOnly ? '[redacted]' : value]));

/** Why a person must approve: the cause, and the condition in words. */
function why(definition, args) {
  if (definition.requires_confirmation) return { cause: 'MANIFEST', since: '' };
  const rules = JSON.parse(definition.approve_unless || '{}');
  const broken = Object.entries(rules).find(([name, rule]) =>
    !(args[name] <= rule.maximum && args[name] >= rule.minimum));
  return broken ? { cause: 'CONDITION', since:
    `, since \`${broken[0]}\` must be at most ${broken[1].maximum}, but is ${args[broken[0]]}` } : undefined;
}

const summary = (definition, args, since) =>
  `${definition.title} (${definition.name})${since}: ${Object.entries(redact(definition, args))
  .map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')}`;

export function explain(state, definition, args, viewer) {
  const wrong = violations(definition, args);
  const needed = why(definition, args);
  const prospect = wrong.length ? 'INVALID' : needed ? 'CONFIRMATION_REQUIRED' : definition.status.state ===
    'DEGRADED' ? 'LIMITED' : 'EXECUTED';
  const source = limits(state.now()).find((limit) => limit.source === definition.source?.name);
  return { prospect, summary: { INVALID: 'The arguments break the schema.', CONFIRMATION_REQUIRED:
    'A person must approve it first.', LIMITED: 'It would wait for its source.',
    EXECUTED: 'The tool would be executed at once.' }[prospect], tool: definition.name, definition_digest:
      definition.digest, field_violations: wrong,
    ...(wrong.length ? {} : { arguments: redact(definition, args) }), request_id_required: definition.category !==
      'READ',
    quotas: [{ quota: '100 calls in 1m', most: 100, left: 57 }], ...(source && { limit: source }),
      ...(definition.cache && { cache: { hit: false } }),
    ...(needed && { confirmation: { cause: needed.cause, summary: summary(definition, args, needed.since),
      may_decide: viewer.open ? { allowed: true, reason: '', name_required: false } :
        { allowed: false, reason: 'it is your own call, which another user must decide on', name_required: true } } })
          };
}

export function makeCall({ state, at, body: args, viewer, headers }) {
  const definition = tool(state, at.name);
  const wrong = violations(definition, args);
  if (wrong.length) throw new Refused(422, 'INVALID_ARGUMENT',
    `the arguments of ${definition.name} break ${wrong.length} rules`, { field_violations: wrong });
  const key = headers['idempotency-key'] ?? '';
  if (definition.category !== 'READ' && !key) throw new Refused(400, 'REQUEST_ID_REQUIRED',
    'A write needs an Idempotency-Key.');
  const known = key && state.requests.get(key);
  if (known?.answer) return known.answer;
  const started = state.start({ tool: definition.name, user_id: viewer.user_id, request_id: key, args:
    redact(definition, args) });
  const needed = why(definition, args);
  const approved = known?.confirmation?.state === 'APPROVED';
  if (needed && !approved) {
    const one = known?.confirmation ?? state.confirm({ tool: definition, args: redact(definition, args), user:
      viewer.user_id, call_id: started.call.call_id, request_id: key,
      cause: needed.cause, summary: summary(definition, args, needed.since) });
    if (key) state.requests.set(key, { confirmation: one });
    state.end(started, { call: { state: 'AWAITING_CONFIRMATION', confirmation_id: one.confirmation_id, ended_at:
      undefined } });
    if (one.state === 'DENIED') throw new Refused(409, 'CONFIRMATION_DENIED',
      `A person denied the call: ${one.reason}`);
    throw new Refused(428, 'CONFIRMATION_REQUIRED', 'A person must approve this call.', { call_id: started.call.call_id,
      confirmation: { confirmation_id: one.confirmation_id, summary: one.summary, arguments: one.arguments,
        expires_at: one.expires_at, url: `/#/approvals/${one.confirmation_id}` } });
  }
  if (approved) state.change(known.confirmation, { state: 'USED', used_by_call_id: started.call.call_id, used_at:
    state.iso() });
  const provenance = { source_ids: [`tool:${definition.name}:v1`], as_of: '2026-01-15', from_cache: false, warnings: [],
    ...(definition.untrusted && { untrusted_framing: { meta: 'USER_GENERATED_CONTENT_BELOW', nonce: 'a1b2c3' } }) };
  if (definition.name === 'debug_fail') {
    const code = args.code ?? 'RATE_LIMITED';
    const error = { code, message: `Failed with ${code} as asked.`, retryable: true, retry_after: '2s', origin:
      'SOURCE', field_violations: [], attempts: 1 };
    state.end(started, { call: { state: 'FAILED', code }, result:
      { tool: definition.name, fetched_at: state.iso(), error, provenance } });
    throw new Refused(code === 'NOT_FOUND' ? 404 : 429, code, error.message,
      { retryable: true, retry_after_ms: 2000, call_id: started.call.call_id });
  }
  const data = definition.name === 'get_quotes' ? { as_of: '2026-01-15', currency: 'USD', quotes:
    String(args.symbol).split(',').map((symbol) => ({ symbol, price: 193.12, change_pct: 1.1 })) }
    : { echo: redact(definition, args), writes: 1 };
  const stages = ['CHECKING', 'EXECUTING', 'COMMITTING'].map((type) => ({ type, time: state.iso() }));
  state.end(started, { result: { tool: definition.name, fetched_at: state.iso(), data, provenance }, stages });
  const answer = { call_id: started.call.call_id, tool: definition.name, fetched_at: state.iso(), data, provenance };
  if (key) state.requests.set(key, { ...known, answer });
  return answer;
}
