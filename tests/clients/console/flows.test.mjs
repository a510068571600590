// The console as people use it: approve, watch, try. Against Toolwire with URL, else against the stand-in.
// Usage: node --test flows.test.mjs; URL names a server without users that was started with --diagnostics.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { after, before, it } from 'node:test';

import { closed, isReal, launch, rest, waiting } from './browser.mjs';

let console_, url;
before(async () => {
  console_ = await launch({});
  ({ url } = console_.server);
});
after(() => console_?.close());

const [ONE, OTHER] = ['DE89370400440532013000', 'DE89370400440532031000'];

it('tells two alike calls apart: in the list of a phone, and on the card', async () => {
  const [first, second] = [await waiting(url, { value: ONE }), await waiting(url, { value: OTHER })];
  await closed(await console_.open('#/approvals', { width: 360, height: 740 }), async (page) => {
    const entry = (id) => page.locator(`.entry[href$="${id}"]`);
    await entry(first.id).getByText('Another call of it waits').waitFor();
    // All of the value is there, in fours.
    await entry(first.id).getByText('value DE89').waitFor();
    assert.match(await entry(first.id).textContent(), new RegExp(ONE));
    assert.deepEqual(await entry(first.id).locator('.differs').allTextContents(), ['0130']);
    assert.deepEqual(await entry(second.id).locator('.differs').allTextContents(), ['0310']);
    await entry(second.id).click();
    const notice = page.locator('tw-approval-card .notice', { hasText: /Another call of debug_confirm by .+ waits/ });
    assert.match((await notice.textContent()).replaceAll(/\s+/g, ' '), new RegExp(`value: ${ONE} \\(here ${OTHER}`));
    assert.deepEqual(await page.locator('tw-arguments .differs').allTextContents(), ['0310']);
    await page.locator('tw-approval-card h1', { hasText: /^Write with approval$/ }).waitFor();
    assert.ok(!(await page.locator('tw-approval-card header').textContent()).includes(OTHER), 'the headline has no JSON');
  });
  for (const { id } of [first, second]) {
    await rest(url, 'POST', `/v1/confirmations/${id}:decide`, { body: { deny: { reason: 'no' } } });
  }
});

it('says of a call what was decided on it, and lets its caller make it', async () => {
  const { id } = await waiting(url, { value: 'decided elsewhere' });
  const { call_id: call } = (await rest(url, 'GET', `/v1/confirmations/${id}`)).body.confirmation;
  await closed(await console_.open(`#/calls/${call}`), async (page) => {
    const card = page.locator('tw-call');
    await card.getByText(/A person must approve\s+it,\s+until \d\d:\d\d/).waitFor();
    await card.locator('.waterfall', { hasText: 'approval' }).waitFor();
    await card.getByText(/A person can decide\s+until .+\s+each try of the caller may take/s).waitFor();
    await page.locator('.row.chosen', { hasText: 'waits for approval' }).waitFor();
    await rest(url, 'POST', `/v1/confirmations/${id}:decide`, { body: { approve: { tool: 'debug_confirm' } } });
    await card.getByText(/approved by you, \d\d:\d\d/).waitFor();
    await card.getByText(/Not carried out yet: you must repeat\s+it,\s+until/).waitFor();
    assert.equal(await card.getByText(/A person must approve\s+it/).count(), 0);
    await page.locator('.row.chosen', { hasText: 'approved, not made' }).waitFor();
    await page.goto(`${console_.path.url}/#/approvals/${id}`);
    const address = await page.locator('.verdict').getByRole('link', { name: 'Make the call' }).getAttribute('href');
    assert.match(address, new RegExp(`^#/tools/debug_confirm\\?confirmation=${id}&request=.+`));
  });
});

it('keeps a reason that was typed, and warns of a proposal that was approved before', async () => {
  const before_ = await waiting(url, { value: 'twice' });
  await rest(url, 'POST', `/v1/confirmations/${before_.id}:decide`, { body: { approve: { tool: 'debug_confirm' } } });
  const { id } = await waiting(url, { value: 'once' });
  await closed(await console_.open(`#/approvals/${id}`), async (page) => {
    const deny = page.getByRole('button', { name: 'Deny' });
    await deny.click();
    await page.getByLabel(/Why not/).fill('Not so.');
    await page.getByRole('button', { name: 'Back' }).click();
    await deny.click();
    assert.equal(await page.getByLabel(/Why not/).inputValue(), 'Not so.');
    await page.getByRole('button', { name: 'Propose other arguments' }).click();
    const proposal = page.getByLabel(/They are text for the\s+caller: nothing is carried out/);
    const twice = page.getByText(/An equal call by .+ was approved already/);
    assert.equal(await twice.count(), 0);
    await proposal.fill((await proposal.inputValue()).replace('once', 'twice'));
    await twice.waitFor();
  });
});

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

