#!/usr/bin/env bash
# Runs every command of docs/HTTP.md that stands in a block of shell, in order, as a reader would.
# Usage: URL=http://HOST:PORT curl.sh, of a server started with --http --diagnostics. Needs curl and jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What a reader sees by eye fails here: an answer that is no success, and one that does not come.
printf 'fail-with-body\nsilent\nshow-error\nmax-time = 60\n' >"$work/.curlrc"
sed -n '/^```sh$/,/^```$/{/^```/d;p}' docs/HTTP.md >"$work/commands"
if ! CURL_HOME=$work bash -euxo pipefail "$work/commands" >"$work/answers" 2>"$work/log"; then
  tail -n 3 "$work/log" >&2
  tail -c 2000 "$work/answers" >&2
  exit 1
fi
printf '%d commands of docs/HTTP.md work\n' "$(grep -c 'curl ' "$work/commands")"
