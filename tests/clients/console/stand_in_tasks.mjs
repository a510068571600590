// Tasks of the stand-in: a tree of three, what its root did, what a model sees of it, and a document with two versions.
import { refuse } from './stand_in_calls.mjs';

export const ROOT = `task_${'0b6c'.repeat(8)}`;
export const CHILD = `task_${'91fe'.repeat(8)}`;
export const QUESTION = `task_${'c0de'.repeat(8)}`;
const HOSTILE = '<img src=x onerror="document.title=\'run\'"> \u202egnp.exe';
const PATH = 'reports/sales july.csv';
const LONG = 'It is long. '.repeat(40);

function task(state, fields) {
  const at = state.iso(state.now() - 600_000);
  return { task_id: ROOT, root_id: ROOT, parent_id: '', user_id: 'demo', kind: 'ROOT', role: '', request: '', documents:
    [],
    state: 'RUNNING', block_reason: 'UNSPECIFIED', waiting: [], result_documents: [], message: '', depth: 0,
    next_sequence: 0, unknown_call_ids: [], created_at: at, updated_at: at, deadline: state.iso(state.now() +
      3_600_000),
    labels: {}, position: 1, tainted: false, newest_step: 2, ...fields };
}

const entry = (state, id, sequence, fields) => ({ task_id: id, sequence, timestamp: state.iso(state.now() - 500_000 +
  sequence * 1_000), step: 1, call_id: '', trace_id: '', position: 0, ...fields });
const call = (tool, fields) => ({ tool_call: { type: 'function_tool', tool, tool_call_id: `toolu_${tool}`, status: '',
  documents: [], kept_apart: [], category: 'READ', provenance: {}, ...fields } });

/** What there is at the beginning. */
export function seedTasks(state) {
  const tree = [
    task(state, { request: `Write a report on the sales of July. ${HOSTILE}`, state: 'BLOCKED', block_reason:
      'QUESTION',
      waiting: [{ sequence: 5, task_id: QUESTION }, { sequence: 4, task_id: CHILD }],
      lease: { holder: 'worker-1', token: 1, expires_at: state.iso(state.now() + 30_000) }, labels: { team: 'sales' }
        }),
    task(state, { task_id: CHILD, parent_id: ROOT, kind: 'AGENT', role: 'analyst', request: 'Sum up sales.csv.', depth:
      1,
      tainted: true, position: 2 }),
    task(state, { task_id: QUESTION, parent_id: ROOT, kind: 'QUESTION', state: 'PENDING', request: 'Which quarter?',
      depth: 1, position: 3 }),
    task(state, { task_id: `task_${'dead'.repeat(8)}`, root_id: `task_${'dead'.repeat(8)}`, state: 'FAILED', position:
      4,
      request: 'Compare two funds.', message: 'its time was over', ended_at: state.iso(state.now() - 550_000) }),
  ];
  state.tasks = new Map(tree.map((one) => [one.task_id, one]));
  state.timelines = new Map(tree.map((one) => [one.task_id, []]));
  const first = [...state.calls.keys()][0] ?? '';
  for (const fields of [
    { created: { type: 'root', tool: 'start_task', request: 'Write a report on the sales of July.', documents: [] } },
    { started: { holder: 'worker-1', token: 1 } },
    { message: { role: 'ASSISTANT', text: `I look at the file first. ${LONG}` } },
    { ...call('search_web', { input: { query: 'sales' }, error: { code: 'RATE_LIMITED', message: HOSTILE } }),
      call_id: first },
    { ...call('route_to_analyst', { type: 'agent_as_tool', input: { request: 'Sum up sales.csv.' }, status:
      `→ delegated (task ${CHILD})`, documents: [{ path: 'sales.csv', version: 2 }] }) },
    { ...call('ask_master', { type: 'ask_master', input: { question: 'Which quarter?' }, status: '→ asked a person',
      kept_apart: [{ part: 'result', size_bytes: 20_000, digest: '' }] }) },
  ]) add(state, ROOT, fields);
}

function add(state, id, fields) {
  const entries = state.timelines.get(id);
  entries.push(entry(state, id, entries.length, fields));
  state.tasks.get(id).next_sequence = entries.length;
}

/** Changes a task and tells the streams. */
export function change(state, id, fields, told) {
  const one = state.tasks.get(id);
  Object.assign(one, fields, { position: Math.max(...[...state.tasks.values()].map(({ position }) => position)) + 1,
    updated_at: state.iso() });
  if (told) add(state, id, told);
  state.tell('tasks.changed', { type: 'CHANGED', task: one, position: one.position });
  return one;
}

