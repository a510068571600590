// A server that speaks the REST of the console (docs/HTTP.md) over data of its own, and serves console/ under its real
// policy. For work on the page; the tests run against it and against Toolwire.
// Usage: node stand_in.mjs [--port 50090] [--tools 1000] [--calls 10000] [--sign-in token]
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { basic, limits } from './stand_in_data.mjs';
import { State } from './stand_in_state.mjs';
import { stream } from './stand_in_stream.mjs';

export const PAGE = process.env.PAGE ?? join(dirname(fileURLToPath(import.meta.url)), '../../../console');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
/** The policy that the server sends with the page, with the origins of issuers. */
export const policy = (issuers = []) => `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; ` +
  `connect-src ${["'self'", ...issuers].join(' ')}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; ` +
  `require-trusted-types-for 'script'; trusted-types lit-html`;

/** A request that is refused. */
class Refused extends Error {
  constructor(status, code, detail, more = {}) {
    super(detail);
    Object.assign(this, { status, body: { type: `/errors/${code}`, title: code, status, detail, code, ...more } });
  }
}

/** What each route answers; `:name` is a part of the path. */
const ROUTES = {
  'GET /v1/viewer': ({ viewer }) => viewer.shown,
  'GET /v1/limits': ({ state }) => ({ limits: limits(state.now()) }),
  'GET /v1/providers': ({ state }) => ({ providers: state.providers }),
  'GET /v1/stats': ({ state, query }) => state.stats(query.get('window') === '1s' ? 1 : 900),
  'GET /v1/tools': ({ state }) => ({ tools: [...state.tools.values()].map(basic), next_cursor: null }),
  'GET /v1/tools/:name': ({ state, at }) => tool(state, at.name),
  'GET /v1/calls': ({ state, query, viewer }) => {
    const mine = query.get('user_id') === '*' ? () => true : (call) => call.user_id === (query.get('user_id') || viewer.user_id);
    const wanted = [...state.calls.values()].map(({ call }) => call).filter((call) => (viewer.observes || call.user_id === viewer.user_id) && mine(call) &&
      (!query.get('parent_call_id') || call.parent_call_id === query.get('parent_call_id'))).sort((a, b) => (a.arrived_at < b.arrived_at ? 1 : -1));
    return page('calls', wanted, query);
  },
  'GET /v1/calls/:id': ({ state, at, query, viewer }) => {
    const known = call(state, at.id, viewer);
    const events = query.get('view') === 'EVENTS';
    return { call: known.call, ...(known.result && known.call.ended_at && { result: known.result }), ...(events && { stages: known.stages,
      recording: known.args ? { arguments: known.args, expires_at: state.iso(state.now() + 86_400_000), note: '' }
        : { note: 'Arguments and result are not kept: `[calls] record` is "none". `record = "all"` keeps them for 24 h.' }, trace_url: `https://jaeger.example/trace/${known.call.trace_id}` }) };
  },
  'POST /v1/calls/:id:cancel': ({ state, at, viewer }) => {
    const known = call(state, at.id, viewer);
    const cancelled = !known.call.ended_at;
    if (cancelled) state.end(known, { call: { state: 'CANCELLED', code: 'CANCELLED' } });
    return { cancelled };
  },
  'POST /v1/tools/:name:explain': ({ state, at, body, viewer }) => explain(state, tool(state, at.name), body, viewer),
  'POST /v1/tools/:name:call': (request) => makeCall(request),
  'GET /v1/confirmations': ({ state, query, viewer }) => page('confirmations', [...state.confirmations.values()].reverse()
    .filter((one) => visible(one, viewer) && (!query.has('states') || query.getAll('states').includes(one.state))).map((one) => state.shown(one, viewer)), query),
  'GET /v1/confirmations/:id': ({ state, at, viewer }) => state.shown(confirmation(state, at.id, viewer), viewer, true),
  'POST /v1/confirmations/:id:decide': ({ state, at, body, viewer }) => {
    const one = confirmation(state, at.id, viewer);
    if (one.state !== 'PENDING') {
      throw new Refused(409, 'CONFIRMATION_DECIDED', `${one.confirmation_id} is ${one.state.toLowerCase()}, decided by ${one.decided_by} at ${one.decided_at}`);
    }
    const { may_decide: may } = state.shown(one, viewer);
    if (!may.allowed) throw new Refused(403, 'MAY_NOT_DECIDE', may.reason);
    if (body.approve && may.name_required && body.approve.tool !== one.tool) throw new Refused(422, 'INVALID_ARGUMENT', 'approve.tool must repeat the name of the tool');
    if (body.deny && !body.deny.reason) throw new Refused(422, 'INVALID_ARGUMENT', 'deny.reason is required');
    state.change(one, { state: body.approve ? 'APPROVED' : 'DENIED', decided_by: viewer.user_id, decided_via: 'rest', decided_at: state.iso(),
      reason: (body.approve ?? body.deny).reason ?? '' });
    return { confirmation: state.shown(one, viewer, true) };
  },
  'GET /v1/records': ({ state, query }) => page('records', [...state.confirmations.values()].filter((one) => one.decided_at).map((one, index) => ({
    sequence: index + 1, kind: 'DECISION', time: one.decided_at, user_id: one.decided_by, known_by: 'token', peer: '127.0.0.1', face: 'rest', tool: one.tool,
    definition_digest: one.definition_digest, arguments_digest: one.arguments_digest, verdict: one.state === 'DENIED' ? 'DENIED' : 'APPROVED', code: '', call_id: one.call_id,
    trace_id: '', confirmation_id: one.confirmation_id, approver: one.decided_by, caller: one.user_id, request_id: one.request_id, on_behalf_of: '', task_id: '', workload: '' })), query),
  'GET /v1/refusals': ({ state, query }) => page('refusals', [{ time: state.iso(), last_time: state.iso(), count: 3, reason: 'rejected', user_id: '', known_by: '',
    peer: '10.0.0.7', face: 'grpc', target: 'ToolService.CallTool' }], query),
  'GET /v1/tasks': ({ query }) => page('tasks', [], query),
};

