#!/usr/bin/env bash
# Checks the sources of console/: types by tsc, rules by eslint, vendored files, what of them is not served, and how
# large the page is.
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

cp tests/clients/console/{files,sizes}.mjs "$work"
PAGE=$PWD/console node "$work/sizes.mjs" || failed=1
exit "$failed"
