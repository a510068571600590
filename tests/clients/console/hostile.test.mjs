// What others may do to a page: values that look like the page's own, and another user in the same tab. Against the
// stand-in.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { launch, waiting } from './browser.mjs';

const users = { demo: { user_id: 'demo' }, lead: { user_id: 'lead', observes: true, approves: true } };
let console_;

before(async () => { console_ = await launch({ users }); });
after(() => console_?.close());

async function signIn(page, token) {
  await page.getByLabel(/token/i).fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

it('shows the arguments of a call whatever their names', async () => {
  const { state, url } = console_.server;
  const markers = ['_$litDirective$', '_$litType$', '__proto__', 'constructor', 'then', 'nodeType'];
  const good = await waiting(url, { value: 'to a known account', token: 'demo' });
  const page = await console_.open(`#/approvals/${good.id}`, { token: 'lead' });
  const card = page.locator('tw-approval-card');
  await card.getByText('to a known account').first().waitFor();
  for (const marker of markers) {
    const { id } = await waiting(url, { value: marker, token: 'demo' });
    const one = state.confirmations.get(id);
    state.change(one, { arguments: JSON.parse(`{"value": "to ${marker}", "${marker}": ""}`) });
    await page.evaluate((hash) => { location.hash = hash; }, `#/approvals/${id}`);
    const shown = card.locator('tw-arguments', { hasText: `to ${marker}` });
    await shown.getByText(marker, { exact: true }).first().waitFor();
    assert.ok(!(await shown.innerText()).includes('to a known account'), marker);
  }
  assert.deepEqual(console_.mistakes, []);
  await page.close();
});

it('sends nothing of one user under the sign-in of another', async () => {
  const { server } = console_;
  const page = await console_.open('#/tools/get_quotes', { token: 'demo' });
  await page.getByLabel('symbol').fill('NVDA');
  server.refuse(true);
  await page.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByText('nothing that you typed is lost').waitFor();
  server.refuse(false);
  const before = server.state.calls.size;
  await signIn(page, 'lead');
  await page.locator('.connection.live').waitFor();
  await page.locator('tw-app').evaluate(() => new Promise((resolve) => { setTimeout(resolve, 0); }));
  assert.equal(server.state.calls.size, before);
  assert.equal(await page.getByLabel('symbol').inputValue(), '', 'what another user typed');
  await page.close();
});

it('forgets all of a user who signs out', async () => {
  const page = await console_.open('#/calls', { token: 'lead' });
  await page.locator('tw-calls a').first().waitFor();
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Sign in to go on.').waitFor();
  assert.equal(await page.locator('tw-calls a').count(), 0);
  await page.close();
});
