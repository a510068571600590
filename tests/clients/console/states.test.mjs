// Approvals and calls in states that a server is seldom in. Against the stand-in, whose state the tests change.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { closed, launch, waiting } from './browser.mjs';
import { basic } from './stand_in_data.mjs';

let console_, state, url;
before(async () => {
  console_ = await launch({});
  ({ url, state } = console_.server);
});
after(() => console_?.close());

it('counts what was approved and not used apart, and says by whom it was approved', async () => {
  const { id } = await waiting(url, { value: 'too late', user: 'maria' });
  const one = state.confirmations.get(id);
  await closed(await console_.open(`#/approvals/${id}`), async (page) => {
    await page.locator('.entry', { hasText: 'maria asked' }).waitFor();
    state.change(one, { state: 'APPROVED', decided_by: 'riley', decided_at: state.iso() });
    await page.locator('.verdict', { hasText: 'the caller must repeat it' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Make the call' }).count(), 0);
    state.change(one, { state: 'EXPIRED', expires_at: state.iso(), reason: 'It was not made again in time' });
    await page.locator('.verdict', { hasText: /approved by riley, \d\d:\d\d, not used: expired/ }).waitFor();
    await page.getByText('1 call was approved, and not made in time.').waitFor();
    assert.equal(await page.getByText('expired without a decision').count(), 0);
    await page.locator('.entry[aria-current]', { hasText: /approved, not used.*maria asked, riley decided/s }).waitFor();
  });
});

it('lets the buttons rest where an approval would not hold', async () => {
  const { id } = await waiting(url, { value: 'of before' });
  state.confirmations.get(id).definition_digest = 'another';
  await closed(await console_.open(`#/approvals/${id}`), async (page) => {
    await page.getByText('The tool has changed since this call was made.').waitFor();
    await page.getByText('You cannot decide: an approval would not hold').waitFor();
    for (const name of ['Approve', 'Deny']) assert.ok(await page.getByRole('button', { name }).isDisabled(), name);
  });
});

it('shows what changed in the tool since the call was made, and texts of others as texts', async () => {
  const { id } = await waiting(url, { value: 'of before' });
  const one = state.confirmations.get(id);
  const tool = basic(state.tools.get('debug_confirm'));
  await closed(await console_.open(`#/approvals/${id}`), async (page) => {
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    assert.equal(await page.getByText('The tool has changed').count(), 0);
    const image = '<img src=x onerror="globalThis.hit = true">';
    Object.assign(one, { definition_changes_left_out: 2, definition_changes: [
      { pointer: '/description', before: 'Pays. → Pays.', after: `Pays twice. \u202e${image}`, excerpt: true },
      { pointer: `/input_schema/properties/${image}`, after: { type: 'string' }, excerpt: false },
      { pointer: '/input_schema/properties/to/maxLength', before: 9, after: 12, excerpt: false }] });
    state.tell('tools.changed', { type: 'CHANGED', tool: { ...tool, digest: 'another' } });
    const notice = page.locator('.notice.bad', { hasText: 'The tool has changed since this call was made.' });
    await notice.getByText('2 more changes not shown').waitFor();
    assert.deepEqual(await notice.locator('li').allInnerTexts(), [
      `/description, in part: Pays. → Pays. → Pays twice. U+202E${image}`,
      `/input_schema/properties/${image}: nothing → {"type":"string"}`,
      '/input_schema/properties/to/maxLength: 9 → 12']);
    assert.equal(await notice.locator('del').first().innerText(), 'Pays. → Pays.', 'no text passes for another');
    assert.equal(await notice.locator('img').count(), 0);
    assert.equal(await page.evaluate(() => globalThis.hit), undefined);
    assert.ok(await page.getByRole('button', { name: 'Approve' }).isDisabled());

    Object.assign(one, { definition_changes_left_out: 0, definition_changes: [{ pointer: '', before: { name: 'pay' } }] });
    state.tell('tools.removed', { type: 'REMOVED', tool });
    await notice.getByText('the whole tool: {"name":"pay"} → nothing').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Approve' }).isDisabled());
    assert.deepEqual(console_.mistakes, []);
  });
});

it('offers a call again only with its arguments, and shows why it failed', async () => {
  const at = state.now() - 5_000;
  const fields = { tool: 'get_quotes', at, took: 3_000, deadline: state.iso(at + 3_000) };
  const error = { code: 'OUTCOME_UNKNOWN', message: 'the host left', field_violations: [{ pointer: '/symbol',
    description: 'is odd' }] };
  const [bare, foreign, unknown] = [fields, { ...fields, user_id: 'maria', args: { symbol: 'A' } }, { ...fields, state:
    'OUTCOME_UNKNOWN', code: 'OUTCOME_UNKNOWN', args: { symbol: 'A' }, result: { error } }].map((one) =>
    state.record({ state: 'SUCCEEDED', ...one }).call.call_id);
  await closed(await console_.open(`#/calls/${bare}`, { width: 360 }), async (page) => {
    await page.getByRole('link', { name: 'Open the tool' }).waitFor();
    await page.getByText('The server keeps no arguments and no result of this call: recording is off.').waitFor();
    assert.equal(await page.getByRole('link', { name: /^Again/ }).count(), 0);
    await page.getByText('It took 3 s. It was allowed 3 s: the red line.').waitFor();
    assert.match(await page.evaluate(() => getComputedStyle(document.querySelector('.waterfall li'), '::after').content),
      /The request was read/, 'a phone shows what a stage is');
    await page.goto(`${console_.path.url}/#/calls/${foreign}`);
    await page.getByRole('link', { name: 'Again, as demo' }).waitFor();
    await page.goto(`${console_.path.url}/#/calls/${unknown}`);
    await page.locator('.notice .violations', { hasText: 'is odd' }).waitFor();
    assert.equal(await page.getByText('is gone').count(), 0);
    assert.equal(await page.locator('tw-call .badge', { hasText: 'outcome unknown' }).count(), 1);
    await page.goto(`${console_.path.url}/#/calls?state=CANCELLED&tool=get_quotes`);
    await page.getByText(/\d+ calls without the filter\s+state: cancelled/).waitFor();
  });
});
