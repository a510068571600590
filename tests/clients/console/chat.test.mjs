// Chat: a conversation, its calls, an approval within it, and how it is stopped. Against Toolwire with URL, else the
// stand-in.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { isReal, launch, rest } from './browser.mjs';

let console_, url;
before(async () => {
  console_ = await launch({});
  ({ url } = console_.server);
});
after(() => console_?.close());

const it_ = (name, work) => it(name, { skip: isReal && 'the agent is the stand-in’s' }, work);

/** Opens the screen, and says something to its agent. */
async function say(message, options) {
  const page = await console_.open('#/chat', options);
  await page.getByText('Ask in your own words.').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type(message);
  await page.keyboard.press('Enter');
  return page;
}

it('answers, with a link to each call, and keeps the conversation in the address', async () => {
  const page = await say('What is Apple trading at?');
  await page.getByText('193.12').waitFor();
  const turn = page.locator('.turn');
  await turn.getByRole('link', { name: 'get_quotes' }).waitFor();
  assert.equal(await turn.getByText('[tool:').count(), 0, 'sources stand below the answer');
  await turn.getByText('Sources:').getByRole('link', { name: 'tool:quotes:v1' }).click();
  await page.locator('tw-call', { hasText: 'get_quotes' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await page.waitForURL(/#\/chat\/./);
  await turn.getByText('193.12').waitFor();
  await page.reload();
  await page.getByText('The server remembers this conversation').waitFor();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('Ask in your own words.').waitFor();
  await page.context().close();
});

it_('shows an answer’s lists and tables, and hostile text as text', async () => {
  const page = await say('What is Apple trading at?', { width: 360, height: 740 });
  await page.locator('.turn th', { hasText: 'symbol' }).waitFor();
  await page.locator('.turn li code', { hasText: 'code' }).waitFor();
  await page.locator('.turn b', { hasText: '15 January' }).waitFor();
  await page.locator('.turn', { hasText: '<img src=x' }).filter({ hasText: 'U+202E' }).waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  assert.notEqual(await page.title(), 'run');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await page.context().close();
});

it_('waits for an approval, leads to it, and goes on once it is decided', async () => {
  const page = await say('Write what I must approve');
  await page.getByText('A person must approve debug_confirm.').waitFor();
  await page.getByRole('link', { name: 'Open the approval' }).click();
  await page.locator('tw-approval-card', { hasText: 'from the chat' }).waitFor();
  const { body } = await rest(url, 'GET', '/v1/confirmations?states=PENDING');
  await rest(url, 'POST', `/v1/confirmations/${body.confirmations[0].confirmation_id}:decide`,
    { body: { approve: { tool: 'debug_confirm' } } });
  await page.locator('.verdict', { hasText: 'approved and used' }).waitFor();
  await page.goBack();
  await page.getByText('It is done.').waitFor();
  assert.equal(await page.locator('.turn').getByRole('link', { name: 'debug_confirm' }).count(), 1);
  await page.context().close();
});

it('asks before it changes something, and takes a yes', async () => {
  const page = await say('Put Reliance on my watchlist.');
  await page.getByRole('button', { name: 'Yes' }).waitFor();
  assert.equal(await page.locator('.turn .badge').count(), 0, 'a question needs no word for its kind');
  await page.getByRole('button', { name: 'Yes' }).click();
  await page.locator('.turn', { hasText: 'yes' }).getByText('RELIANCE').first().waitFor();
  await page.context().close();
});

it_('stops a turn, and says another one', async () => {
  const page = await say('wait');
  await page.getByText('One moment').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You stopped it.').waitFor();
  await page.getByLabel('Your message').fill('What is Apple trading at?');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('193.12').waitFor();
  await page.context().close();
});

it_('makes a turn again that was cut off, under the same name, and says why one failed', async () => {
  const page = await say('cut');
  await page.locator('.turn [role=alert]').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('193.12').waitFor();
  await page.getByLabel('Your message').fill('fail');
  await page.getByLabel('Your message').press('Enter');
  await page.getByText('The model cannot be reached.').waitFor();
  await page.context().close();
});

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
