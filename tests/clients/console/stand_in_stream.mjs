// `/v1/events` of the stand-in: the state at the beginning, then each change. Within 60 s it resumes after a
// `Last-Event-ID`.
import { basic } from './stand_in_data.mjs';

const RESUMABLE = 60_000;

export function stream({ state, request, response, query, viewer, open }) {
  const topics = new Set((query.get('topics') ?? 'calls,confirmations,tools,providers,stats,tasks').split(','));
  const all = query.get('user_id') === '*' && viewer.observes;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(': open\n\n');
  open.add(response);
  const send = (event, data, position = state.log.length) => {
    if (topics.has(event.split('.')[0]) || event === 'reset')
      response.write(`id: ${position}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const concerns = ({ event, data }) => {
    if (event.startsWith('calls.')) return all || data.call.user_id === viewer.user_id;
    if (event.startsWith('confirmations.')) return viewer.approves || viewer.observes || data.confirmation.user_id ===
      viewer.user_id;
    return !event.startsWith('tasks.') || data.task.user_id === viewer.user_id;
  };
  const tell = (entry) => {
    if (!concerns(entry)) return;
    const data = entry.data.confirmation ? { ...entry.data, confirmation: state.shown(entry.data.confirmation, viewer)
      } : entry.data;
    send(entry.event, data, entry.position);
  };
  const states = () => {
    for (const tool of state.tools.values()) send('tools.added', { type: 'ADDED', tool: basic(tool) });
    send('tools.synced', { type: 'SYNCED' });
    for (const provider of state.providers) send('providers.added', { type: 'ADDED', provider });
    send('providers.synced', { type: 'SYNCED' });
  };
  const last = Number(request.headers['last-event-id'] ?? NaN);
  const missed = state.log.slice(last);
  if (last >= 0 && (!missed.length || state.now() - missed[0].at < RESUMABLE)) {
    send('reset', { topics: ['tools', 'providers'] });
    missed.forEach(tell);
    states();
  } else {
    if (request.headers['last-event-id'] !== undefined) send('reset', { topics: [...topics] });
    states();
    for (const { call, stages } of state.calls.values()) if (!call.ended_at &&
      (all || call.user_id === viewer.user_id)) send('calls.started', { type: 'STARTED', call, stages });
    send('calls.synced', { type: 'SYNCED' });
    for (const one of state.confirmations.values()) {
      const data = { type: 'REQUESTED', confirmation: one, sequence: one.sequence };
      if (one.state === 'PENDING') tell({ event: 'confirmations.requested', data, position: state.log.length });
    }
    send('confirmations.synced', { type: 'SYNCED' });
    for (const task of state.tasks.values()) if (!task.ended_at && task.user_id === viewer.user_id)
      send('tasks.changed', { type: 'CHANGED', task, position: task.position });
    send('tasks.synced', { type: 'SYNCED' });
  }
  state.on('event', tell);
  response.on('close', () => {
    state.off('event', tell);
    open.delete(response);
  });
}
