// The files of console/, as the program serves them.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PAGE = process.env.PAGE ?? join(dirname(fileURLToPath(import.meta.url)), '../../../console');
export const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg':
  'image/svg+xml' };

/** What is not served: comments, those on lines of their own with the line. */
const COMMENT = /^\t*\/\*\*(?:[^*]|\*(?!\/))*\*\/\n|\/\*\*(?:[^*]|\*(?!\/))*\*\/ ?|^\t*\/\/.*(?:\n|$)/gm;

/**
 * A text as the program serves it: without comments, empty lines, tabs that begin lines, and line breaks behind `;`,
 * `,`, `(` and `{`. The same rule as in src/server/page_text.rs, for checks without the program, since the build has no
 * JavaScript. served.test.mjs compares the two.
 */
export const condensed = (text) => text.replace(COMMENT, '').replace(/^\t+/gm, '')
  .replace(/^\n/gm, '').replace(/([;{(,])\n/g, '$1');

/** The same of styles, without what means nothing beside marks. */
const condensedStyle = (text) => condensed(text).replace(/\n|  /g, '').replaceAll(' {', '{')
  .replace(/([{;:,]) /g, '$1').replaceAll(';}', '}');

/** Whether the program serves it condensed. */
export const isOurs = (name) => !name.startsWith('vendor/') && ['.js', '.css'].includes(extname(name));

/** What is served, by its path in console/. */
export const names = async () =>
  (await readdir(PAGE, { recursive: true })).filter((name) => extname(name) in TYPES).sort();

/** The bytes that the program serves of a file. */
export async function served(name) {
  const bytes = await readFile(join(PAGE, name));
  const change = extname(name) === '.css' ? condensedStyle : condensed;
  return isOurs(name) ? Buffer.from(change(String(bytes))) : bytes;
}
