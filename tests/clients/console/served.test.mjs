// The page as the program serves it: each file of console/ condensed, its type, its headers, and how much
// goes over the wire.
// Usage: node --test served.test.mjs; URL names a server, PAGE the folder console/.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { extname } from 'node:path';
import { it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { names, served, TYPES } from './files.mjs';
import { policy } from './stand_in.mjs';

/** All files at most, in bytes on the wire. */
const MOST_SENT = 70_000;
const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes) => bytes };

/** An answer as it is sent: `fetch` would decode it. */
const get = (path, headers = {}) => new Promise((resolve, reject) => {
  request(new URL(path, process.env.URL), { headers }, async (response) => {
    const chunks = await response.toArray().catch(reject);
    resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks ?? []) });
  }).on('error', reject).end();
});

const path = (name) => (name === 'index.html' ? '/' : `/${name}`);
const essence = ({ headers }) => headers['content-type'].split(';')[0];
const decoded = ({ headers, body }) => DECODERS[headers['content-encoding'] ?? 'identity'](body);

it('serves each file of console/ condensed and compressed within the limit', async (test) => {
  const files = await names();
  assert.ok(files.length > 30, `${files.length} files`);
  let sent = 0;
  for (const name of files) {
    const answer = await get(path(name), { 'accept-encoding': 'br, gzip' });
    assert.equal(answer.status, 200, name);
    assert.equal(essence(answer), TYPES[extname(name)].split(';')[0], name);
    assert.deepEqual(decoded(answer), await served(name), name);
    sent += answer.body.length;
  }
  test.diagnostic(`${files.length} files, ${sent / 1000} KB on the wire`);
  assert.ok(sent <= MOST_SENT, `${sent} bytes on the wire, of ${MOST_SENT}`);
});

it('serves the same to a client that takes no compression', async () => {
  const answer = await get('/main.js');
  assert.equal(answer.headers['content-encoding'], undefined);
  assert.deepEqual(answer.body, await served('main.js'));
});

it('sends the policy with the page and with each part of it', async () => {
  for (const name of ['index.html', 'main.js', 'style.css', 'icon.svg']) {
    const { headers } = await get(path(name));
    assert.equal(headers['content-security-policy'], policy(), name);
    assert.equal(headers['x-content-type-options'], 'nosniff', name);
    assert.equal(headers['referrer-policy'], 'no-referrer', name);
  }
});

it('serves nothing else, and no path that leaves the folder', async () => {
  for (const name of ['nothing.js', 'vendor/SHA256', '..%2fCargo.toml', 'lib/..%2f..%2fCargo.toml'])
    assert.equal((await get(path(name))).status, 404, name);
});
