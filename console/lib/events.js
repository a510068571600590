// The one stream of a page: `/v1/events`, by `fetch`, since `EventSource` sends no bearer token.
import { problem, send, Problem } from './api.js';
import { parse } from './json.js';

/** Without a byte for so long the stream counts as lost: the server fills silence with comments. */
const SILENCE = 45_000;

/** @typedef {{id: string, event: string, data: string}} StreamEvent */

/** Reads events from chunks of text, wherever these are cut. @param {(event: StreamEvent) => void} take */
export function reader(take) {
	let rest = '';
	/** @type {StreamEvent & {lines: string[]}} */
	let open = { id: '', event: '', data: '', lines: [] };
	/** @param {string} line */
	const read = (line) => {
		if (!line) {
			if (open.lines.length) take({ id: open.id, event: open.event || 'message', data: open.lines.join('\n') });
			open = { id: open.id, event: '', data: '', lines: [] };
			return;
		}
		const colon = line.indexOf(':');
		if (colon === 0) return;
		const name = colon < 0 ? line : line.slice(0, colon);
		const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
		if (name === 'data') open.lines.push(value);
		else if (name === 'id') open.id = value;
		else if (name === 'event') open.event = value;
	};
	return (/** @type {string} */ text) => {
		rest += text;
		// A carriage return at the end may be the first half of a line break.
		const lines = rest.split(/\r\n|\n|\r(?!$)/);
		rest = lines.pop() ?? '';
		lines.forEach(read);
	};
}

/**
 * Follows the stream until the signal ends it, from the last event on where it was cut.
 * @param {Record<string, string>} query
 * @param {AbortSignal} signal
 * @param {(event: string, data: any) => void} take
 * @param {(state: 'live' | 'lost', error?: Problem) => void} report
 */
export async function follow(query, signal, take, report) {
	let last = '';
	for (let failures = 0; !signal.aborted; failures += 1) {
		const attempt = new AbortController();
		const stop = () => attempt.abort();
		signal.addEventListener('abort', stop);
		let watchdog = setTimeout(stop, SILENCE);
		try {
			const response = await send('GET', '/v1/events', {
				query,
				signal: attempt.signal,
				headers: { accept: 'text/event-stream', ...(last && { 'last-event-id': last }) },
			});
			if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})));
			report('live');
			const read = reader((event) => {
				failures = 0;
				if (event.event === 'error') throw new Problem(503, parse(event.data));
				take(event.event, parse(event.data));
				last = event.id || last;
			});
			const decoder = new TextDecoder();
			const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
			for (;;) {
				const { done, value } = await body.read();
				if (done) break;
				clearTimeout(watchdog);
				watchdog = setTimeout(stop, SILENCE);
				read(decoder.decode(value, { stream: true }));
			}
			report('lost');
		} catch (error) {
			// A position that the server cannot read any more is given up.
			if (error instanceof Problem && error.status >= 400 && error.status < 500) last = '';
			if (!signal.aborted) report('lost', problem(error));
		} finally {
			clearTimeout(watchdog);
			signal.removeEventListener('abort', stop);
			attempt.abort();
		}
		if (!signal.aborted) await pause(failures, signal);
	}
}

/**
 * Waits, longer after each failure; the return of the network or of the reader ends it.
 * @param {number} failures
 * @param {AbortSignal} [signal]
 */
export const pause = (failures, signal) => new Promise((resolve) => {
	const end = () => {
		clearTimeout(timer);
		removeEventListener('online', end);
		document.removeEventListener('visibilitychange', end);
		signal?.removeEventListener('abort', end);
		resolve(undefined);
	};
	const timer = setTimeout(end, Math.min(10_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2));
	addEventListener('online', end);
	document.addEventListener('visibilitychange', end);
	signal?.addEventListener('abort', end);
});
