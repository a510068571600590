// A page of another origin in a headless Chromium that presents its user's client certificate by itself: nothing that
// the page tries is carried out, and it reads nothing. A page of the server's own succeeds, and a witness, another
// server, sees that the browser presents the certificate for the page of another origin too.
// Usage: node --test certificate.test.mjs, with BINARY naming the program and CHROMIUM the browser. Needs openssl, and
// certutil and pk12util of NSS.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { createServer as createListener } from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';

import { certificate, file, folder, signed, startBrowser } from './certified.mjs';

const { BINARY } = process.env;
// Every name resolves to this machine.
const NAMES = ['tools.test', 'www.tools.test', 'rebound.test', 'witness.test', 'evil.test'];
// Some of what a page of the server's own reads.
const SERVED = {
  'a call': '200 {',
  MCP: '200 {',
  'a write': '200 {',
  'a read': 'AAPL',
  'a task': 'a task',
  'the tools': 'debug_write',
  events: 'open',
};
const pages = {};
let context;

// An empty page at every path and name of one port; at `/sandboxed` it has no origin. `/witness` lets every page read
// whose certificate its request came with.
async function serve(module) {
  const [key, cert, ca] = ['server.key', 'server.pem', 'ca.pem'].map((name) => readFileSync(file(name)));
  const options = module === https ? { key, cert, ca, requestCert: true, rejectUnauthorized: false } : {};
  const server = module.createServer(options, ({ url, headers, socket }, response) => {
    if (url === '/witness') {
      response.setHeader('access-control-allow-origin', headers.origin ?? '*');
      response.setHeader('access-control-allow-credentials', 'true');
      return response.end(socket.getPeerCertificate().subject?.CN);
    }
    if (url === '/sandboxed') response.setHeader('content-security-policy', 'sandbox allow-scripts allow-forms');
    response.setHeader('content-type', 'text/html; charset=utf-8').end('<!doctype html><title>page</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

// Below the ports that the system gives to whoever asks for any, so that nobody takes it meanwhile.
async function freePort() {
  for (;;) {
    const listener = createListener().listen(randomInt(20_000, 32_000), '127.0.0.1');
    try {
      await once(listener, 'listening');
    } catch {
      continue;
    }
    const { port } = listener.address();
    await new Promise((closed) => listener.close(closed));
    return port;
  }
}

// A server to which the certificate is a user, who may call every tool.
async function startServer(clientAuth) {
  const port = await freePort();
  const config = file(`${clientAuth}.toml`);
  writeFileSync(config, `
[server.tls]
cert = "${file('server.pem')}"
key = "${file('server.key')}"
client_ca = "${file('ca.pem')}"
client_auth = "${clientAuth}"

[http]
public_url = "https://tools.test:${port}"

[[auth.spiffe]]
id = "spiffe://example.org/ns/people/sa/person"
user = "demo" # to whom the sample data belong

[[auth.rules]]
who = ["user:demo"]
tools = ["*"]
`);
  const words = ['--listen', '127.0.0.1:0', `--http=127.0.0.1:${port}`, '--diagnostics', '--config', config];
  const stdio = ['ignore', 'pipe', openSync(file('log'), 'a')];
  const program = spawn(BINARY, ['serve', ...words, '--state', file(`${clientAuth}.state`)], { stdio });
  const lines = createInterface({ input: program.stdout });
  const grpc = await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const port = /^toolwire listening on .*:(\d+)$/.exec(line)?.[1];
      if (port) resolve(port);
    });
    lines.on('close', () => reject(new Error(`the server ended: ${readFileSync(file('log'))}`)));
  });
  const witness = `https://witness.test:${pages.https.address().port}/witness`;
  return { program, port, url: `https://tools.test:${port}`, grpc: `https://tools.test:${grpc}`, witness };
}

