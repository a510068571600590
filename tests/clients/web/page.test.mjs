// examples/web in a headless Chromium, from a file server of another origin: a chat, an approval, a denial, a discovery,
// hostile Markdown, and a server that is not there.
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
let files, others, context, page, profile;
const mistakes = [];

before(async () => {
  const page_files = { '/': 'index.html', '/markdown.js': 'markdown.js' };
  const serve = async ({ url }, response) => {
    const name = page_files[url.split('?')[0]];
    if (!name) return response.writeHead(404).end();
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8';
    response.setHeader('content-type', type).end(await readFile(join(folder, name)));
  };
  // The same page of the origin that the server allows, and of one that it does not.
  [files, others] = [createServer(serve), createServer(serve)];
  const listen = (it, port) => new Promise((resolve) => it.listen(port, '127.0.0.1', resolve));
  await Promise.all([listen(files, Number(new URL(origin).port)), listen(others, 0)]);
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
  others?.close();
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

it('asks one after another what is sent at once', async () => {
  const [before, calls] = await Promise.all(['article.assistant', 'details'].map((it) => page.locator(it).count()));
  await page.evaluate(() => {
    for (const text of ['What is Apple trading at?', 'What is Microsoft trading at?']) {
      document.querySelector('#message').value = text;
      document.querySelector('#say').requestSubmit();
    }
  });
  await page.locator('details').nth(calls + 1).waitFor();
  await page.locator('article.assistant').nth(before + 1).waitFor();
  assert.equal(await page.locator('article.failed').count(), 0);
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

// What a text becomes, as HTML that the browser writes down.
const rendered = (text) => page.evaluate(async (markdown_text) => {
  const { markdown } = await import('/markdown.js');
  const place = document.createElement('div');
  place.append(markdown(markdown_text));
  return place.innerHTML;
}, text);

it('shows the Markdown of an answer', async () => {
  assert.equal(await rendered('**a** and *b* of `c < d`\\*'),
    '<p><strong>a</strong> and <em>b</em> of <code>c &lt; d</code>*</p>');
  assert.equal(await rendered('## Head\n- one\n- two\n  - three\n\n3. x'),
    '<h2>Head</h2><ul><li>one</li><li><p>two</p><ul><li>three</li></ul></li></ul><ol start="3"><li>x</li></ol>');
  assert.equal(await rendered('| a | b |\n|---|---:|\n| 1 | **2** |'),
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table>');
  assert.equal(await rendered('> said\n\n```js\n<b>\n```'),
    '<blockquote><p>said</p></blockquote><pre><code>&lt;b&gt;</code></pre>');
  assert.match(await rendered('see https://example.com/a_b_c.'), /<a href="https:\/\/example.com\/a_b_c" [^>]*>[^<]*<\/a>\./);
  assert.equal(await rendered('snake_case_name and 2 * 3 * 4'), '<p>snake_case_name and 2 * 3 * 4</p>');
});

it('makes no markup, no script and no link but to http of a hostile text', async () => {
  const hostile = [
    '<script>document.title = "owned"</script>',
    '<img src=x onerror="document.title = \'owned\'">',
    '![x](https://evil.example/pixel.png)',
    '[a](javascript:document.title="owned")',
    '[b](JaVaScRiPt:alert(1))',
    '[c](data:text/html,<script>1</script>)',
    '[d](vbscript:x) [e](//evil.example) [f](file:///etc/passwd)',
    '[g](https://example.com/"onmouseover="document.title=1)',
    '**[<b onclick=1>h</b>](http://example.com)**',
    `${'> '.repeat(200)}deep`,
    `${'['.repeat(500)}${'*'.repeat(501)}`,
  ].join('\n\n');
  const found = await page.evaluate(async (text) => {
    const { markdown } = await import('/markdown.js');
    const place = document.createElement('div');
    document.body.append(place);
    place.append(markdown(text));
    const all = [...place.querySelectorAll('*')];
    const result = {
      names: [...new Set(all.map((it) => it.localName))].sort(),
      attributes: [...new Set(all.flatMap((it) => it.getAttributeNames()))].sort(),
      links: [...place.querySelectorAll('a')].map((it) => it.protocol),
      text: place.textContent,
    };
    place.remove();
    return result;
  }, hostile);
  assert.deepEqual(found.names.filter((name) => !['a', 'blockquote', 'em', 'p', 'strong'].includes(name)), []);
  assert.deepEqual(found.attributes, ['href', 'rel', 'target', 'title']);
  assert.deepEqual([...new Set(found.links)].sort(), ['http:', 'https:']);
  assert.match(found.text, /<script>document\.title = "owned"<\/script>/);
  assert.notEqual(await page.title(), 'owned');
});

it('says what is wrong when no server answers, when one refuses the page, and when it is no server of ours', async () => {
  const other = await context.newPage();
  const failed = async (address, from = origin) => {
    await other.goto(`${from}/?server=${encodeURIComponent(address)}`);
    await other.fill('#message', 'Hello');
    await other.press('#message', 'Enter');
    const card = other.locator('article.failed');
    await card.waitFor();
    return card.textContent();
  };
  assert.match(await failed('http://127.0.0.1:1'), /No answer from http:\/\/127\.0\.0\.1:1.*toolwire serve --http.*allowed_origins/);
  const refused = `http://127.0.0.1:${others.address().port}`;
  const words = await failed(server, refused);
  assert.ok(words.includes(`No answer from ${server}`) && words.includes(`allowed_origins = ["${refused}"]`), words);
  assert.match(await failed(origin), /answers 404 and is no HTTP port of Toolwire/);
  await other.close();
});

it('makes no mistake that the browser tells of', () => assert.deepEqual(mistakes, []));
