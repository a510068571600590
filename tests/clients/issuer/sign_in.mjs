// Signs in with the unchanged TypeScript SDK of MCP, given only the URL of a server, and calls a tool:
// `sign_in.mjs URL ERA`. BROWSER is the command that opens a page. It prints the result.
// It adds only what the SDK requires of an application: storage, and the page that the browser returns to.

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [url, era] = process.argv.slice(2);
const MODES = { '2026-07-28': { pin: '2026-07-28' }, legacy: 'legacy' };

const page = createServer();
page.listen(0, '127.0.0.1');
await once(page, 'listening');
const cameBack = once(page, 'request').then(([request, response]) => {
  response.end('Signed in.');
  return new URL(request.url, 'http://127.0.0.1').searchParams;
});

const state = randomUUID();
const kept = {};
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
  redirectToAuthorization(page) {
    const [command, ...words] = process.env.BROWSER.split(' ');
    execFile(command, [...words, page.href], (error, _, words) => {
      if (error) console.error(words) || process.exit(1);
    });
  },
};

const connect = async () => {
  const client = new Client({ name: 'gate', version: '1' }, { versionNegotiation: { mode: MODES[era] } });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: application });
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const params = await cameBack;
    if (params.get('state') !== state) throw new Error(`another state came back: ${params}`);
    await transport.finishAuth(params);
    return connect();
  }
};

const client = await connect();
const result = await client.callTool({ name: 'get_fundamentals', arguments: { symbol: 'TCS' } });
console.log(JSON.stringify(result));
await client.close();
page.close();