// What the user asks the server without a browser.
async function asked({ url, port }, path) {
  const [key, cert, ca] = ['person.key', 'person.pem', 'ca.pem'].map((name) => readFileSync(file(name)));
  const { host, hostname: servername } = new URL(url);
  const options = { host: '127.0.0.1', servername, port, path, headers: { host } };
  const request = https.get({ ...options, key, cert, ca, agent: false });
  const [response] = await once(request, 'response');
  const text = (await response.toArray()).join('');
  assert.equal(response.statusCode, 200, text);
  return JSON.parse(text);
}

// What the server has done for the user: the tools of the calls, and the tasks.
async function done(server) {
  const [{ calls = [] }, { tasks = [] }] = await Promise.all([asked(server, '/v1/calls'), asked(server, '/v1/tasks')]);
  return [...calls.map(({ tool }) => tool), ...tasks.map(({ request }) => request)].sort();
}

// Everything that a page tries, in the page. Returns what it could read, by the name of the attempt.
async function attempts({ url, grpc, witness, ids }) {
  const of = (tool) => `${url}/v1/tools/${tool}:call`;
  const read = `${url}/api/quotes?symbol=AAPL`;
  const params = { name: 'debug_write', arguments: { value: 'x' } };
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const found = {};

  const request = async (name, address, options) => {
    try {
      const answer = await fetch(address, { credentials: 'include', ...options });
      if (answer.type !== 'opaque') found[name] = `${answer.status} ${await answer.text()}`;
    } catch { /* It is refused. */ }
  };
  const post = (name, address, type, body, more, headers) =>
    request(name, address, { method: 'POST', body, headers: { 'content-type': type, ...headers }, ...more });
  found.witness = await (await fetch(witness, { credentials: 'include' })).text();
  const targets = [
    ['a call', of('debug_stream'), '{"count":1}'],
    ['MCP', `${url}/mcp`, message],
    ['gRPC', `${grpc}/toolwire.v1.ToolService/CallTool`, '{}'],
  ];
  for (const [name, address, body] of targets) {
    await post(name, address, 'application/json', body);
    // Types of which a browser does not ask beforehand.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      await post(`${name} as ${type}`, address, type, body);
      await post(`${name} as ${type}, unread`, address, type, body, { mode: 'no-cors' });
    }
  }
  await post('gRPC itself', targets[2][1], 'application/grpc', '\0\0\0\0\0');
  const once = (id) => ({ 'idempotency-key': id });
  await post('a write', of('debug_write'), 'application/json', '{"value":"x"}', {}, once(ids[0]));
  await post('a task', `${url}/v1/tasks`, 'application/json', '{"request":"a task"}', {}, once(ids[1]));
  await request('a read', read);
  await request('a read, unread', read, { mode: 'no-cors' });
  await request('a document', `${url}/v1/workspaces/x/documents/y`, { method: 'PUT', body: 'x' });
  await request('no document', `${url}/v1/workspaces/x/documents/y`, { method: 'DELETE' });
  await request('the tools', `${url}/v1/tools`);
  navigator.sendBeacon(of('debug_stream'), new Blob(['{"count":1}'], { type: 'text/plain' }));

  const add = (kind, more) => document.documentElement.appendChild(Object.assign(document.createElement(kind), more));
  const settled = (kind, more) => new Promise((resolve) => add(kind, { onload: resolve, onerror: resolve, ...more }));
  for (const kind of ['img', 'iframe', 'script']) await settled(kind, { src: read });
  await settled('link', { rel: 'stylesheet', href: read });
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const frame = add('iframe', { name: enctype });
    const form = add('form', { method: 'POST', action: of('debug_stream'), enctype, target: enctype });
    form.append(Object.assign(document.createElement('input'), { name: '{"count":1,"y":"', value: '"}' }));
    await new Promise((resolve) => {
      frame.onload = resolve;
      form.submit();
    });
    try {
      found[`a form as ${enctype}`] = frame.contentDocument.documentElement.textContent;
    } catch { /* It is of another origin. */ }
  }
  const opened = (name, source) => new Promise((resolve) => {
    source.onopen = () => resolve(found[name] = 'open');
    source.onerror = resolve;
  }).finally(() => source.close());
  await opened('events', new EventSource(`${url}/v1/tools:watch`, { withCredentials: true }));
  await opened('a web socket', new WebSocket(`${url.replace('https:', 'wss:')}/mcp`));
  return found;
}

