// What the stand-in knows: calls, confirmations and their events, by a clock that the test controls.
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

import { BOUNDS, digestOf, providers, tools } from './stand_in_data.mjs';
import { seedTasks } from './stand_in_tasks.mjs';

const seconds = (ms) => `${(ms / 1000).toFixed(3)}s`;

export class State extends EventEmitter {
  constructor({ toolCount = 8, callCount = 40, now = () => Date.now(), ownCalls = false } = {}) {
    super();
    this.setMaxListeners(0);
    this.now = now;
    this.ownCalls = ownCalls;
    this.tools = new Map(tools(toolCount).map((tool) => [tool.name, tool]));
    this.providers = providers();
    this.calls = new Map();
    this.confirmations = new Map();
    this.requests = new Map();
    /** Events with a position, for resumption. */
    this.log = [];
    this.seed(callCount);
    this.tasks = new Map();
    if (callCount) seedTasks(this);
  }

  iso(at = this.now()) {
    return new Date(at).toISOString();
  }

  /** Adds an event and tells the streams. */
  tell(event, data) {
    const entry = { position: this.log.length + 1, event, data, at: this.now() };
    this.log.push(entry);
    this.emit('event', entry);
  }

  record(fields) {
    const at = fields.at ?? this.now();
    const { at: _at, took, stages, result, args, ...rest } = fields;
    const call = {
      call_id: randomUUID(), tool: '', definition_digest: this.tools.get(fields.tool)?.digest ?? '', user_id: 'demo',
        face: 'rest', state: 'RUNNING',
      request_id: '', task_id: '', session_id: '', parent_call_id: '', trace_id: digestOf(String(at)).slice(0, 32),
        arrived_at: this.iso(at),
      deadline: this.iso(at + 120_000), duration: seconds(took ?? 0), code: 'UNSPECIFIED', from_cache: false,
        confirmation_id: '', result_kept: Boolean(result),
      ...(took === undefined ? {} : { ended_at: this.iso(at + took) }), ...rest,
    };
    const known = { call, stages: stages ?? [{ type: 'RECEIVED', time: this.iso(at) }], result, args };
    this.calls.set(call.call_id, known);
    return known;
  }

  start(fields) {
    const known = this.record(fields);
    this.tell('calls.started', { type: 'STARTED', call: known.call, stages: known.stages, event_time: this.iso() });
    return known;
  }

  end(known, fields) {
    const at = this.now();
    Object.assign(known.call, { ended_at: this.iso(at), duration: seconds(at - Date.parse(known.call.arrived_at)),
      state: 'SUCCEEDED' }, fields.call);
    known.result = fields.result;
    known.call.result_kept = Boolean(fields.result);
    known.stages.push(...(fields.stages ?? []));
    this.tell('calls.ended', { type: 'ENDED', call: known.call, stages: known.stages, event_time: this.iso() });
  }

  confirm({ tool, args, user, call_id: callId, request_id: requestId, cause = 'MANIFEST', summary }) {
    const one = {
      confirmation_id: `conf_${randomUUID().replaceAll('-', '')}`, state: 'PENDING', tool: tool.name, path:
        [tool.name], summary, arguments: args,
      arguments_digest: digestOf(args), definition_digest: tool.digest, category: tool.category, consequence_level:
        tool.consequence_level, cause,
      user_id: user, user_email: user === 'demo' ? '' : `${user}@corp.example`, face: 'mcp', client:
        'claude-code/2.1.0', task_id: '', session_id: '', call_id: callId, request_id: requestId,
      created_at: this.iso(), expires_at: this.iso(this.now() + 600_000), decided_by: '', decided_via: '',
        on_behalf_of: '', reason: '',
      used_by_call_id: '', sequence: 0, arguments_cut: false,
    };
    this.confirmations.set(one.confirmation_id, one);
    this.change(one, {}, 'requested');
    return one;
  }

  change(one, fields, what = 'changed') {
    Object.assign(one, fields, { sequence: this.log.length + 1 });
    this.tell(`confirmations.${what}`, { type: what.toUpperCase(), confirmation: one, sequence: one.sequence,
      event_time: this.iso() });
  }

