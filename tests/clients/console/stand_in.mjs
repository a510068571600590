// A server that speaks the REST of the console (docs/HTTP.md) over data of its own, and serves console/ under its real
// policy. For work on the page; the tests run against it and against Toolwire.
// Usage: node stand_in.mjs [--port 50090] [--tools 1000] [--calls 10000] [--sign-in token]
import { createServer } from 'node:http';
import { extname, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import { served, TYPES } from './files.mjs';
import { explain, makeCall, refuse, Refused, tool } from './stand_in_calls.mjs';
import { basic, limits, quotas } from './stand_in_data.mjs';
import { converse } from './stand_in_chat.mjs';
import { State } from './stand_in_state.mjs';
import { stream } from './stand_in_stream.mjs';
import { TASK_ROUTES } from './stand_in_tasks.mjs';

/** The policy that the server sends with the page, with the origins of issuers. */
export const policy = (issuers = []) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; ` +
  `connect-src ${["'self'", ...issuers].join(' ')}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; ` +
  `require-trusted-types-for 'script'; trusted-types lit-html`;

/** What each route answers; `:name` is a part of the path. */
const ROUTES = {
  'GET /v1/viewer': ({ viewer }) => viewer.shown,
  'GET /v1/limits': ({ state, viewer }) => ({ limits: limits(state.now(), viewer.observes) }),
  'GET /v1/quotas': ({ state, query, viewer }) => page('quotas', quotas(state.now()).filter(({ user_id: user }) =>
    user === viewer.user_id || (viewer.observes && query.get('user_id') === '*')), query),
  'GET /v1/providers': ({ state }) => ({ providers: state.providers }),
  'GET /v1/stats': ({ state, query }) => state.stats(Number.parseInt(query.get('step') ?? '1', 10)),
  'GET /v1/tools': ({ state }) => ({ tools: [...state.tools.values()].map(basic), next_cursor: null }),
  'GET /v1/tools/:name': ({ state, at }) => tool(state, at.name),
  'GET /v1/calls': ({ state, query, viewer }) => {
    const mine = query.get('user_id') === '*' ? () => true : (call) => call.user_id ===
      (query.get('user_id') || viewer.user_id);
    const wanted = [...state.calls.values()].map(({ call }) => call).filter((call) =>
      (viewer.observes || call.user_id === viewer.user_id) && mine(call) &&
      (!query.get('parent_call_id') || call.parent_call_id === query.get('parent_call_id'))).sort((a, b) =>
        (a.arrived_at < b.arrived_at ? 1 : -1));
    return page('calls', wanted, query);
  },
  'GET /v1/calls/:id': ({ state, at, query, viewer }) => {
    const known = call(state, at.id, viewer);
    const events = query.get('view') === 'EVENTS';
    return { call: known.call, ...(known.result && known.call.ended_at && { result: known.result }),
      ...(events && { stages: known.stages,
      recording: known.args ? { arguments: known.args, expires_at: state.iso(state.now() + 86_400_000), note: '' }
        : { note: 'arguments and results are not recorded; an operator records them by [calls] record = "all"' }, trace_url:
          `https://jaeger.example/trace/${known.call.trace_id}` }) };
  },
  'POST /v1/calls/:id:cancel': ({ state, at, viewer }) => {
    const known = call(state, at.id, viewer);
    const cancelled = !known.call.ended_at;
    if (cancelled) state.end(known, { call: { state: 'CANCELLED', code: 'CANCELLED' } });
    return { cancelled };
  },
  'POST /v1/tools/:name:explain': ({ state, at, body, viewer }) => explain(state, tool(state, at.name), body, viewer),
  'POST /v1/tools/:name:call': (request) => makeCall(request),
  'GET /v1/confirmations': ({ state, query, viewer }) => page('confirmations',
    [...state.confirmations.values()].reverse()
    .filter((one) => visible(one, viewer) && (!query.has('states') ||
      query.getAll('states').includes(one.state))).map((one) => state.shown(one, viewer)), query),
  'GET /v1/confirmations/:id': ({ state, at, viewer }) => ({
    confirmation: state.shown(confirmation(state, at.id, viewer), viewer, true) }),
  'POST /v1/confirmations/:id:decide': ({ state, at, body, viewer }) => {
    const one = confirmation(state, at.id, viewer);
    if (one.state !== 'PENDING') {
      throw new Refused(409, 'CONFIRMATION_DECIDED',
        `${one.confirmation_id} is ${one.state.toLowerCase()}, decided by ${one.decided_by} at ${one.decided_at}`);
    }
    const { may_decide: may } = state.shown(one, viewer);
    if (!may.allowed) throw new Refused(403, 'MAY_NOT_DECIDE', may.reason);
    if (body.approve && may.name_required && body.approve.tool !== one.tool) throw new
      Refused(422, 'INVALID_ARGUMENT', 'approve.tool must repeat the name of the tool');
    if (body.deny && !body.deny.reason) throw new Refused(422, 'INVALID_ARGUMENT', 'deny.reason is required');
    state.change(one, { state: body.approve ? 'APPROVED' : 'DENIED', decided_by: viewer.user_id, decided_via: 'rest',
      decided_at: state.iso(),
      reason: (body.approve ?? body.deny).reason ?? '' });
    return { confirmation: state.shown(one, viewer, true) };
  },
  'GET /v1/records': ({ state, query }) => page('records', [...state.confirmations.values()].filter((one) =>
    one.decided_at).map((one, index) => ({
    sequence: index + 1, kind: 'DECISION', time: one.decided_at, user_id: one.decided_by, known_by: 'token', peer:
      '127.0.0.1', face: 'rest', tool: one.tool,
    definition_digest: one.definition_digest, arguments_digest: one.arguments_digest, verdict: one.state === 'DENIED'
      ? 'DENIED' : 'APPROVED', code: '', call_id: one.call_id,
    trace_id: '', confirmation_id: one.confirmation_id, approver: one.decided_by, caller: one.user_id, request_id:
      one.request_id, on_behalf_of: '', task_id: '', workload: '' })), query),
  'GET /v1/refusals': ({ state, query }) => page('refusals', [{ time: state.iso(), last_time: state.iso(), count: 3,
    reason: 'rejected', user_id: '', known_by: '',
    peer: '10.0.0.7', face: 'grpc', target: 'ToolService.CallTool' }], query),
  ...TASK_ROUTES,
};

