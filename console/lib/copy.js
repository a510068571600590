// A call as other programs make it. A token is named by its variable and never written.
import { stringify } from './json.js';
import { session } from './sign_in.js';

/** A word of a shell. @param {string} text */
export const quote = (text) => (/^[\w=\-.,:/@%+]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export const needsToken = () => session.console.sign_in !== 'none';
export const address = () => session.console.public_url || location.origin;
export const mcpAddress = () => session.console.mcp_url || `${address()}/mcp`;
/** The address for gRPC, or the usual one. */
export const grpcAddress = () => session.console.grpc || 'http://127.0.0.1:50051';

/** The host of a URL, with its port. @param {string} url */
export function hostOf(url) {
	const { host, port, protocol } = new URL(url);
	return port ? host : `${host}:${protocol === 'http:' ? 80 : 443}`;
}

/** @param {CallToCopy} call */
const url = ({ tool }) => `${address()}/v1/tools/${tool}:call`;

/**
 * The headers of a call: of a token and a new UUID by the given words.
 * @param {CallToCopy} call
 * @param {string} token
 * @param {string} id
 */
const headers = ({ isWrite, timeout }, token, id) => [['content-type', '"application/json"'],
	...(needsToken() ? [['authorization', token]] : session.user ? [['x-toolwire-user', JSON.stringify(session.user)]] :
		[]),
	...(timeout ? [['x-toolwire-timeout', JSON.stringify(timeout)]] : []), ...(isWrite ? [['idempotency-key', id]] : [])];

/** @param {CallToCopy} call */
const curl = (call) => [`curl ${quote(url(call))}`,
	...headers(call, '"Bearer $TOOLWIRE_TOKEN"', '"$(uuidgen)"').map(([name, value]) => `-H "${name}: ${value.slice(1)}`),
	`-d ${quote(stringify(call.args))}`].join(' \\\n  ');

/** @param {CallToCopy} call */
function grpcurl({ tool, args, isWrite, timeout }) {
	const message = { tool, arguments_json: stringify(args), ...(isWrite && { request_id: 'A-NEW-UUID' }) };
	return ['grpcurl', grpcAddress().startsWith('http:') && '-plaintext', timeout &&
		`-max-time ${Number.parseFloat(timeout)}`,
		needsToken() && '-H "authorization: Bearer $TOOLWIRE_TOKEN"', `-d ${quote(stringify(message))}`,
			hostOf(grpcAddress()),
		'toolwire.v1.ToolService/CallTool'].filter(Boolean).join(' ');
}

/** @param {CallToCopy} call */
const python = (call) => `import json, os, urllib.request, uuid\n
headers = {${headers(call, '"Bearer " + os.environ["TOOLWIRE_TOKEN"]', 'str(uuid.uuid4())')
    .map(([name, value]) => `\n    "${name}": ${value},`).join('')}
}
arguments = ${JSON.stringify(stringify(call.args))}
request = urllib.request.Request("${url(call)}", arguments.encode(), headers)
print(json.load(urllib.request.urlopen(request))["data"])`;

// The arguments as text: an integer beyond 2^53 stays what it is.
/** @param {CallToCopy} call */
const typescript = (call) => [`const response = await fetch("${url(call)}", {`, '  method: "POST",', '  headers: {',
	...headers(call, '`Bearer ${process.env.TOOLWIRE_TOKEN}`', 'crypto.randomUUID()')
		.map(([name, value]) => `    "${name}": ${value},`), '  },', `  body: ${JSON.stringify(stringify(call.args))},`,
	'});', 'console.log((await response.json()).data);'].join('\n');

/** @param {CallToCopy} call */
const mcp = ({ tool, args, isWrite }) => stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
	params: { name: tool, arguments: isWrite ? { ...args, request_id: 'A-NEW-UUID' } : args } }, 2);

/** @type {Record<string, (call: CallToCopy) => string>} */
export const FORMS = { curl, grpcurl, Python: python, TypeScript: typescript, MCP: mcp };
