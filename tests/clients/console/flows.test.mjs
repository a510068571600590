// The console as people use it: approve, watch, try. Against Toolwire with URL, else against the stand-in.
// Usage: node --test flows.test.mjs; URL names a server without users that was started with --diagnostics.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { launch, rest, waiting } from './browser.mjs';

let console_, url;
before(async () => {
  console_ = await launch({});
  ({ url } = console_.server);
});
after(() => console_?.close());

const closed = async (page, work) => {
  try {
    return await work(page);
  } finally {
    await page.context().close();
  }
};

it('approves by a link on a phone, and the caller goes on', async () => {
  const { id, again } = await waiting(url, { value: 'parcel 7' });
  await closed(await console_.open(`#/approvals/${id}`, { width: 360, height: 740, theme: 'dark' }), async (page) => {
    const card = page.locator('tw-approval-card');
    await card.getByText('parcel 7').first().waitFor();
    await card.getByRole('button', { name: 'Approve' }).click();
    // Its consequences are high: the name of the tool is typed.
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.getByText('This is not the name of the tool').waitFor();
    await card.getByLabel(/Type the tool’s name/).fill('debug_confirm');
    await card.getByRole('button', { name: 'Approve' }).click();
    await card.locator('.verdict', { hasText: 'approved' }).waitFor();
    assert.equal((await again()).status, 200);
    await card.locator('.verdict', { hasText: 'approved and used' }).waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      'the page is not wider than the phone');
  });
});

it('denies with a proposal, which the caller is told as text', async () => {
  const { id, again } = await waiting(url, { value: 'too much' });
  await closed(await console_.open(`#/approvals/${id}`), async (page) => {
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByLabel(/Why not/).fill('Less, please.');
    await page.getByRole('button', { name: 'Propose other arguments' }).click();
    await page.getByLabel(/Arguments that you would approve/).fill('{"value": "a little"}');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.locator('.verdict', { hasText: 'denied' }).waitFor();
    assert.match(JSON.stringify((await again()).body), /Less, please\..*a little/);
  });
});

it('is used by the keyboard alone: from the list to the decision and back', async () => {
  const { id } = await waiting(url, { value: 'by keys' });
  await closed(await console_.open('#/tools'), async (page) => {
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: 'Approvals' }).waitFor();
    await page.evaluate((address) => { location.hash = address; }, `#/approvals/${id}`);
    await page.locator('tw-approval-card', { hasText: 'by keys' }).waitFor();
    await page.keyboard.press('2');
    await page.keyboard.type('no');
    await page.keyboard.press('Control+Enter');
    await page.locator('.verdict', { hasText: 'denied' }).waitFor();
    assert.match(await page.evaluate(() => document.activeElement?.className ?? ''), /verdict/,
      'the focus follows to the verdict');
    await page.keyboard.press('Escape');
    await page.waitForURL(/#\/approvals$/);
  });
});

it('lets one of two people win, and tells both', async () => {
  const { id } = await waiting(url, { value: 'for two' });
  const [one, two] = await Promise.all([console_.open(`#/approvals/${id}`), console_.open(`#/approvals/${id}`)]);
  for (const page of [one, two]) {
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByLabel(/Type the tool’s name/).fill('debug_confirm');
  }
  // The field of the one goes as soon as the other has decided.
  await Promise.all([one, two].map((page) => page.getByLabel(/Type the tool’s name/).press('Enter', { timeout: 1_000 })
    .catch(() => {})));
  for (const page of [one, two]) await page.locator('.verdict', { hasText: 'approved' }).waitFor();
  const { body } = await rest(url, 'GET', `/v1/confirmations/${id}`);
  assert.equal(body.confirmation.state, 'APPROVED');
  await Promise.all([one, two].map((page) => page.context().close()));
});

it('shows a new approval wherever one is, without a reload', async () => {
  await closed(await console_.open('#/connect', { width: 800 }), async (page) => {
    const before = Number.parseInt(await page.locator('.wait-link', { hasText: 'approve' }).textContent({ timeout: 300 }).catch(() => '0'), 10);
    await waiting(url, { value: 'news' });
    await page.locator('.wait-link', { hasText: `${before + 1} to approve` }).waitFor();
  });
});

it('calls a tool by its form: violations at their field, what would happen, the result', async () => {
  await closed(await console_.open('#/tools/get_performance'), async (page) => {
    const form = page.locator('tw-try');
    await form.getByRole('button', { name: 'What would happen?' }).click();
    await form.locator('.explained', { hasText: 'arguments are wrong' }).waitFor();
    await form.locator('tw-field .complaint', { hasText: 'timeframe' }).waitFor();
    await page.goto(`${console_.path.url}/#/tools/get_quotes`);
    await form.getByLabel('symbol').fill('AAPL');
    await form.getByRole('button', { name: 'What would happen?' }).click();
    await form.locator('.explained', { hasText: /would run|cache would answer/ }).waitFor();
    await form.getByLabel('symbol').press('Control+Enter');
    await form.locator('tw-result', { hasText: '193.12' }).waitFor();
    await form.getByText('Copy this call').click();
    for (const [name, part] of [['curl', '/v1/tools/get_quotes:call'],
      ['grpcurl', 'toolwire.v1.ToolService/CallTool'], ['Python', 'urllib.request'],
      ['TypeScript', 'await fetch('], ['MCP', '"tools/call"']]) {
      await form.getByRole('button', { name, exact: true }).click();
      await form.locator('tw-copy pre', { hasText: part }).waitFor();
    }
    await form.getByRole('link', { name: 'The call, stage by stage' }).click();
    await page.locator('.waterfall', { hasText: 'executed' }).waitFor();
  });
});

