// Limits: sources, whose calls were refused, and one's own quotas. Against Toolwire with URL, else the stand-in.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { isReal, launch, rest } from './browser.mjs';

let console_;
before(async () => {
  console_ = await launch({});
});
after(() => console_?.close());

it('shows who is over a limit, and by the keyboard leads to the call that was refused', async () => {
  const { url, state } = console_.server;
  const page = await console_.open('#/connect');
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await page.locator('.panel', { hasText: 'Sources' }).getByText('brokerage').waitFor();
  // On a server without users one sees one's own calls alone.
  const user = isReal ? 'demo' : 'riley';
  const refused = page.locator('.panel', { hasText: 'Refused by a limit' });
  await rest(url, 'POST', '/v1/tools/debug_fail:call', { body: { code: 'RATE_LIMITED' }, user });
  await refused.locator('li', { hasText: user }).filter({ hasText: 'debug_fail' }).first().waitFor();
  if (state) {
    await page.getByText('1 source of 2 over a limit now').waitFor();
    await page.getByText('60 a minute').waitFor();
    await page.locator('.panel', { hasText: 'Over a limit now' }).getByText(/renews in \d+ s/).waitFor();
    await page.getByRole('link', { name: 'search_web', exact: true }).first().waitFor();
  }
  const link = refused.locator('li', { hasText: user }).filter({ hasText: 'debug_fail' })
    .getByRole('link', { name: / calls?$/ });
  await link.focus();
  await page.keyboard.press('Enter');
  await page.locator('tw-call', { hasText: 'rate limited' }).waitFor();
  await page.context().close();
});

it('asks what is left of one’s quotas', async () => {
  const page = await console_.open('#/limits', { width: 360, height: 740 });
  await page.getByLabel('For calls of').selectOption('get_quotes');
  await page.getByRole('button', { name: 'What is left?' }).click();
  await page.getByText(isReal ? 'No quota bounds your calls of get_quotes.' : '43 used, 57 left').waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.context().close();
});

it('says shares, bounds and times plainly, and who decided nothing', { skip: isReal }, async () => {
  const page = await console_.open('', { width: 360, height: 740 });
  const time = '2026-11-30T22:05:00Z';
  await page.route('**/v1/stats?*', (route) => route.fulfill({ json: { step: '5s', running: 0, waiting: 0, buckets:
    [{ time, calls: 61, errors: [{ code: 'TIMEOUT', calls: 61 }], latencies: [], p50: '2s', p99: '5s' }] } }));
  await page.route('**/v1/records?*', (route) => route.fulfill({ json: { next_page_token: '', records: [{ time,
    kind: 'DECISION', verdict: 'EXPIRED', user_id: 'maria', caller: 'maria', tool: 'shop_refund_of_an_order',
    call_id: 'a', confirmation_id: 'b', code: '', approver: '' }] } }));
  await page.goto(`${console_.path.url}/#/overview`);
  await page.locator('.tile', { hasText: '61 (100 %)' }).waitFor();
  await page.locator('.legend', { hasText: /99 in 100\s+≤ 5 s/ }).waitFor();
  assert.doesNotMatch(await page.locator('tw-chart').first().textContent(), /[AP]M/);
  await page.goto(`${console_.path.url}/#/audit`);
  await page.locator('td', { hasText: /^nobody\s+on a call of\s+maria$/ }).waitFor();
  assert.ok(await page.locator('.records').evaluate((table) => table.scrollWidth <= table.clientWidth));
  await page.context().close();
});

it('has a menu of what is not in the bar', async () => {
  for (const [width, screens] of [[1440, false], [360, true]]) {
    const page = await console_.open('#/connect', { width, height: 740 });
    await page.getByRole('button', { name: 'Menu' }).click();
    assert.equal(await page.locator('#menu nav').isVisible(), screens);
    const [box, dark] = await Promise.all([page.locator('.theme'), page.locator('.theme label').last()]
      .map((part) => part.boundingBox()));
    assert.ok(dark.x + dark.width <= box.x + box.width, 'the last theme is within the box');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await page.context().close();
  }
});

it('says of a tool that is removed that it cannot be called', { skip: isReal }, async () => {
  const { state } = console_.server;
  const page = await console_.open('#/tools/debug_write');
  await page.getByRole('button', { name: 'Call', exact: true }).waitFor();
  const tool = state.tools.get('debug_write');
  state.tools.delete(tool.name);
  state.tell('tools.removed', { type: 'REMOVED', tool });
  await page.getByText('This tool was removed: it cannot be called.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Call', exact: true }).isDisabled());
  await page.context().close();
});

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