it('finds a tool by the keyboard alone, and goes to its heading', { skip: isReal }, async () => {
  await closed(await console_.open('#/tools'), async (page) => {
    const search = page.getByLabel('Search tools');
    const count = page.locator('.list [role=status]');
    await search.fill('market price');
    await count.filter({ hasText: /^1 tool of/ }).waitFor();
    await search.press('Escape');
    await count.filter({ hasText: /^\d+ tools$/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('market price');
    await count.filter({ hasText: /^1 tool of/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.matches('tw-tool h1'));
  });
});

it('refuses a name twice, follows with the focus, and keeps a draft of each tool', { skip: isReal }, async () => {
  await closed(await console_.open('#/tools/plan_trip'), async (page) => {
    const form = page.locator('tw-try');
    const add = form.getByRole('button', { name: 'Add to limits' });
    for (const name of ['hotel', 'hotel']) {
      await add.click();
      await page.waitForFunction(() => document.activeElement.matches('.key input:placeholder-shown'));
      await page.keyboard.type(name);
      await page.keyboard.press('Tab');
    }
    await form.getByText('Each needs a name of its own.').waitFor();
    await form.getByRole('button', { name: 'What would happen?' }).click();
    await page.waitForFunction(() => document.activeElement.matches('.key input'));
    await form.getByLabel('Name').last().fill('food');
    await form.getByRole('button', { name: 'Add to stops' }).click();
    await page.waitForFunction(() => /^city/.test(document.activeElement.closest('label')?.textContent.trim()));
    await form.getByRole('button', { name: 'Remove stops 1' }).click();
    await page.waitForFunction(() => document.activeElement.textContent === 'Add to stops');
    await form.getByRole('button', { name: 'What would happen?' }).click();
    await form.locator('tw-field .complaint', { hasText: 'start' }).waitFor();
    assert.equal(await form.getByText('The inputs have changed since.').count(), 0);
    await form.getByLabel('start').fill('2026-12-20');
    await form.locator('tw-field .complaint', { hasText: 'start' }).waitFor({ state: 'detached' });
    const old = form.locator('.old', { hasText: 'The inputs have changed since.' });
    await old.getByText('arguments are wrong').waitFor();
    await page.evaluate(() => { location.hash = '#/connect'; });
    await page.getByRole('heading', { name: 'Connect' }).waitFor();
    await page.goBack();
    await form.getByLabel('Name').last().waitFor();
    assert.deepEqual([await form.getByLabel('start').inputValue(), await form.getByLabel('Name').last().inputValue()],
      ['2026-12-20', 'food']);
  });
});

it('says what of the inputs is wrong by itself, and where', async () => {
  await closed(await console_.open('#/tools/get_quotes'), async (page) => {
    const form = page.locator('tw-try');
    await form.getByRole('button', { name: 'As JSON' }).click();
    await form.getByLabel('Arguments, as JSON').fill('{"symbol":\n AAPL}');
    await form.getByRole('button', { name: 'As a form' }).click();
    await form.locator('.outcome', { hasText: /^arguments not JSON: line 2, column 2/ }).waitFor();
    await form.getByLabel('Arguments, as JSON').fill('{"symbol": "AAPL"}');
    await form.getByRole('button', { name: 'As a form' }).click();
    assert.equal(await form.getByLabel('symbol').inputValue(), 'AAPL');
    assert.equal(await form.locator('.outcome').textContent().then((text) => text.trim()), '');
    await form.getByLabel('Deadline').fill('soon');
    await form.getByRole('button', { name: 'Call', exact: true }).click();
    assert.match(await page.evaluate(() => `${document.activeElement.labels[0].textContent} ${
      document.activeElement.matches(':invalid')} ${document.activeElement.title}`), /Deadline\s+true .*such as 30s/);
    assert.equal(await form.locator('.outcome').textContent().then((text) => text.trim()), '', 'nothing was sent');
    assert.equal(await form.getByLabel('Last inputs on this machine').count(), 0, 'what failed is not kept');
  });
});

it('copies a program that makes the call', async () => {
  await closed(await console_.open('#/tools/debug_write'), async (page) => {
    const form = page.locator('tw-try');
    await form.getByLabel('value').fill('true "x" \u20ac');
    await form.getByText('Copy this call').click();
    await form.getByRole('button', { name: 'Python', exact: true }).click();
    const program = form.locator('tw-copy pre', { hasText: 'urllib.request' });
    const { stdout } = await promisify(execFile)('python3', ['-c', await program.textContent()]);
    assert.match(stdout, isReal ? /./ : /true "x" \u20ac/);
  });
});

it('repeats an approved call by a link, once', async () => {
  const { id } = await waiting(url, { value: 'by its link' });
  await rest(url, 'POST', `/v1/confirmations/${id}:decide`, { body: { approve: { tool: 'debug_confirm' } } });
  await closed(await console_.open(`#/tools/debug_confirm?confirmation=${id}`), async (page) => {
    await page.getByText('You repeat the approved call: it is carried out once.').waitFor();
    assert.equal(await page.getByLabel('value').inputValue(), 'by its link');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.locator('tw-try tw-result').waitFor();
    assert.equal((await rest(url, 'GET', `/v1/confirmations/${id}`)).body.confirmation.state, 'USED');
  });
});

it('broke no policy and threw no error', () => assert.deepEqual(console_.mistakes, []));
