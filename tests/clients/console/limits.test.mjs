// Limits: quotas, whose calls were refused, and sources. Against Toolwire with URL, else the stand-in.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { isReal, launch, rest } from './browser.mjs';

let console_;
before(async () => {
  console_ = await launch({});
});
after(() => console_?.close());

it('shows who is over a limit, and by the keyboard leads to the calls that were refused', async () => {
  const { url, state } = console_.server;
  const page = await console_.open('#/connect');
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  const sources = page.locator('.panel', { hasText: 'Sources' });
  await sources.getByText('brokerage').waitFor();
  // On a server without users one sees one's own calls alone.
  const user = isReal ? 'demo' : 'riley';
  const refused = page.locator('.panel', { hasText: 'Refused by a limit' });
  const call = () => rest(url, 'POST', '/v1/tools/debug_fail:call', { body: { code: 'RATE_LIMITED' }, user });
  await call();
  await call();
  const row = refused.locator('li', { hasText: user }).filter({ hasText: 'debug_fail' });
  const link = row.getByRole('link', { name: /^([2-9]|\d\d) calls$/ });
  await link.waitFor();
  if (state) {
    await page.getByText('1 user and 1 source over a limit now').waitFor();
    // What cannot be asked is first, then the fullest.
    assert.match(await sources.locator('li').first().textContent(), /websearch.*renews in \d+ s.*3 of 30 used/s);
    await sources.getByText('480 of 600 used by all').waitFor();
    await page.getByRole('link', { name: 'search_web', exact: true }).first().waitFor();
  }
  const count = Number.parseInt(await link.textContent(), 10);
  await link.focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction((calls) => document.querySelectorAll('tw-calls a.call').length === calls, count);
  await page.context().close();
});

it('shows an observer the quotas of all users, the fullest first', { skip: isReal }, async () => {
  const page = await console_.open('#/limits', { width: 360, height: 740 });
  const quotas = page.locator('.panel', { hasText: 'Quotas' });
  await quotas.getByText('43 of 100 used').waitFor();
  const rows = await quotas.locator('li').allTextContents();
  assert.equal(rows.length, 3);
  assert.match(rows[0], /riley\s+3 calls in 1h\s+free again in (9|8) min.*3 of 3 used/s);
  assert.match(rows[1], /riley\s+2 calls at once\s+free again when a call ends.*2 of 2 used/s);
  assert.match(rows[2], /^demo\s+100 calls in 1m\s+43 of 100 used/);
  assert.deepEqual(await quotas.locator('meter').evaluateAll((all) => all.map(({ value, max }) => value / max)),
    [1, 1, 0.43]);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await quotas.getByRole('link', { name: 'riley' }).first().click();
  await page.waitForURL(/#\/calls.*user=riley/);
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

it('shows who may not observe their own quotas at once', async () => {
  const own = await launch({ users: { demo: { user_id: 'demo' } } });
  const page = await own.open('#/limits', isReal ? {} : { token: 'demo' });
  const quotas = page.locator('.panel', { hasText: 'Quotas' });
  await quotas.getByText(isReal ? 'No quota bounds your calls.' : '43 of 100 used').waitFor();
  await page.getByText(/^0 of your quotas and \d sources? over a limit now$/).waitFor();
  if (!isReal) {
    assert.equal(await quotas.locator('li').count(), 1);
    await page.locator('.panel', { hasText: 'Sources' }).getByText('6 of 60 used', { exact: true }).waitFor();
  }
  assert.deepEqual(own.mistakes, []);
  await own.close();
});

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
