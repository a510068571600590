#!/usr/bin/env bash
# MCP's conformance suite against examples/mcp_conformance: EXAMPLE FOLDER, with `conformance` on PATH. Both revisions;
# a scenario that fails and is not in tests/mcp/expected.yaml is an error, and so is one that is and passes.
set -euo pipefail

example=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
mkdir -p "$folder/data"
cp -r "$root/data/conformance" "$folder/data/tools"
# Looked at before the server may have opened it.
: >"$folder/out"
"$example" serve --listen 127.0.0.1:0 --http=127.0.0.1:0 --data "$folder/data" --state "$folder/state" \
  >"$folder/out" 2>"$folder/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in {1..150}; do
  address=$(sed -n 's/^toolwire http on //p' "$folder/out")
  [ -n "$address" ] && break
  kill -0 "$server" || { cat "$folder/out" "$folder/log" >&2; exit 1; }
  sleep 0.1
done

# suite REVISION PASSING OPTIONS…: runs what the revision requires; so many scenarios pass.
suite() {
  conformance server --url "http://$address/conformance" --requirements "$1" --output-dir "$folder/$1" "${@:3}" \
    >"$folder/$1.txt" 2>&1 || { cat "$folder/$1.txt"; exit 1; }
  local required passing
  required=$(sed '/^not_scored:/,$d; /^client:/,$d; /^[a-z_]*:/d; s/^ *- //; /^#/d; /^$/d' "$requirements/$1.yaml" | sort)
  passing=$(sed -n 's/^✓ \(.*\): [0-9]* passed, 0 failed$/\1/p' "$folder/$1.txt" | sort | comm -12 - <(echo "$required") | wc -l)
  echo "MCP $1: $passing of $(wc -l <<<"$required") scenarios pass"
  [ "$passing" -eq "$2" ] || { cat "$folder/$1.txt"; exit 1; }
}
requirements=$(dirname "$(readlink -f "$(command -v conformance)")")/../requirements
suite 2026-07-28 37
suite 2025-11-25 26 --expected-failures "$root/tests/mcp/expected.yaml"
kill -TERM "$server"
wait "$server"