it('makes a write once: a call that waits is repeated under its request', async () => {
  await closed(await console_.open('#/tools/debug_confirm'), async (page) => {
    await page.getByLabel('value').fill('from the page');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByText('A person must approve this call.').waitFor();
    const { body } = await rest(url, 'GET', '/v1/confirmations?states=PENDING');
    const { confirmation_id: id } = body.confirmations.find((one) => one.summary.includes('from the page'));
    await rest(url, 'POST', `/v1/confirmations/${id}:decide`, { body: { approve: { tool: 'debug_confirm' } } });
    await page.getByRole('button', { name: /make the call/ }).click();
    await page.locator('tw-try tw-result').waitFor();
  });
});

it('shows calls as they happen, and goes on after a lost connection without gap or double', async () => {
  await closed(await console_.open('#/calls?tool=get_quotes'), async (page) => {
    const count = async () =>
      Number(/^[\d,]+/.exec(await page.locator('.list [role=status]').textContent())[0].replace(',', ''));
    const call = (symbol) => rest(url, 'POST', '/v1/tools/get_quotes:call', { body: { symbol } });
    await page.locator('tw-rows .row').first().waitFor();
    const before = await count();
    await call('AAPL');
    await page.waitForFunction((wanted) =>
      document.querySelector('.list [role=status]').textContent.startsWith(String(wanted)), before + 1);
    console_.path.cut();
    await call('MSFT');
    await call('VOO');
    await page.locator('.connection.lost').waitFor();
    console_.path.mend();
    await page.locator('.connection.live').waitFor();
    await page.waitForFunction((wanted) =>
      document.querySelector('.list [role=status]').textContent.startsWith(String(wanted)), before + 3);
    await call('TSLA');
    await page.waitForFunction((wanted) =>
      document.querySelector('.list [role=status]').textContent.startsWith(String(wanted)), before + 4);
  });
});

it('begins by itself once the server answers', async () => {
  const page = await console_.browser.newPage();
  await page.route('**/v1/**', (route) => route.abort());
  await page.goto(`${console_.path.url}/#/tools`);
  await page.getByRole('main').getByText(/^The server cannot be reached\.\s+Try again$/).waitFor();
  await page.unroute('**/v1/**');
  await page.locator('.connection.live').waitFor();
  await page.locator('tw-tools .row').first().waitFor();
  await page.close();
});

it('begins at once when it is asked to try again', async () => {
  const page = await console_.browser.newPage();
  // Without a pause that ends by itself.
  await page.addInitScript(() => {
    const real = setTimeout;
    window.setTimeout = (run, ms) => (ms > 100 ? 0 : real(run, ms));
  });
  await page.route('**/v1/**', (route) => route.abort());
  await page.goto(console_.path.url);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.unroute('**/v1/**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.connection.live').waitFor();
  await page.close();
});

it('loads a screen that was first opened without a connection once there is one', async () => {
  await closed(await console_.open('#/tools', { width: 360, height: 740 }), async (page) => {
    console_.path.cut();
    await page.locator('.connection.lost').waitFor();
    const menu = page.locator('.menu-button');
    assert.ok(await menu.evaluate((one) => one.scrollWidth <= one.clientWidth), 'the menu’s button is whole');
    // The list of tasks is loaded with what it opens.
    await page.evaluate(() => { location.hash = '#/tasks/task_1'; });
    await page.getByText('This part of the page could not be loaded.').waitFor();
    console_.path.mend();
    await page.locator('.connection.live').waitFor();
    await page.getByText(/no task task_1/).waitFor();
  });
});

it('shows hostile text as text', async () => {
  const value = '<img src=x onerror="document.title=\'run\'"> {{1+1}} ${1} \u202egnp.exe \u0007';
  const { id } = await waiting(url, { value });
  await closed(await console_.open(`#/approvals/${id}`), async (page) => {
    await page.locator('tw-arguments', { hasText: '<img src=x' }).waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    assert.match(await page.locator('tw-arguments').textContent(), /U\+202E/,
      'what reorders text is shown by its code');
    assert.notEqual(await page.title(), 'run');
  });
});

it('shows the last of several screens that are asked for at once', async () => {
  await closed(await console_.open('#/approvals'), async (page) => {
    // The file of the first comes after that of the second.
    await page.route('**/screens/overview.js', async (route) => {
      await page.getByRole('heading', { name: 'Connect' }).waitFor();
      await route.continue();
    });
    const late = page.waitForResponse('**/screens/overview.js');
    await page.evaluate(() => { location.hash = '#/overview'; });
    await page.evaluate(() => { location.hash = '#/connect'; });
    await (await late).finished();
    await page.evaluate(() => import('./screens/overview.js'));
    await page.getByRole('heading', { name: 'Connect', exact: true }).waitFor();
  });
});

it('shows a screen that is not there, and an approval that one may not see', async () => {
  await closed(await console_.open('#/nowhere'), async (page) => {
    await page.getByText('There is no such screen').waitFor();
    await page.goto(`${console_.path.url}/#/approvals/conf_00000000000000000000000000000000`);
    await page.getByText('There is no such approval that you may see').waitFor();
  });
});

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
