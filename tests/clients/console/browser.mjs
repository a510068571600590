// A headless Chromium over the console of a server: that of URL, or a stand-in. CHROMIUM names the browser.
import { randomUUID } from 'node:crypto';
import { connect, createServer } from 'node:net';

import { chromium } from 'playwright-core';

import { standIn } from './stand_in.mjs';

export const isReal = Boolean(process.env.URL);

/** A way to a server that can be cut: connections end, and no new one is taken until it is mended. */
async function way(target) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      sockets.add(from);
      from.on('error', () => {}).on('close', () => { sockets.delete(from); to.destroy(); }).pipe(to);
    }
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const cut = () => { isCut = true; sockets.forEach((socket) => socket.destroy()); };
  return { url: `http://127.0.0.1:${server.address().port}`, cut, mend: () => { isCut = false; }, close: () =>
    { cut(); server.close(); } };
}

export async function launch(options) {
  const server = isReal ? { url: process.env.URL.replace(/\/$/, ''), close() {} } : await standIn(options);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
      '--disable-component-update'],
  });
  const path = await way(server.url);
  /** What went wrong in any page: errors of scripts, and what the policy blocked. */
  const mistakes = [];
  /** Opens a page of a person of their own. */
  const open = async (hash = '', { width = 1440, height = 900, theme = 'light', token = '' } = {}) => {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
    const page = await context.newPage();
    page.on('pageerror', (error) => mistakes.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && /Content Security Policy|Trusted/.test(message.text()))
        mistakes.push(message.text());
    });
    await page.goto(`${path.url}/${hash}`);
    if (token) {
      await page.getByLabel('Your token').fill(token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    }
    await page.locator('.connection.live').waitFor();
    return page;
  };
  const close = async () => {
    await browser.close();
    path.close();
    server.close();
  };
  return { server, path, browser, mistakes, open, close };
}

/** Does something with a page, and closes the page whether that fails or not. */
export async function closed(page, work) {
  try {
    return await work(page);
  } finally {
    await page.context().close();
  }
}

/** A request as a program makes it. */
export async function rest(url, method, path, { body, user, key, token } = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { ...(body && { 'content-type': 'application/json' }), ...(user && { 'x-toolwire-user': user }),
      ...(key && { 'idempotency-key': key }),
      ...(token && { authorization: `Bearer ${token}` }) },
    body: body && JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** A call that waits for approval: its confirmation, and how the caller repeats it. */
export async function waiting(url, { value = 'x', user, tool = 'debug_confirm', body = { value }, token } = {}) {
  const again = () => rest(url, 'POST', `/v1/tools/${tool}:call`, { body, user, key, token });
  const key = randomUUID();
  const { body: answer } = await again();
  return { id: answer.confirmation.confirmation_id, again };
}
