// Requests to the server. A 401 asks for a sign-in and makes the request again, so that no input is lost.
import { parse, stringify } from './json.js';
import { session } from './sign_in.js';
import { noteServerDate } from './time.js';

/** The route of who the page acts as. */
export const VIEWER = '/v1/viewer';

/** A request that was refused, or that failed: the problem document of the answer. */
export class Problem extends Error {
	/** @param {number} status @param {any} body @param {Headers} [headers] */
	constructor(status, body, headers) {
		super(body.detail || body.title || `The server answered ${status}.`);
		this.status = status;
		/** @type {string} */
		this.code = body.code || (status ? String(status) : 'UNREACHABLE');
		/** @type {any} */
		this.body = body;
		this.callId = body.call_id || headers?.get('x-toolwire-call-id') || '';
	}
}

/** @param {any} error @param {string} [code] What it is headed by if it is of this page. @returns {Problem} */
export const problem = (error, code = 'ERROR') => (error instanceof Problem ? error : new
	Problem(0, { code, detail: String(error?.message ?? error) }));

/**
 * @typedef {object} Options
 * @property {Any} [query]
 * @property {any} [body]
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 */

/** @param {string} path @param {Any} query */
function address(path, query) {
	const parameters = new URLSearchParams();
	for (const [key, value] of Object.entries(query)) {
		for (const one of [value].flat()) if (one !== '' && one !== undefined) parameters.append(key, String(one));
	}
	return parameters.size ? `${path}?${parameters}` : path;
}

/** @param {string} method @param {string} path @param {Options} [options] @returns {Promise<Response>} */
export async function send(method, path, { query = {}, body, headers = {}, signal } = {}) {
	const { owner } = session;
	for (;;) {
		const used = session.credentials;
		let response;
		try {
			response = await fetch(address(path, query), {
				method,
				signal,
				cache: 'no-cache',
				headers: {
					accept: 'application/json',
					...(body === undefined ? {} : { 'content-type': 'application/json' }),
					...session.headers(),
					...headers,
				},
				body: body === undefined ? undefined : typeof body === 'string' ? body : stringify(body),
			});
		} catch (error) {
			if (signal?.aborted) throw error;
			throw new Problem(0, { title: 'The server cannot be reached.' });
		}
		noteServerDate(response.headers.get('date'));
		if (response.status !== 401) return response;
		await session.renew(used);
		if (owner && path !== VIEWER && (await get(VIEWER)).user_id !== owner) {
			throw new Problem(0, { title: 'Another user has signed in. Nothing was sent.' });
		}
	}
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<{data: any, headers: Headers}>}
 */
export async function request(method, path, options) {
	const response = await send(method, path, options);
	const text = await response.text();
	let data;
	try {
		data = text ? parse(text) : {};
	} catch {
		data = { detail: `The answer is no JSON: ${text.slice(0, 200)}` };
		if (response.ok) throw new Problem(response.status, data, response.headers);
	}
	if (!response.ok) throw new Problem(response.status, data, response.headers);
	return { data, headers: response.headers };
}

/** @param {string} path @param {Any} [query] @param {AbortSignal} [signal] */
export const get = async (path, query, signal) => (await request('GET', path, { query, signal })).data;

/** @param {string} path @param {any} body @param {Record<string, string>} [headers] @param {AbortSignal} [signal] */
export const post = (path, body, headers, signal) => request('POST', path, { body, headers, signal });

/** A part of a path, which leads to no other one. @param {string} text */
export const segment = (text) => {
	if (/^\.{1,2}$/.test(text)) throw new Problem(404, { title: `There is no ${text}.` });
	return encodeURIComponent(text);
};