const tool = (state, name) => state.tools.get(name) ?? refuse(404, 'UNKNOWN_TOOL', `Unknown tool: ${name}.`);
const refuse = (...words) => { throw new Refused(...words); };
const visible = (one, viewer) => viewer.approves || viewer.observes || one.user_id === viewer.user_id;

function call(state, id, viewer) {
  const known = state.calls.get(id);
  if (!known || (!viewer.observes && known.call.user_id !== viewer.user_id)) refuse(404, 'NOT_FOUND', `There is no call ${id} of yours.`);
  return known;
}

function confirmation(state, id, viewer) {
  const one = state.confirmations.get(id);
  return one && visible(one, viewer) ? one : refuse(404, 'NOT_FOUND', `There is no confirmation ${id} that you may see.`);
}

function page(name, all, query) {
  const size = Number(query.get('page_size') ?? 100);
  const from = Number(query.get('page_token') || 0);
  return { [name]: all.slice(from, from + size), next_page_token: from + size < all.length ? String(from + size) : '' };
}

/** What the arguments break of `required`, `enum` and unknown names: enough for a form. */
function violations({ input_schema: schema }, args) {
  const missing = (schema.required ?? []).filter((name) => !(name in args)).map((name) => ({ pointer: `/${name}`, rule: 'required',
    description: `\`${name}\` is required: ${schema.properties[name].description ?? ''}` }));
  const wrong = Object.entries(args).flatMap(([name, value]) => {
    const known = schema.properties[name];
    if (!known) return [{ pointer: `/${name}`, rule: 'additionalProperties', description: `unknown parameter \`${name}\`` }];
    if (known.enum && !known.enum.includes(value)) return [{ pointer: `/${name}`, rule: 'enum', description: `must be one of ${known.enum.join(', ')}` }];
    if (known.type === 'integer' && typeof value !== 'number') return [{ pointer: `/${name}`, rule: 'type', description: 'must be a whole number' }];
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
  const broken = Object.entries(rules).find(([name, rule]) => !(args[name] <= rule.maximum && args[name] >= rule.minimum));
  return broken ? { cause: 'CONDITION', since: `, since \`${broken[0]}\` must be at most ${broken[1].maximum}, but is ${args[broken[0]]}` } : undefined;
}

const summary = (definition, args, since) => `${definition.title} (${definition.name})${since}: ${Object.entries(redact(definition, args))
  .map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')}`;

function explain(state, definition, args, viewer) {
  const wrong = violations(definition, args);
  const needed = why(definition, args);
  const prospect = wrong.length ? 'INVALID' : needed ? 'CONFIRMATION_REQUIRED' : definition.status.state === 'DEGRADED' ? 'LIMITED' : 'EXECUTED';
  const source = limits(state.now()).find((limit) => limit.source === definition.source?.name);
  return { prospect, summary: { INVALID: 'The arguments break the schema.', CONFIRMATION_REQUIRED: 'A person must approve it first.', LIMITED: 'It would wait for its source.',
    EXECUTED: 'The tool would be executed at once.' }[prospect], tool: definition.name, definition_digest: definition.digest, field_violations: wrong,
    ...(wrong.length ? {} : { arguments: redact(definition, args) }), request_id_required: definition.category !== 'READ',
    quotas: [{ quota: '100 calls in 1m', most: 100, left: 57 }], ...(source && { limit: source }), ...(definition.cache && { cache: { hit: false } }),
    ...(needed && { confirmation: { cause: needed.cause, summary: summary(definition, args, needed.since),
      may_decide: viewer.open ? { allowed: true, reason: '', name_required: false } : { allowed: false, reason: 'it is your own call, which another user must decide on', name_required: true } } }) };
}

function makeCall({ state, at, body: args, viewer, headers }) {
  const definition = tool(state, at.name);
  const wrong = violations(definition, args);
  if (wrong.length) throw new Refused(422, 'INVALID_ARGUMENT', `the arguments of ${definition.name} break ${wrong.length} rules`, { field_violations: wrong });
  const key = headers['idempotency-key'] ?? '';
  if (definition.category !== 'READ' && !key) throw new Refused(400, 'REQUEST_ID_REQUIRED', 'A write needs an Idempotency-Key.');
  const known = key && state.requests.get(key);
  if (known?.answer) return known.answer;
  const started = state.start({ tool: definition.name, user_id: viewer.user_id, request_id: key, args: redact(definition, args) });
  const needed = why(definition, args);
  const approved = known?.confirmation?.state === 'APPROVED';
  if (needed && !approved) {
    const one = known?.confirmation ?? state.confirm({ tool: definition, args: redact(definition, args), user: viewer.user_id, call_id: started.call.call_id, request_id: key,
      cause: needed.cause, summary: summary(definition, args, needed.since) });
    if (key) state.requests.set(key, { confirmation: one });
    state.end(started, { call: { state: 'AWAITING_CONFIRMATION', confirmation_id: one.confirmation_id } });
    if (one.state === 'DENIED') throw new Refused(409, 'CONFIRMATION_DENIED', `A person denied the call: ${one.reason}`);
    throw new Refused(428, 'CONFIRMATION_REQUIRED', 'A person must approve this call.', { call_id: started.call.call_id,
      confirmation: { confirmation_id: one.confirmation_id, summary: one.summary, arguments: one.arguments, expires_at: one.expires_at, url: `/#/approvals/${one.confirmation_id}` } });
  }
  if (approved) state.change(known.confirmation, { state: 'USED', used_by_call_id: started.call.call_id, used_at: state.iso() });
  const provenance = { source_ids: [`tool:${definition.name}:v1`], as_of: '2026-01-15', from_cache: false, warnings: [],
    ...(definition.untrusted && { untrusted_framing: { meta: 'USER_GENERATED_CONTENT_BELOW', nonce: 'a1b2c3' } }) };
  if (definition.name === 'debug_fail') {
    const code = args.code ?? 'RATE_LIMITED';
    const error = { code, message: `Failed with ${code} as asked.`, retryable: true, retry_after: '2s', origin: 'SOURCE', field_violations: [], attempts: 1 };
    state.end(started, { call: { state: 'FAILED', code }, result: { tool: definition.name, fetched_at: state.iso(), error, provenance } });
    throw new Refused(code === 'NOT_FOUND' ? 404 : 429, code, error.message, { retryable: true, retry_after_ms: 2000, call_id: started.call.call_id });
  }
  const data = definition.name === 'get_quotes' ? { as_of: '2026-01-15', currency: 'USD', quotes: String(args.symbol).split(',').map((symbol) => ({ symbol, price: 193.12, change_pct: 1.1 })) }
    : { echo: redact(definition, args), writes: 1 };
  const stages = ['CHECKING', 'EXECUTING', 'COMMITTING'].map((type) => ({ type, time: state.iso() }));
  state.end(started, { result: { tool: definition.name, fetched_at: state.iso(), data, provenance }, stages });
  const answer = { call_id: started.call.call_id, tool: definition.name, fetched_at: state.iso(), data, provenance };
  if (key) state.requests.set(key, { ...known, answer });
  return answer;
}

/** The path's route and its parts. */
function find(method, path) {
  for (const [route, answer] of Object.entries(ROUTES)) {
    const [wanted, pattern] = route.split(' ');
    const names = [];
    const expression = new RegExp(`^${pattern.replace(/:(name|id)/g, (_, name) => { names.push(name); return '([^/:]+)'; })}$`);
    const found = wanted === method && expression.exec(path);
    if (found) return { answer, at: Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1])])) };
  }
  return undefined;
}

