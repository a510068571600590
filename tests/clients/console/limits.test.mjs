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

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
