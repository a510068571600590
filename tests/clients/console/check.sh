#!/usr/bin/env bash
# Checks the sources of console/: types by tsc, rules by eslint, vendored files, and how large the page is.
# Usage: tests/clients/console/check.sh NODE_MODULES, with the packages of package-lock.json.
set -euo pipefail
cd "$(dirname "$0")/../../.."

modules=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$modules" "$work/node_modules"
cp -r console "$work"
cp tests/clients/console/{tsconfig.json,eslint.config.mjs} "$work"
# The types of the vendored files, in their place.
rm "$work"/console/vendor/*.js
cp tests/clients/console/types/lit.d.ts "$work/console/vendor"
mkdir "$work/console/types"
cp tests/clients/console/types/globals.d.ts "$work/console/types"

failed=0
(cd "$work" && node_modules/.bin/tsc -p .) || failed=1
(cd "$work" && node_modules/.bin/eslint console) || failed=1
scripts/vendor --check "$modules" || failed=1

# Kilobytes of 1,000 bytes: of the page, and by brotli, as browsers get it.
most_raw=200 most_sent=70
node - "$most_raw" "$most_sent" <<'SIZES' || failed=1
const { readdirSync, readFileSync, statSync } = require('node:fs');
const { brotliCompressSync, gzipSync } = require('node:zlib');
const files = readdirSync('console', { recursive: true }).map((name) => `console/${name}`)
  .filter((name) => statSync(name).isFile() && !/SHA256|LICENSE/.test(name)).map((name) => readFileSync(name));
const kb = (of) => files.reduce((sum, file) => sum + of(file).length, 0) / 1000;
const [raw, sent, gzip] = [(file) => file, brotliCompressSync, (file) => gzipSync(file, { level: 9 })].map(kb);
const [most_raw, most_sent] = process.argv.slice(2).map(Number);
console.log(`the page has ${raw} KB, ${sent} by brotli (at most ${most_raw} and ${most_sent}), ${gzip} by gzip`);
process.exit(raw <= most_raw && sent <= most_sent ? 0 : 1);
SIZES
exit "$failed"
