// Every screen, in both themes and three widths: nothing is wider than the page, and axe-core finds nothing serious.
// With SCREENSHOTS naming a folder, pictures of them.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, it } from 'node:test';

import { launch, waiting } from './browser.mjs';
import { ROOT } from './stand_in_tasks.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const CARDS = { approvals: 'tw-approval-card', calls: 'tw-call', tools: 'tw-tool', tasks: 'tw-task' };
let console_, screens;

before(async () => {
  console_ = await launch({});
  const { url } = console_.server;
  const { id } = await waiting(url, { value: 'a value' });
  const { calls } = await (await fetch(`${url}/v1/calls?user_id=*`)).json();
  screens = { approvals: '#/approvals', approval: `#/approvals/${id}`, calls: '#/calls', call:
    `#/calls/${calls.at(-1).call_id}`, tools: '#/tools',
    tool: '#/tools/get_quotes', providers: '#/providers', overview: '#/overview', connect: '#/connect', audit:
      '#/audit', tasks: '#/tasks', task: `#/tasks/${ROOT}`, task_full: `#/tasks/${ROOT}?view=full`,
    task_model: `#/tasks/${ROOT}?view=model`, documents: `#/tasks/${ROOT}?view=documents&path=reports%2Fsales+july.csv`,
    limits: '#/limits', chat: '#/chat' };
});
after(() => console_?.close());

/** What of the page a finger misses, and placeholders whose contrast is below 4.5, which axe does not measure. */
function touched() {
  const wrong = [];
  // A link in a sentence is as high as its line, and a radio button is touched by its label.
  const isWithin = (one) => one.matches('a') && getComputedStyle(one).display === 'inline' &&
    [...one.parentElement.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  for (const one of document.querySelectorAll(
    'a, button, input:not([type=radio]), select, summary, textarea, .theme label')) {
    const { width, height, top } = one.getBoundingClientRect();
    if (one.checkVisibility() && width && top >= 0 && height < 40 && !isWithin(one))
      wrong.push(`${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 20)} is ${height} px high`);
  }
  const light = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  for (const one of document.querySelectorAll('[placeholder]')) {
    const [text, ground] = [getComputedStyle(one, '::placeholder').color, getComputedStyle(one).backgroundColor];
    const [low, high] = [light(text), light(ground)].sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) < 4.5) wrong.push(`placeholder ${one.placeholder}: ${text} on ${ground}`);
  }
  return wrong;
}

for (const theme of ['light', 'dark']) {
  for (const width of [360, 800, 1440]) {
    it(`is accessible in the ${theme} theme at ${width} px`, async () => {
      const page = await console_.open('', { width, height: width === 360 ? 740 : 900, theme });
      const wrong = [];
      for (const [name, hash] of Object.entries(screens)) {
        await page.goto(`${console_.path.url}/${hash}`);
        // What is opened beside a list, or the screen: not what was shown before.
        const [, screen, id] = hash.split(/[/?]/);
        await page.locator(id && CARDS[screen] ? `${CARDS[screen]} article` : `tw-${screen} h1`).first().waitFor();
        // Approvals opens the first by itself.
        if (!id && screen !== 'approvals') await page.locator('main article').first().waitFor({ state: 'hidden' });
        await page.locator('main .empty:visible', { hasText: 'Loading…' }).first().waitFor({ state: 'hidden' });
        if (name === 'chat') {
          await page.getByLabel('Your message').fill('What is Apple trading at?');
          await page.getByLabel('Your message').press('Enter');
          await page.getByText('193.12').waitFor();
        }
        if (process.env.SCREENSHOTS) await page.screenshot({ path:
          join(process.env.SCREENSHOTS, `${name}-${theme}-${width}.png`) });
        // By the protocol of the debugger: the page's policy lets no script in. The middle width has nothing new.
        if (width !== 800) await page.evaluate(`if (!window.axe) { ${axe} }`);
        const { violations } = width === 800 ? { violations: [] } : await page.evaluate(() => window.axe.run(document,
          { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'] }));
        wrong.push(...violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
          .map(({ id, nodes }) => `${name}: ${id}: ${nodes.map((node) => node.target.join(' ')).slice(0,
            3).join(' | ')}`));
        if (width === 360) wrong.push(...(await page.evaluate(touched)).map((one) => `${name}: ${one}`));
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
          wrong.push(`${name}: wider than the page`);
      }
      await page.context().close();
      assert.deepEqual(wrong, []);
    });
  }
}