/** Starts it: `{url, state, cut(), close()}`. `users` by their token; without them everybody may call. */
export async function standIn({ port = 0, users, issuers = [], ...seed } = {}) {
  const state = new State(seed);
  const open = new Set();
  let refusesAll = false;
  const viewerOf = (headers) => {
    if (!users) {
      const user = headers['x-toolwire-user'] ?? 'demo';
      return view({ user_id: user, observes: true, approves: true, open: true });
    }
    const user = users[/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]];
    if (!user || refusesAll) throw new Refused(401, 'UNAUTHENTICATED', 'The token is not known.');
    return view(user);
  };
  const view = (user) => ({ ...user, shown: { user_id: user.user_id, user_email: '', user_role: '', known_by: users ? 'token' : 'loopback', observes: user.observes ?? false,
    approves: user.approves ?? false, approves_own: Boolean(user.open) } });
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    try {
      if (request.method === 'GET' && !url.pathname.startsWith('/v1/')) return await serveFile(url.pathname, response, issuers.map(({ issuer }) => new URL(issuer).origin));
      if (url.pathname === '/v1/console') {
        return send(response, 200, { version: '0.1.0', sign_in: issuers.length ? 'issuer' : users ? 'token' : 'none', issuers, public_url: '', mcp_url: '', grpc: '', faces: { rest: true, mcp: true, agui: true } });
      }
      const viewer = viewerOf(request.headers);
      if (url.pathname === '/v1/events') return stream({ state, request, response, query: url.searchParams, viewer, open });
      const found = find(request.method, url.pathname);
      if (!found) throw new Refused(404, 'NOT_FOUND', `There is no ${request.method} ${url.pathname}.`);
      let text = '';
      for await (const chunk of request) text += chunk;
      const answer = found.answer({ state, at: found.at, query: url.searchParams, body: text ? JSON.parse(text) : {}, viewer, headers: request.headers });
      send(response, 200, answer, answer.call_id ? { 'x-toolwire-call-id': answer.call_id } : {});
    } catch (error) {
      if (!(error instanceof Refused)) console.error(error);
      send(response, error.status ?? 500, error.body ?? { title: 'failed', detail: String(error), code: 'UNKNOWN' }, { 'content-type': 'application/problem+json' });
    }
  });
  await new Promise((resolve) => { server.listen(port, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    state,
    /** Cuts all streams of events. */
    cut: () => open.forEach((response) => response.destroy()),
    /** Refuses every token, as if all had expired, or accepts them again. */
    refuse: (all) => { refusesAll = all; },
    close: () => { server.closeAllConnections(); server.close(); },
  };
}

function send(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers });
  response.end(JSON.stringify(body));
}

async function serveFile(path, response, issuers) {
  const name = normalize(path === '/' ? '/index.html' : path);
  const text = await readFile(join(PAGE, name)).catch(() => undefined);
  if (!text) throw new Refused(404, 'NOT_FOUND', `There is no ${path}.`);
  response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain', 'content-security-policy': policy(issuers), 'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer', 'cache-control': 'no-cache' });
  response.end(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flag = (name, fallback) => { const at = process.argv.indexOf(`--${name}`); return at < 0 ? fallback : process.argv[at + 1]; };
  const users = flag('sign-in') === 'token' ? { demo: { user_id: 'demo' }, lead: { user_id: 'lead', observes: true, approves: true } } : undefined;
  const { url } = await standIn({ port: Number(flag('port', 50090)), toolCount: Number(flag('tools', 8)), callCount: Number(flag('calls', 40)), users });
  console.log(`the console is at ${url}/${users ? ', by the token demo or lead' : ''}`);
}
