// Runs oidc-provider, an identity provider that is not ours, on a free port of 127.0.0.1. It issues access tokens as
// JSON Web Tokens for any requested resource: to the client `agent` (secret `agent-secret`), and to the user that the
// cookie `account` names, by a client that registers itself, `desktop` or, by the device grant, `terminal`.
//
// It prints its address, and then answers each line on its standard input with one line:
//   rotate              signs with the announced key and announces another one; old keys stay published
//   rotate unannounced  signs with a key that was never published before
//   clock SECONDS       moves its clock ahead, or back if the number is negative
//   life SECONDS        sets the life of the tokens that it issues from now on
//   leave, return       closes its port and every connection; opens the port again
//   registered          answers with the names of the clients that registered themselves
//   requested           answers with the scopes of each request for authorization, as a JSON array
// It ends with its standard input.

import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import Provider from 'oidc-provider';

// The library prints warnings about its defaults to standard output, between the answers.
console.info = console.warn = () => {};

const GROUPS = {
  agent: ['support'],
  alice: ['support'],
  bob: ['desk'],
  carol: ['approvers'],
  dave: [],
};
const SCOPES = 'tools write';
// Consecutive keys are of different kinds, so that each of the usual algorithms signs.
const KINDS = [
  { alg: 'ES256', make: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
  { alg: 'EdDSA', make: () => generateKeyPairSync('ed25519') },
  { alg: 'RS256', make: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) },
];

let made = 0;
function key() {
  const { alg, make } = KINDS[made % KINDS.length];
  made += 1;
  return { ...make().privateKey.export({ format: 'jwk' }), kid: `key-${made}`, use: 'sig', alg };
}

let [signing, announced, older] = [key(), key(), []];
// A separate key signs ID tokens.
const ofIdTokens = { ...KINDS[2].make().privateKey.export({ format: 'jwk' }), kid: 'id-tokens', use: 'sig', alg: 'RS256' };
let life = 600;
const registered = [], requested = [];

function configuration() {
  return {
    jwks: { keys: [signing, announced, ...older, ofIdTokens] },
    cookies: { keys: ['a key of the cookies of a test'] },
    clients: [
      {
        client_id: 'agent',
        client_secret: 'agent-secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: 'terminal',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: 'desktop',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        // A native client may come back to any port.
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    ],
    scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
    // A client that registers itself names the scopes of its first sign-in, and may request others later.
    extraClientMetadata: {
      properties: ['scope'],
      validator(context, _, __, client) {
        if (context) delete client.scope;
      },
    },
    pkce: { required: () => true },
    ttl: { AccessToken: () => life, ClientCredentials: () => life },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_, token) => ({ groups: GROUPS[token.accountId ?? token.clientId] ?? [] }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({
          scope: SCOPES,
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: signing.alg } },
        }),
      },
    },
  };
}

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const issuer = `http://127.0.0.1:${port}`;

// A provider cannot change its keys, so a new one replaces it. Both share the storage of the process.
let provider, answer;
function renew() {
  provider = new Provider(issuer, configuration());
  provider.on('registration_create.success', (_, client) => registered.push(client.clientName));
  provider.on('authorization.success', ({ oidc }) => requested.push(oidc.params.scope ?? ''));
  provider.on('server_error', (_, error) => console.error(error));
  answer = provider.callback();
}
renew();

server.on('request', (request, response) => {
  if (!request.url.startsWith('/interaction/')) return answer(request, response);
  interact(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500).end();
  });
});

// Signs in the user that the cookie names, who consents to everything.
async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    const accountId = /(?:^|; )account=(\w+)/.exec(request.headers.cookie)?.[1];
    return provider.interactionFinished(request, response, { login: { accountId } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope([...(prompt.details.missingOIDCScope ?? [])].join(' '));
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  const consent = { grantId: await grant.save() };
  return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

const now = Date.now;
const COMMANDS = {
  rotate(how) {
    older.unshift(signing);
    [signing, announced] = how === 'unannounced' ? [key(), announced] : [announced, key()];
    renew();
    return signing.kid;
  },
  clock(seconds) {
    Date.now = () => now() + seconds * 1000;
  },
  life(seconds) {
    life = Number(seconds);
  },
  async leave() {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  },
  async return() {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  },
  registered: () => registered.join(' '),
  requested: () => JSON.stringify(requested),
};

console.log(issuer);
for await (const line of createInterface({ input: process.stdin })) {
  const [command, value] = line.split(' ');
  console.log((await COMMANDS[command](value)) || 'done');
}
process.exit();
