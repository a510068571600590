// Tasks: the list, and a task's tree, timeline, rendering and documents. Against Toolwire with URL, else the stand-in.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';

import { isReal, launch, rest } from './browser.mjs';
import { change, CHILD, QUESTION, ROOT } from './stand_in_tasks.mjs';

let console_, url;
before(async () => {
  console_ = await launch({});
  ({ url } = console_.server);
});
after(() => console_?.close());

const it_ = (name, work) => it(name, { skip: isReal && 'the data are the stand-in’s' }, work);

it('shows what an agent does as it does it, and gives the person’s answer', async () => {
  const begin = (path, body) => rest(url, 'POST', path, { body, key: randomUUID() });
  let id = ROOT;
  if (isReal) {
    const { body } = await begin('/v1/tasks', { request: 'Write a report on Apple' });
    id = body.task.task_id;
  }
  const page = await console_.open(`#/tasks/${id}`);
  const card = page.locator('tw-task');
  await card.getByText('Write a report on').first().waitFor();
  if (isReal) {
    const call = async (step, tool, args) => {
      const { status, body } = await begin(`/v1/tasks/${id}:call`, { tool, arguments: args, step });
      assert.equal(status, 200, JSON.stringify(body));
    };
    await call(1, 'get_quotes', { symbol: 'AAPL' });
    await card.locator('.timeline', { hasText: 'get_quotes' }).waitFor();
    await call(2, 'write_file', { path: 'reports/apple.md', content: 'AAPL is at 193.12' });
    await call(3, 'ask_master', { question: 'Which quarter?' });
  }
  await card.locator('.timeline', { hasText: '→ asked a person' }).waitFor();
  const count = page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: /^Tasks/ });
  await count.locator('.count', { hasText: /^1$/ }).waitFor();
  await card.locator('form', { hasText: 'Which quarter?' }).getByLabel('Your answer').waitFor();
  await card.locator('.facts').getByRole('link', { name: 'your answer' }).click();
  await card.getByRole('heading', { name: 'Which quarter?' }).waitFor();
  await card.getByLabel('Your answer').fill('The third');
  await card.getByLabel('Your answer').press('Control+Enter');
  await card.getByText('Your answer was given.').waitFor();
  await card.locator('header .badge', { hasText: 'completed' }).waitFor();
  await count.locator('.count').waitFor({ state: 'hidden' });
  await card.locator('.tree-of-tasks').getByRole('link', { name: /Write a report on/ }).click();
  await card.locator('.timeline', { hasText: '← answer from a person' }).waitFor();
  await card.getByRole('link', { name: 'In full' }).click();
  await card.locator('.timeline tw-json', { hasText: 'The third' }).waitFor();
  await card.getByRole('link', { name: 'As the model sees it' }).click();
  await card.getByText('Nothing was left out').or(card.getByText('Left out:')).waitFor();
  await card.getByRole('link', { name: 'Documents' }).click();
  await card.getByRole('link', { name: isReal ? 'reports/apple.md' : 'reports/sales july.csv' }).click();
  await card.locator('.page-text', { hasText: isReal ? 'AAPL is at 193.12' : 'August,12' }).waitFor();
  await card.getByRole('button', { name: 'Cancel the task' }).click();
  await page.keyboard.type('Not needed any more');
  await page.keyboard.press('Control+Enter');
  await card.getByText('It is cancelled').waitFor();
  await card.locator('.facts', { hasText: 'Not needed any more' }).waitFor();
  await page.context().close();
});

it('is used by the keyboard alone: from another screen to a task and back', async () => {
  const page = await console_.open('#/connect');
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.locator('tw-tasks .row').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('tw-task article').waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(/#\/tasks$/);
  await page.context().close();
});

it_('answers a question on a phone: from the header to the task that waits, and there', async () => {
  const other = await launch({});
  const page = await other.open('#/tools', { width: 360, height: 740 });
  await page.getByRole('link', { name: '1 to answer' }).click();
  await page.locator('tw-tasks .row', { hasText: 'Write a report' }).getByRole('link').click();
  await page.getByLabel('Your answer').fill('The third');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.getByText('Your answer was given.').waitFor();
  await page.locator('tw-task header', { hasText: 'running' }).waitFor();
  // Beside another question Ctrl + Enter sends the form that has the focus.
  change(other.server.state, QUESTION, { state: 'PENDING', ended_at: undefined });
  await page.getByLabel('Your answer').waitFor();
  await page.getByRole('button', { name: 'Cancel the task' }).click();
  await page.keyboard.type('Not needed any more');
  await page.keyboard.press('Control+Enter');
  await page.getByText('It is cancelled').waitFor();
  await other.close();
});

it_('filters all tasks of all trees, and follows one that changes', async () => {
  const page = await console_.open('#/tasks');
  const rows = page.locator('tw-tasks .row');
  await page.getByText('Compare two funds.').waitFor();
  assert.equal(await rows.filter({ hasText: 'Sum up' }).count(), 0, 'without a filter the list has roots');
  await page.getByLabel('State').selectOption('failed');
  await rows.filter({ hasText: 'Compare two funds.' }).waitFor();
  await page.locator('tw-tasks [role=status]', { hasText: /^1 task$/ }).waitFor();
  await page.getByLabel('State').selectOption('');
  await page.getByLabel('Search tasks').fill('sum sales');
  await rows.filter({ hasText: 'Sum up sales.csv.' }).waitFor();
  change(console_.server.state, CHILD, { state: 'BLOCKED', block_reason: 'AUTHORIZATION' });
  await rows.filter({ hasText: 'waits for credentials' }).waitFor();
  await page.getByLabel('State').selectOption('waits for credentials');
  await page.getByLabel('Search tasks').fill('no such words');
  await page.getByText('No task matches.').waitFor();
  await page.context().close();
});

it_('loads what is kept apart, reads older versions, and shows hostile text as text', async () => {
  const page = await console_.open(`#/tasks/${ROOT}?view=full`);
  const card = page.locator('tw-task');
  await card.getByRole('button', { name: 'Load its result (20,000 bytes)' }).click();
  await card.locator('tw-json', { hasText: 'loaded' }).waitFor();
  await card.locator('.timeline', { hasText: 'U+202E' }).waitFor();
  await page.goto(`${console_.path.url}/#/tasks/${ROOT}?view=model`);
  await card.getByText('Left out: 2 results were shortened.').waitFor();
  await page.goto(`${console_.path.url}/#/tasks/${ROOT}?view=documents&path=reports%2Fsales+july.csv`);
  await card.locator('.outside', { hasText: 'August,12' }).waitFor();
  await card.getByRole('link', { name: 'version 1' }).click();
  await card.locator('.page-text', { hasNotText: 'August' }).waitFor();
  const saved = page.waitForEvent('download');
  await card.getByRole('button', { name: 'Save version 1' }).click();
  assert.equal((await saved).suggestedFilename(), 'sales july.csv');
  assert.equal(await page.locator('main img').count(), 0);
  assert.notEqual(await page.title(), 'run');
  await page.context().close();
});

it_('says what to do where there are no tasks, and of a task that there is not', async () => {
  const other = await launch({ callCount: 0 });
  const page = await other.open('#/tasks');
  await page.getByText('No tasks yet.').waitFor();
  await page.goto(`${other.path.url}/#/tasks/${QUESTION}`);
  await page.getByText(`There is no task ${QUESTION}`).waitFor();
  assert.deepEqual(other.mistakes, []);
  await other.close();
});

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
