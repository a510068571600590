// Signs in with the unchanged TypeScript SDK of MCP, given only the URL of a server, and calls tools:
// `sign_in.mjs URL ERA CALLS`, where CALLS is a JSON array of `[tool, arguments]`. BROWSER is the command that opens a
// page; CLIENT_ID names a client that the issuer knows, without which the SDK registers one. It prints each result on a
// line.
// It adds only what the SDK requires of an application: storage, and the page that the browser returns to.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [url, era, calls] = process.argv.slice(2);
const MODES = { '2026-07-28': { pin: '2026-07-28' }, legacy: 'legacy' };

const page = createServer();
page.listen(0, '127.0.0.1');
await once(page, 'listening');

const state = randomUUID();
let returned;
const { BROWSER, CLIENT_ID } = process.env;
const kept = CLIENT_ID ? { client: { client_id: CLIENT_ID } } : {};
const application = {
  redirectUrl: `http://127.0.0.1:${page.address().port}/callback`,
  get clientMetadata() {
    return { client_name: 'gate-typescript', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none' };
  },
  state: () => state,
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => { kept.discovery = discovery; },
  redirectToAuthorization(address) {
    returned = once(page, 'request').then(([request, response]) => {
      response.end('Signed in.');
      return new URL(request.url, 'http://127.0.0.1').searchParams;
    });
    const [command, ...words] = BROWSER.split(' ');
    execFile(command, [...words, address.href], (error, _, words) => {
      if (error) console.error(words) || process.exit(1);
    });
  },
};

// The SDK leaves it to its application to finish a sign-in by the page that the browser returned to, and to try again.
const attempt = async (transport, action) => {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const params = await returned;
    if (params.get('state') !== state) throw new Error(`another state came back: ${params}`);
    await transport.finishAuth(params);
  }
};

const connect = async () => {
  const client = new Client({ name: 'gate', version: '1' }, { versionNegotiation: { mode: MODES[era] } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: application });
  return attempt(transport, () => client.connect(transport).then(() => [client, transport]));
};

const [client, transport] = await connect() ?? await connect();
for (const [name, given] of JSON.parse(calls)) {
  const call = () => attempt(transport, () => client.callTool({ name, arguments: given }));
  console.log(JSON.stringify(await call() ?? await call()));
}
await client.close();
page.close();
