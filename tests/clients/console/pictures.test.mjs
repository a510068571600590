// The pictures of docs/CONSOLE.md. With PICTURES naming a folder they are kept there: docs/images.
// Usage: PICTURES=docs/images node --test tests/clients/console/pictures.test.mjs, against the stand-in.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, it } from 'node:test';

import { launch, waiting } from './browser.mjs';

const MOST = 60 * 1024;
const SIZE = { width: 560, height: 900 };
let console_;
before(async () => {
  console_ = await launch({ callCount: 0 });
});
after(() => console_?.close());

/** A picture of the parts of a page from the first to the last one, kept if it is asked for. */
async function picture(page, name, first, last) {
  await page.evaluate(() => document.fonts.ready);
  const [top, bottom] = await Promise.all([first, last].map((one) => one.boundingBox()));
  const clip = { x: top.x - 16, y: top.y - 16, width: top.width + 32, height: bottom.y + bottom.height - top.y + 32 };
  const bytes = await page.screenshot({ clip, animations: 'disabled' });
  assert.ok(bytes.length > 8_000, `${name} has ${bytes.length} bytes`);
  if (!process.env.PICTURES) return;
  // Other fonts make other sizes: the limit is for what is kept.
  assert.ok(bytes.length <= MOST, `${name} has ${bytes.length} bytes`);
  await writeFile(join(process.env.PICTURES, `${name}.png`), bytes);
}

for (const [theme, user] of [['light', 'sales-agent'], ['dark', 'night-agent']]) {
  it(`takes a picture of an approval in the ${theme} theme`, async () => {
    const { url } = console_.server;
    const { id } = await waiting(url, { tool: 'shop_refund', user, body:
      { order: 'A-7', amount: 150, card: '4111 1111' } });
    const page = await console_.open(`#/approvals/${id}`, { ...SIZE, theme });
    const card = page.locator('tw-approval-card article');
    await card.locator('footer').waitFor();
    await picture(page, `approval-${theme}`, card.locator('header'), card.locator('footer'));
    await page.context().close();
    // The next one is not shown as alike.
    console_.server.state.confirmations.clear();
  });
}

it('takes a picture of a call that waited for a person and asked its source twice', async () => {
  const { state } = console_.server;
  const at = state.now() - 60_000;
  const after_ = (ms) => state.iso(at + ms);
  const stages = [['RECEIVED', 0], ['CHECKING', 2], ['AWAITING_CONFIRMATION', 5], ['AWAITING_PERMIT', 9_400],
    ['RECORDING', 9_520], ['EXECUTING', 9_560], ['REQUESTING', 9_610], ['REQUESTING', 10_450], ['COMMITTING', 11_020]]
    .map(([type, ms]) => ({ type, time: after_(ms) }));
  const fields = { tool: 'shop_refund', user_id: 'sales-agent', face: 'mcp', deadline: after_(15_000) };
  const { call } = state.record({ ...fields, at, took: 11_080, stages, state: 'SUCCEEDED', result:
    { tool: fields.tool, fetched_at: after_(11_020), data: { refunded: 150 }, provenance: {} } });
  state.record({ ...fields, tool: 'crm_lookup_0001', at: at + 9_700, took: 310, state: 'SUCCEEDED',
    parent_call_id: call.call_id });
  const page = await console_.open(`#/calls/${call.call_id}`, SIZE);
  const card = page.locator('tw-call article');
  const waterfall = card.locator('tw-waterfall');
  await waterfall.getByText('crm_lookup_0001').waitFor();
  await picture(page, 'call', card.locator('header'), waterfall);
  await page.context().close();
});
