// How large the page is, in kilobytes of 1,000 bytes, as it is served: all of it, and what a browser loads before it
// shows each first screen. And that what is not served means nothing.
// Usage: node sizes.mjs, with PAGE naming console/ and the packages of package-lock.json beside this file.
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { parse } from 'espree';

import { condensed, isOurs, names, PAGE, served } from './files.mjs';

const MOST = { raw: 200, brotli: 70 };
const MOST_FIRST = { raw: 90, brotli: 30 };
/** What index.html names, and the screens that may come first. */
const BEGIN = ['index.html', 'style.css', 'icon.svg', 'main.js'];
const FIRST = ['approvals', 'tools'];

let failed = false;
const fail = (text) => {
  console.error(text);
  failed = true;
};

/** The files that a script loads with it. */
const imports = (text) => parse(text, { ecmaVersion: 'latest', sourceType: 'module' }).body
  .flatMap(({ type, source }) => (source && /^(Import|Export)/.test(type) ? [source.value] : []));

/** A file and all that it loads with it. */
async function closure(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  if (!name.endsWith('.js') || !isOurs(name)) return found;
  for (const one of imports(String(await served(name)))) await closure(posix.join(posix.dirname(name), one), found);
  return found;
}

/** What a script means: its syntax tree without positions, in which white space of templates of HTML counts once. */
function meaning(node, isHtml = false) {
  if (Array.isArray(node)) return node.map((one) => meaning(one, isHtml));
  if (typeof node !== 'object' || node === null || node instanceof RegExp) return String(node);
  if (node.type === 'TemplateElement') return isHtml ? node.value.raw.replace(/\s+/g, ' ') : node.value.raw;
  const ofHtml = node.type === 'TaggedTemplateExpression' ? ['html', 'svg'].includes(node.tag.name) : isHtml &&
    node.type === 'TemplateLiteral';
  return Object.entries(node).filter(([name]) => !['start', 'end', 'range', 'loc', 'comments', 'tokens'].includes(name))
    .map(([name, value]) => [name, meaning(value, ofHtml && ['quasi', 'quasis'].includes(name))]);
}
const meaningOf = (text) => JSON.stringify(meaning(parse(text, { ecmaVersion: 'latest', sourceType: 'module' })));

async function measure(what, files, most) {
  const all = await Promise.all([...files].map(served));
  const kb = (of) => all.reduce((sum, bytes) => sum + of(bytes).length, 0) / 1000;
  const [raw, brotli, gzip] = [(bytes) => bytes, brotliCompressSync, (bytes) => gzipSync(bytes, { level: 9 })].map(kb);
  console.log(`${what}: ${all.length} files, ${raw} KB, ${brotli} by brotli (at most ${most.raw} and ${most.brotli}), `
    +
    `${gzip} by gzip`);
  if (raw > most.raw || brotli > most.brotli) fail(`${what} is too large`);
}

const all = await names();
for (const name of all.filter((one) => isOurs(one) && one.endsWith('.js'))) {
  const text = String(await readFile(join(PAGE, name)));
  if (meaningOf(text) !== meaningOf(condensed(text)))
    fail(`${name}: what is served means something else: a line of a text ends with one of ;,({, or begins with //`);
}
await measure('the page', all, MOST);
for (const screen of FIRST) {
  const files = new Set();
  for (const name of [...BEGIN, `screens/${screen}.js`]) await closure(name, files);
  await measure(`what ${screen} loads first`, files, MOST_FIRST);
}
process.exit(Number(failed));