  /** As a viewer sees it. */
  shown(one, viewer, whole = false) {
    const own = one.user_id === viewer.user_id;
    const reason = one.state !== 'PENDING' ? `it is ${one.state.toLowerCase()} already` : own && !this.ownCalls &&
      !viewer.open
      ? 'it is your own call, which another user must decide on' : !viewer.approves && !own ?
        'you have no right to approve calls of this tool' : '';
    const cut = !whole && JSON.stringify(one.arguments).length > 16_384;
    const { arguments: args, definition_changes: changes, ...rest } = one;
    return { ...rest, ...(whole && changes ? { definition_changes: changes } : {}), ...(cut ? {} : { arguments: args }), arguments_cut: cut,
      may_decide: { allowed: !reason, reason, name_required: one.consequence_level === 'HIGH' } };
  }

  seed(count) {
    const names = ['get_quotes', 'get_performance', 'search_web', 'debug_write', 'shop_refund'];
    for (let index = 0; index < count; index += 1) {
      const at = this.now() - (index + 1) * (count > 1000 ? 400 : 21_000);
      const took = [2, 8, 35, 1400, 120][index % 5];
      const failed = index % 7 === 3;
      const tool = names[index % names.length];
      this.record({ at, took, tool, user_id: ['demo', 'maria', 'sales-agent'][index % 3], face:
        ['grpc', 'mcp', 'rest', 'cli'][index % 4],
        state: failed ? 'FAILED' : 'SUCCEEDED', code: failed ? ['RATE_LIMITED', 'TIMEOUT', 'NOT_FOUND'][index % 3] :
          'UNSPECIFIED', from_cache: index % 5 === 0,
        args: { symbol: 'AAPL' },
        result: failed ? { tool, fetched_at: this.iso(at), error:
          { code: ['RATE_LIMITED', 'TIMEOUT', 'NOT_FOUND'][index % 3], message: 'The source asked for a pause.',
          retryable: true, retry_after: '42s', origin: 'SOURCE', field_violations: [], attempts: 2 }, provenance: {} }
          : { tool, fetched_at: this.iso(at), data: { as_of: '2026-01-15', quotes:
            [{ symbol: 'AAPL', price: 193.12, change_pct: 1.1 }] },
            provenance: { source_ids: [`tool:${tool}:v1`], as_of: '2026-01-15', from_cache: false, warnings: [] } },
        stages: ['RECEIVED', 'CHECKING', 'AWAITING_PERMIT', 'EXECUTING', 'REQUESTING', 'REQUESTING',
          'COMMITTING'].map((type, stage) =>
          ({ type, time: this.iso(at + Math.round(took * [0, 0.02, 0.05, 0.3, 0.35, 0.6, 0.95][stage])) })) });
    }
  }

  /** Statistics of the last 15 minutes, in buckets of so many seconds. */
  stats(step = 1) {
    const now = Math.floor(this.now() / 1000 / step) * step * 1000;
    /** @type {Map<number, any[]>} */ const ended = new Map();
    for (const { call } of this.calls.values()) {
      const at = call.ended_at && Math.floor(Date.parse(call.ended_at) / 1000 / step) * step * 1000;
      if (at) ended.set(at, [...(ended.get(at) ?? []), call]);
    }
    const states = [...this.calls.values()].map(({ call }) => call.state);
    return { step: `${step}s`, latency_bounds: BOUNDS.map((bound) => `${bound}s`),
      running: states.filter((state) => state === 'RUNNING').length,
      waiting: [...this.confirmations.values()].filter((one) => one.state === 'PENDING').length, slots: 8, idle_slots:
        7,
      buckets: Array.from({ length: 900 / step }, (_, index) =>
        bucket(now - (900 / step - index) * step * 1000, ended)) };
  }
}

/** The calls that ended in a step. */
function bucket(at, ended) {
  const calls = ended.get(at) ?? [];
  const took = calls.map((call) => Number.parseFloat(call.duration)).sort((a, b) => a - b);
  const bound = (share) => `${BOUNDS.find((one) => took[Math.ceil(took.length * share) - 1] <= one) ?? 120}s`;
  const codes = calls.map((call) => call.code).filter((code) => code !== 'UNSPECIFIED');
  return { time: new Date(at).toISOString(), calls: calls.length,
    errors: [...new Set(codes)].map((code) => ({ code, calls: codes.filter((one) => one === code).length })),
    latencies: took.length ? [...BOUNDS, Infinity].map((one, index) =>
      took.filter((time) => time <= one && time > (BOUNDS[index - 1] ?? -1)).length) : [],
    ...(took.length && { p50: bound(0.5), p99: bound(0.99) }) };
}