const end = (state, id, fields) => change(state, id, { ended_at: state.iso(), block_reason: 'UNSPECIFIED', waiting: [],
  lease: undefined, ...fields }, { ended: { state: fields.state.toLowerCase(), documents: [],
  message: fields.message ?? '' } });

const known = (state, id) => state.tasks.get(id) ?? refuse(404, 'NOT_FOUND', `There is no task ${id} of yours.`);
const message = (role, ...blocks) => ({ role, blocks, first_sequence: 0, last_sequence: 4 });
const version = (state, number, why) => ({ version: number, digest: '', size_bytes: 30 + number, mime_type: 'text/csv',
  written_by: 'demo', written_at: state.iso(), why, call_id: '', deleted: false });

export const TASK_ROUTES = {
  'GET /v1/tasks': ({ state, query, page }) => page('tasks', [...state.tasks.values()].reverse().filter((one) =>
    (query.get('root_id') ? one.root_id === query.get('root_id') : !query.has('kinds') ? !one.parent_id
      : query.getAll('kinds').includes(one.kind))), query),
  'GET /v1/tasks/:id': ({ state, at }) => ({ task: known(state, at.id), open_calls: [] }),
  'GET /v1/tasks/:id/timeline': ({ state, at, query }) => {
    known(state, at.id);
    const from = Number(query.get('sequence') ?? 0);
    return { entries: state.timelines.get(at.id).slice(from, from + Number(query.get('page_size') ?? 100)) };
  },
  'GET /v1/tasks/:id/timeline/:name': ({ state, at }) => {
    const one = structuredClone(state.timelines.get(at.id)[Number(at.name)]);
    Object.assign(one.tool_call, { kept_apart: [], result: { whole: 'loaded' } });
    return { entry: one };
  },
  'GET /v1/tasks/:id/rendering': () => ({ system: 'You write reports.', tokens: 420, cuts: ['2 results were shortened'],
    messages: [message('USER', { text: `Write a report. ${HOSTILE}`, tokens: 4 }), message('ASSISTANT', { tool_use:
      { id: 'toolu_1', tool: 'search_web', input: { query: 'sales' } }, tokens: 9 }), message('USER', { tool_result:
      { id: 'toolu_1', tool: 'search_web', content: 'FAILED RATE_LIMITED', is_error: true, tokens_cut: 12 }, tokens: 5
        })],
    last_sequence: 4 }),
  'POST /v1/tasks/:id:cancel': ({ state, at, body }) => {
    const below = [...state.tasks.values()].filter((one) => one.parent_id === at.id && !one.ended_at);
    for (const one of below) end(state, one.task_id, { state: 'CANCELLED' });
    return { task: end(state, known(state, at.id).task_id, { state: 'CANCELLED', message: body.reason }),
      descendants: below.length };
  },
  'POST /v1/tasks/:id:answer': ({ state, at, body }) => {
    const one = end(state, known(state, at.id).task_id, { state: 'COMPLETED' });
    change(state, one.parent_id, { state: 'RUNNING', block_reason: 'UNSPECIFIED', waiting: [] }, { answer: { answers: 5,
      status: '← answer from a person', documents: [], origin: at.id, result: { answer: body.answer }, kept_apart: [] }
        });
    return { task: one };
  },
  'GET /v1/workspaces/:id/documents': ({ state, at }) => ({ documents: known(state, at.id).root_id !== ROOT ? [] : [{
    root_id: ROOT, path: PATH, created_by: 'demo', updated_by: ROOT, created_at: state.iso(), updated_at: state.iso(),
      mime_type: 'text/csv',
    size_bytes: 38, token_count: 21, auto_summary: 'month,revenue', description: '', tags: [], versions: [], version: 2,
    untrusted: true, deleted: false }], next_page_token: '' }),
  'GET /v1/workspaces/:id/versions/:name/:name': ({ state }) => ({ versions: [version(state, 2, 'August was added'),
    version(state, 1, '')], next_page_token: '' }),
  'GET /v1/workspaces/:id/documents/:name/:name': ({ query }) =>
    ({ text: `month,revenue\nJuly,10\n${query.get('version') === '1' ? '' : 'August,12\n'}${HOSTILE}`,
      headers: { 'x-toolwire-untrusted': 'true' } }),
};
