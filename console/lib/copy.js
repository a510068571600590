// A call as other programs make it. A token is named by its variable and never written.
import { stringify } from './json.js';
import { session } from './sign_in.js';

/** A word of a shell. @param {string} text */
export const quote = (text) => (/^[\w=\-.,:/@%+]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export const needsToken = () => session.console.sign_in !== 'none';
export const address = () => session.console.public_url || location.origin;
export const mcpAddress = () => session.console.mcp_url || `${address()}/mcp`;
/** The address for gRPC, or a word in its place. */
export const grpcAddress = () => session.console.grpc || 'http://127.0.0.1:50051';

/** @typedef {{tool: string, args: any, isWrite: boolean, timeout: string}} Call */

/** @param {Call} call */
function headers({ isWrite, timeout }) {
  return [
    ['content-type', 'application/json'],
    ...(timeout ? [['x-toolwire-timeout', timeout]] : []),
    ...(session.console.sign_in === 'none' && session.user ? [['x-toolwire-user', session.user]] : []),
    ...(isWrite ? [['idempotency-key', '']] : []),
  ];
}

/** @param {Call} call */
function curl(call) {
  const lines = [`curl ${quote(`${address()}/v1/tools/${call.tool}:call`)}`];
  if (needsToken()) lines.push('-H "authorization: Bearer $TOOLWIRE_TOKEN"');
  for (const [name, value] of headers(call)) {
    lines.push(name === 'idempotency-key' ? '-H "idempotency-key: $(uuidgen)"' : `-H ${quote(`${name}: ${value}`)}`);
  }
  return [...lines, `-d ${quote(stringify(call.args))}`].join(' \\\n  ');
}

/** @param {Call} call */
function grpcurl(call) {
  const url = new URL(grpcAddress());
  const message = { tool: call.tool, arguments_json: stringify(call.args), ...(call.isWrite && { request_id: 'A-NEW-UUID' }) };
  const flags = [url.protocol === 'http:' ? '-plaintext' : ''];
  if (call.timeout) flags.push(`-max-time ${Number.parseFloat(call.timeout)}`);
  if (needsToken()) flags.push('-H "authorization: Bearer $TOOLWIRE_TOKEN"');
  const host = url.port ? url.host : `${url.host}:${url.protocol === 'http:' ? 80 : 443}`;
  return `grpcurl ${flags.filter(Boolean).join(' ')} \\\n  -d ${quote(stringify(message))} \\\n  ${host} toolwire.v1.ToolService/CallTool`;
}

/** @param {Call} call */
function python(call) {
  const lines = ['import json, os, urllib.request, uuid', ''];
  lines.push(`arguments = json.loads(${JSON.stringify(stringify(call.args))})`, 'headers = {');
  if (needsToken()) lines.push('    "authorization": "Bearer " + os.environ["TOOLWIRE_TOKEN"],');
  for (const [name, value] of headers(call)) {
    lines.push(`    ${JSON.stringify(name)}: ${name === 'idempotency-key' ? 'str(uuid.uuid4())' : JSON.stringify(value)},`);
  }
  lines.push('}', 'request = urllib.request.Request(', `    ${JSON.stringify(`${address()}/v1/tools/${call.tool}:call`)},`,
    '    json.dumps(arguments).encode(), headers)', 'print(json.load(urllib.request.urlopen(request))["data"])');
  return lines.join('\n');
}

/** @param {Call} call */
function typescript(call) {
  const lines = [`const response = await fetch(${JSON.stringify(`${address()}/v1/tools/${call.tool}:call`)}, {`,
    "  method: 'POST',", '  headers: {'];
  if (needsToken()) lines.push('    authorization: `Bearer ${process.env.TOOLWIRE_TOKEN}`,');
  for (const [name, value] of headers(call)) {
    lines.push(`    ${JSON.stringify(name)}: ${name === 'idempotency-key' ? 'crypto.randomUUID()' : JSON.stringify(value)},`);
  }
  // As text: an integer beyond 2^53 stays what it is.
  return [...lines, '  },', `  body: ${JSON.stringify(stringify(call.args))},`, '});',
    'console.log((await response.json()).data);'].join('\n');
}

/** @param {Call} call */
function mcp(call) {
  const args = call.isWrite ? { ...call.args, request_id: 'A-NEW-UUID' } : call.args;
  return stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: call.tool, arguments: args } }, 2);
}

/** @type {Record<string, (call: Call) => string>} */
export const FORMS = { curl, grpcurl, Python: python, TypeScript: typescript, MCP: mcp };
