// The files of console/, as the program serves them.
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PAGE = process.env.PAGE ?? join(dirname(fileURLToPath(import.meta.url)), '../../../console');
export const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg':
  'image/svg+xml' };

/**
 * Lines that hold only a comment, which the program does not serve. src/server/comments.rs is the same rule for the
 * build, which has no JavaScript; served.test.mjs compares the two byte for byte.
 */
export const COMMENT = /^[\t ]*(?:\/\/.*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)[\t ]*(?:\n|$)/gm;

/** Whether the program serves it without comments. */
export const isOurs = (name) => !name.startsWith('vendor/') && ['.js', '.css'].includes(extname(name));

/** What is served, by its path in console/. */
export const names = async () => (await readdir(PAGE, { recursive: true })).filter((name) => extname(name) in TYPES).sort();

/** The bytes that the program serves of a file. */
export async function served(name) {
  const bytes = await readFile(join(PAGE, name));
  return isOurs(name) ? Buffer.from(bytes.toString().replace(COMMENT, '')) : bytes;
}