const visible = (one, viewer) => viewer.approves || viewer.observes || one.user_id === viewer.user_id;

function call(state, id, viewer) {
  const known = state.calls.get(id);
  if (!known || (!viewer.observes && known.call.user_id !== viewer.user_id))
    refuse(404, 'NOT_FOUND', `There is no call ${id} of yours.`);
  return known;
}

function confirmation(state, id, viewer) {
  const one = state.confirmations.get(id);
  return one && visible(one, viewer) ? one : refuse(404, 'NOT_FOUND',
    `There is no confirmation ${id} that you may see.`);
}

function page(name, all, query) {
  const size = Number(query.get('page_size') ?? 100);
  const from = Number(query.get('page_token') || 0);
  return { [name]: all.slice(from, from + size), next_page_token: from + size < all.length ? String(from + size) : '' };
}

/** The path's route and its parts. */
function find(method, path) {
  for (const [route, answer] of Object.entries(ROUTES)) {
    const [wanted, pattern] = route.split(' ');
    const names = [];
    const expression = new RegExp(`^${pattern.replace(/:(name|id)/g, (_, name) =>
      { names.push(name); return '([^/:]+)'; })}$`);
    const found = wanted === method && expression.exec(path);
    if (found) return { answer, at: Object.fromEntries(names.map((name, index) =>
      [name, decodeURIComponent(found[index + 1])])) };
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
  const view = (user) => ({ ...user, shown: { user_id: user.user_id, user_email: '', user_role: '', known_by: users ?
    'token' : 'loopback', observes: user.observes ?? false,
    approves: user.approves ?? false, approves_own: Boolean(user.open) } });
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    try {
      if (url.search && url.pathname.endsWith('.js'))
        throw new Refused(400, 'INVALID_REQUEST', 'This path takes no query.');
      if (request.method === 'GET' && !url.pathname.startsWith('/v1/')) return await
        serveFile(url.pathname, response, issuers.map(({ issuer }) => new URL(issuer).origin));
      if (url.pathname === '/v1/console') {
        return send(response, 200, { version: '0.1.0', sign_in: issuers.length ? 'issuer' : users ? 'token' : 'none',
          issuers, public_url: '', mcp_url: '', grpc: '', faces: { rest: true, mcp: true, agui: true } });
      }
      const viewer = viewerOf(request.headers);
      if (url.pathname === '/v1/events') return stream({ state, request, response, query: url.searchParams, viewer,
        open });
      const isTurn = request.method === 'POST' && url.pathname === '/agent/stream';
      const found = isTurn ? { answer: converse } : find(request.method, url.pathname);
      if (!found) throw new Refused(404, 'NOT_FOUND', `There is no ${request.method} ${url.pathname}.`);
      let text = '';
      for await (const chunk of request) text += chunk;
      const answer = await found.answer({ page, response, state, at: found.at, query: url.searchParams,
        body: text ? JSON.parse(text) : {},
        viewer, headers: request.headers });
      if (answer?.text !== undefined) response.writeHead(200, { 'content-type': 'text/plain', ...answer.headers })
        .end(answer.text);
      else if (!isTurn) send(response, 200, answer, answer.call_id ? { 'x-toolwire-call-id': answer.call_id } : {});
    } catch (error) {
      if (!(error instanceof Refused)) console.error(error);
      send(response, error.status ?? 500, error.body ?? { title: 'failed', detail: String(error), code: 'UNKNOWN' },
        { 'content-type': 'application/problem+json' });
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
  const name = normalize(path === '/' ? '/index.html' : path).slice(1);
  const text = await served(name).catch(() => undefined);
  if (!text) throw new Refused(404, 'NOT_FOUND', `There is no ${path}.`);
  response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain', 'content-security-policy':
    policy(issuers), 'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin', 'cross-origin-resource-policy':
    'same-origin', 'cache-control': 'no-cache' });
  response.end(text);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flag = (name, fallback) => { const at = process.argv.indexOf(`--${name}`); return at < 0 ? fallback :
    process.argv[at + 1]; };
  const users = flag('sign-in') === 'token' ? { demo: { user_id: 'demo' }, lead:
    { user_id: 'lead', observes: true, approves: true } } : undefined;
  const { url } = await standIn({ port: Number(flag('port', 50090)), toolCount: Number(flag('tools', 8)), callCount:
    Number(flag('calls', 40)), users });
  console.log(`the console is at ${url}/${users ? ', by the token demo or lead' : ''}`);
}
