// `/agent/stream` of the stand-in: an agent that answers, calls a tool, waits for a person, or fails, by what it is
// told.
import { randomUUID } from 'node:crypto';

import { makeCall, Refused } from './stand_in_calls.mjs';

const TABLE = 'As of **15 January**:\n\n| symbol | price |\n|---|---|\n| AAPL | 193.12 |\n\n- one\n- two `code`\n\n' +
  'See [tool:quotes:v1]. <img src=x onerror="document.title=\'run\'"> \u202egnp.exe';

/** Turns by their name, with the call that each waits for. */
const turns = new Map();

const call = (request, tool, args, key) => {
  try {
    return makeCall({ ...request, at: { name: tool }, body: args, headers: { 'idempotency-key': key } });
  } catch (error) {
    if (error instanceof Refused) return error.body;
    throw error;
  }
};

export async function converse(request) {
  const { body, state, response } = request;
  const resumed = turns.get(body.resume?.turn_id);
  const { id, message, session } = resumed ?? { id: body.request_id ?? randomUUID(), message: body.message,
    session: body.session_id ?? 'session-1' };
  turns.set(id, { id, message, session });
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let sequence = 0;
  let isLeft = false;
  response.on('close', () => { isLeft = true; });
  const tell = (event, data) => {
    response.write(`id: ${sequence}\nevent: ${event}\ndata: ${JSON.stringify({ turn_id: id, task_id: '', sequence,
      event_time: state.iso(), [event]: data })}\n\n`);
    sequence += 1;
  };
  const final = (text, more = {}) => tell('final', { response: { answer_markdown: text, citations: [], confidence: 1 },
    turn_id: id, session_id: session, outcome: 'ANSWERED', sources: [], warnings: [], proposal: null, ...more });
  tell('started', { session_id: session, mode: 'embedded', model: 'embedded', tools_offered: 8, deadline:
    state.iso(state.now() + 120_000) });
  const use = (tool, args) => {
    const answer = call(request, tool, args, id);
    tell('tool_call_started', { call_id: answer.call_id, step: 1, tool, component: tool, arguments: args, request_id: id
      });
    const waits = answer.code === 'CONFIRMATION_REQUIRED' ? answer.confirmation : undefined;
    tell('tool_call_finished', { call_id: answer.call_id, duration: '0.008s', action: waits ? 'PAUSED' : 'USED',
      ...(waits ? { confirmation_required: waits } : { result: answer.data ? answer : { tool, error: answer } }) });
    return { ...answer, waits };
  };
  if (/approve/.test(message)) {
    const { call_id: callId, waits } = use('debug_confirm', { value: 'from the chat' });
    if (waits) tell('paused', { pending: [{ call_id: callId, tool: 'debug_confirm', arguments: {},
      confirmation_required:
      waits }], expires_at: waits.expires_at, tasks: [] });
    else final('It is done.');
  } else if (/wait/.test(message)) {
    tell('answer_delta', { text: 'One moment' });
    await new Promise((resolve) => { response.on('close', resolve); });
  } else if (/watchlist/.test(message)) {
    final('Shall I put **Reliance** on it?', { outcome: 'CLARIFY', proposal: { calls: [], expires_at: state.iso() } });
  } else if (message === 'yes') {
    final('**RELIANCE** is on your watchlist now.');
  } else if (/cut/.test(message) && !state.wasCut) {
    state.wasCut = true;
    tell('answer_delta', { text: 'Half' });
    // Without the end of the chunks. A connection that is reset at once is tried again by the browser itself.
    response.socket.end();
    return;
  } else if (/fail/.test(message)) {
    tell('error', { title: 'failed', status: 503, detail: 'The model cannot be reached.', code: 'UNAVAILABLE' });
  } else {
    const { call_id: callId } = use('get_quotes', { symbol: 'AAPL' });
    for (const text of TABLE.match(/[^]{1,20}/g)) if (!isLeft) tell('answer_delta', { text });
    final(TABLE, { sources: [{ source_id: 'tool:quotes:v1', tool: 'get_quotes', call_id: callId }],
      warnings: ['The prices are of yesterday.'] });
  }
  response.end();
}
