// Signing in: by a token, anew in the middle of work, and at an issuer by code with PKCE. Against the stand-in.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, it } from 'node:test';

import { launch, rest, waiting } from './browser.mjs';

const users = { demo: { user_id: 'demo' }, lead: { user_id: 'lead', observes: true, approves: true } };
let issuer, console_;

/** An issuer that checks what a public client must send. */
async function startIssuer() {
  const codes = new Map();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, origin);
    response.setHeader('access-control-allow-origin', '*');
    if (url.pathname === '/.well-known/openid-configuration') {
      return response.end(JSON.stringify({ issuer: origin, authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token` }));
    }
    if (url.pathname === '/authorize') {
      const given = Object.fromEntries(url.searchParams);
      assert.equal(given.code_challenge_method, 'S256');
      const code = randomUUID();
      codes.set(code, given);
      return response.writeHead(302, { location: `${given.redirect_uri}?${new
        URLSearchParams({ code, state: given.state, iss: origin })}` }).end();
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = new URLSearchParams(text);
    const asked = codes.get(body.get('code'));
    const fits = asked && createHash('sha256').update(body.get('code_verifier')).digest('base64url') ===
      asked.code_challenge && asked.redirect_uri === body.get('redirect_uri');
    if (!fits) return response.writeHead(400).end(JSON.stringify({ error: 'invalid_grant' }));
    codes.delete(body.get('code'));
    const claims = Buffer.from(JSON.stringify({ nonce: asked.nonce })).toString('base64url');
    response.end(JSON.stringify({ access_token: 'lead', token_type: 'Bearer', id_token: `e30.${claims}.x` }));
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { origin, close: () => server.close() };
}

before(async () => {
  issuer = await startIssuer();
  console_ = await launch({ users, issuers: [{ issuer: issuer.origin, client_id: 'toolwire-console', scopes:
    ['openid', 'tools'], resource: '' }] });
});
after(async () => {
  await console_?.close();
  issuer?.close();
});

it('keeps a token in memory alone, and refuses a wrong one in words', async () => {
  const page = await console_.browser.newPage();
  await page.goto(`${console_.path.url}/#/tools`);
  await page.getByLabel('Or by a token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('.complaint', { hasText: 'The server did not accept this token.' }).waitFor();
  await page.getByLabel('Or by a token').fill('demo');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('.connection.live').waitFor();
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!kept.includes('demo'), kept);
  await page.close();
});

it('asks again when a sign-in ends, and loses no input', async () => {
  const page = await console_.browser.newPage();
  await page.goto(`${console_.path.url}/#/tools/get_quotes`);
  await page.getByLabel('Or by a token').fill('demo');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('symbol').fill('NVDA');
  console_.server.refuse(true);
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByText('nothing that you typed is lost').waitFor();
  console_.server.refuse(false);
  await page.getByLabel('Or by a token').fill('demo');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('tw-result', { hasText: 'NVDA' }).waitFor();
  await page.close();
});

it('forgets the inputs of a user who signs out', async () => {
  const page = await console_.browser.newPage();
  await page.goto(`${console_.path.url}/#/tools/get_quotes`);
  await page.getByLabel('Or by a token').fill('demo');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('symbol').fill('NVDA');
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByLabel('Last inputs on this machine').waitFor();
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Sign in to go on.').waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), []);
  await page.getByLabel('Or by a token').fill('lead');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  assert.equal(await page.getByLabel('symbol').inputValue(), '', 'nor are they in the form of the next user');
  await page.close();
});

it('signs in at the issuer, and leads back to the approval of the link', async () => {
  const { id } = await waiting(console_.server.url, { value: 'on another device', token: 'demo' });
  const page = await console_.browser.newPage();
  await page.goto(`${console_.path.url}/#/approvals/${id}`);
  await page.getByRole('button', { name: /Sign in\s+at/ }).click();
  await page.locator('tw-approval-card', { hasText: 'on another device' }).waitFor();
  assert.equal(new URL(page.url()).search, '', 'the code does not stay in the address');
  assert.equal(new URL(page.url()).hash, `#/approvals/${id}`);
  // Once it is known, a sign-in is renewed in a window of its own.
  console_.server.refuse(true);
  const popup = page.waitForEvent('popup');
  await page.evaluate(() => { location.hash = '#/audit'; });
  await page.getByText('Your sign-in has ended').waitFor();
  console_.server.refuse(false);
  await page.getByRole('button', { name: /Sign in\s+at/ }).click();
  await popup;
  await page.getByText('No record matches.').waitFor();
  await page.close();
});

it('shows one’s own call with the reason why one cannot decide', async () => {
  const { id } = await waiting(console_.server.url, { value: 'my own', token: 'lead' });
  const page = await console_.browser.newPage();
  await page.goto(`${console_.path.url}/#/approvals/${id}`);
  await page.getByLabel('Or by a token').fill('lead');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('You cannot decide: it is your own call').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Approve' }).isDisabled());
  await page.keyboard.press('1');
  assert.equal((await rest(console_.server.url, 'GET', `/v1/confirmations/${id}`, { token: 'lead' })).body
    .confirmation.state, 'PENDING');
  await page.close();
});

it('does not take an answer of a sign-in that did not begin in this tab', async () => {
  const page = await console_.browser.newPage();
  await page.goto(`${console_.path.url}/?code=stolen&state=p.forged`);
  await page.getByText('This sign-in did not begin in this tab').waitFor();
  await page.close();
});
