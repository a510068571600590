#!/usr/bin/env bash
# Runs tests/clients/console, the page of console/ in headless Chromiums: all tests against a stand-in of the server,
# and beside them the flows against the program, whose own `/` serves the page.
# Usage: NODE=PROGRAM CONSOLE_ENV=DIR [CHROMIUM=PROGRAM] console.sh BINARY FOLDER, where it creates FOLDER, and
# CONSOLE_ENV has the node_modules of tests/clients/console.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

binary=$1 folder=$2
mkdir -p "$folder"
cp console/*.mjs "$folder"
ln -s "$CONSOLE_ENV/node_modules" "$folder/node_modules"
PAGE=$(realpath ../../console)
CHROMIUM=${CHROMIUM:-$(command -v chromium)}
export PAGE CHROMIUM
tests() { "$NODE" --test --test-reporter=spec "$@"; }
named() { printf "$folder/%s.test.mjs\n" "$@"; }

: >"$folder/server.out"
"$binary" serve --diagnostics --listen 127.0.0.1:0 --http=127.0.0.1:0 --state "$folder/state" \
  >"$folder/server.out" 2>"$folder/server.log" &
server=$!
real=''
trap 'kill "$server" $real 2>/dev/null || true' EXIT
url=''
for _ in {1..150}; do
  url=$(sed -n 's/^toolwire http on //p' "$folder/server.out")
  [ -n "$url" ] || { kill -0 "$server" 2>/dev/null && sleep 0.2 && continue; }
  break
done
[ -n "$url" ] || { cat "$folder/server.out" "$folder/server.log" >&2; exit 1; }

# The two wait for different servers. What is printed does not mix.
mapfile -t files < <(named served flows tasks limits chat)
URL=http://$url tests --test-concurrency=1 "${files[@]}" >"$folder/real.log" 2>&1 &
real=$!
mapfile -t files < <(named accessible flows states tasks limits chat hostile parts pictures sign_in)
status=0
tests --test-concurrency=2 "${files[@]}" || status=$?
wait "$real" || status=$?
real=''
echo "against $binary:"
cat "$folder/real.log"
[ "$status" -eq 0 ] || tail -n 40 "$folder/server.log" >&2
exit "$status"
