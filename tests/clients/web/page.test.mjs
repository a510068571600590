// examples/web in a headless Chromium, from a file server of another origin: a chat, an approval, a denial, a discovery.
// Usage: node --test page.test.mjs, with URL naming a server that allows ORIGIN and whose
// add_to_watchlist needs approval; CHROMIUM names the browser, PAGE the folder of the page.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';

import { chromium } from 'playwright-core';

const { URL: server, ORIGIN: origin, PAGE: folder, CHROMIUM: executablePath } = process.env;
let files, context, page, profile;
const mistakes = [];

before(async () => {
  const html = await readFile(join(folder, 'index.html'));
  files = createServer((_, response) => response.setHeader('content-type', 'text/html; charset=utf-8').end(html));
  await new Promise((resolve) => files.listen(Number(new URL(origin).port), '127.0.0.1', resolve));
  profile = await mkdtemp(join(tmpdir(), 'toolwire-page-'));
  context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ],
  });
  page = await context.newPage();
  page.on('pageerror', (error) => mistakes.push(error.message));
  await page.goto(`${origin}/?server=${encodeURIComponent(server)}`);
});

after(async () => {
  await context?.close();
  files?.close();
  if (profile) await rm(profile, { recursive: true, force: true });
});

const say = async (text) => {
  await page.fill('#message', text);
  await page.press('#message', 'Enter');
};

it('chats: the answer comes with the call that it is made from', async () => {
  await say('What is Apple trading at?');
  await page.locator('article.assistant', { hasText: '193.12' }).waitFor();
  assert.match(await page.locator('details').first().textContent(), /get_quotes/);
});

it('shows a write before it is done, and does it once it is approved', async () => {
  await say('Add Trent to my watchlist');
  const card = page.locator('article.card').last();
  await card.waitFor();
  assert.match(await card.textContent(), /TRENT/);
  await card.getByRole('button', { name: 'Approve' }).click();
  await page.locator('details', { hasText: '"success": true' }).last().waitFor();
  await say('What is on my watchlist?');
  await page.locator('article.assistant', { hasText: 'TRENT' }).last().waitFor();
});

it('does not do what is denied', async () => {
  await say('Add Suzlon to my watchlist');
  const card = page.locator('article.card').last();
  await card.getByRole('button', { name: 'Deny' }).click();
  await page.locator('article.assistant', { hasText: 'denied' }).last().waitFor();
});

it('follows a job to its end by an EventSource', async () => {
  await page.click('#discover');
  const lines = page.locator('article.job');
  await lines.filter({ hasText: '[10%] Starting discovery cycle...' }).waitFor();
  await lines.filter({ hasText: '[100%]' }).waitFor();
});

it('goes on with a stream of events after the last one that a browser has', async () => {
  const seen = await page.evaluate(async (server) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ max_candidates: 1 });
    const { status_url } = await (await fetch(`${server}/api/discovery`, { method: 'POST', headers, body })).json();
    const url = server + status_url;
    const ids = [];
    // The first two events, and then the rest from another connection, as a browser does that lost the first.
    await new Promise((resolve) => {
      const source = new EventSource(url);
      source.addEventListener('progress', ({ lastEventId }) => {
        ids.push(Number(lastEventId));
        if (ids.length === 2) { source.close(); resolve(); }
      });
    });
    const response = await fetch(url, { headers: { 'last-event-id': String(ids.at(-1)) } });
    const text = await response.text();
    ids.push(...[...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1])));
    return ids;
  }, server);
  assert.deepEqual(seen, seen.map((_, at) => at));
});

it('makes no mistake that the browser tells of', () => assert.deepEqual(mistakes, []));