// What a page could read, once the server has answered all that it sent. At the end it leads its window to the server.
async function tried({ url, grpc, witness }, address) {
  const page = await context.newPage();
  const pending = new Set();
  let wake = () => {};
  page.on('request', (request) => pending.add(request));
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => pending.delete(request) && wake());
  await page.goto(address);
  const found = await page.evaluate(attempts, { url, grpc, witness, ids: [randomUUID(), randomUUID()] });
  const read = `${url}/api/quotes?symbol=AAPL`;
  await Promise.all([page.waitForResponse(read), page.evaluate((read) => { location.href = read; }, read)]);
  while (pending.size) await new Promise((resolve) => { wake = resolve; });
  await page.close();
  return found;
}

before(async () => {
  certificate('ca', '-addext', 'basicConstraints=critical,CA:TRUE');
  signed('server', NAMES.map((name) => `DNS:${name}`).join());
  signed('person', 'URI:spiffe://example.org/ns/people/sa/person');
  [pages.https, pages.http] = await Promise.all([serve(https), serve(http)]);
  context = await startBrowser();
});

after(async () => {
  await context?.close();
  for (const page of Object.values(pages)) page.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const clientAuth of ['optional', 'required']) {
  describe(`where a client certificate is ${clientAuth}`, () => {
    let server;
    before(async () => { server = await startServer(clientAuth); });
    after(async () => {
      server.program.kill('SIGKILL');
      await once(server.program, 'exit');
    });
    const at = (scheme, name) => `${scheme}://${name}:${pages[scheme].address().port}/`;

    it('serves its own pages as the user of the certificate', async () => {
      const before = await done(server);
      const found = await tried(server, `${server.url}/openapi.json`);
      for (const [name, part] of Object.entries(SERVED)) {
        assert.ok(found[name]?.includes(part), `${name}: ${found[name]}`);
      }
      const after = await done(server);
      for (const what of ['debug_stream', 'debug_write', 'get_quotes', 'a task']) {
        const [earlier, later] = [before, after].map((all) => all.filter((it) => it === what).length);
        assert.ok(later > earlier, `${what}: ${later}, and ${earlier} before`);
      }
    });

    const foreign = {
      'of another site': () => at('https', 'evil.test'),
      'of another name of the same site': () => at('https', 'www.tools.test'),
      'of another port': () => at('https', 'tools.test'),
      'without TLS': () => at('http', 'tools.test'),
      'of another site without TLS': () => at('http', 'evil.test'),
      'of no origin': () => `${at('https', 'tools.test')}sandboxed`,
    };
    for (const [name, address] of Object.entries(foreign)) {
      it(`does nothing for a page ${name}, which reads nothing`, async () => {
        const before = await done(server);
        assert.deepEqual(await tried(server, address()), { witness: 'person' });
        assert.deepEqual(await done(server), before);
      });
    }

    it('does nothing for a page under a name that is made to resolve to it', async () => {
      const before = await done(server);
      const rebound = { ...server, url: server.url.replace('tools.test', 'rebound.test') };
      const { witness, ...read } = await tried(rebound, `${rebound.url}/`);
      assert.equal(witness, 'person');
      assert.ok(Object.keys(read).length > 5, 'it reads the refusals of its own origin');
      for (const [name, text] of Object.entries(read)) assert.match(text, /FOREIGN_HOST/, name);
      assert.deepEqual(await done(server), before);
    });
  });
}
