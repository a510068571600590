#!/usr/bin/env bash
# The command line of MCP's Inspector, over HTTP and over stdio: BINARY ADDRESS URL, of a server started with
# --diagnostics --http.
set -euo pipefail

binary=$1 address=$2 url=$3/mcp
checks=0
passed() { checks=$((checks + 1)); }
failed() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
inspect() { mcp-inspector --cli "$@"; }
warnings=$(mktemp)
trap 'rm "$warnings"' EXIT

# Exit code 6 is a schema that clients or models do not take; what is only less portable is a warning.
for target in "$url" "$binary mcp"; do
  # A command is more than one word; its own flags would be the Inspector's.
  # shellcheck disable=SC2086
  set -- $target -e "TOOLWIRE_SERVER=http://$address"
  inspect "$@" --method tools/list --strict 2>"$warnings" | jq -e '.tools | length > 50' >/dev/null ||
    { cat "$warnings" >&2; failed "$target lists too few, or what clients do not take"; }
  passed
  price=$(inspect "$@" --method tools/call --tool-name get_quotes --tool-arg symbol=AAPL |
    jq '.structuredContent.quotes[0].price')
  [ "$price" = 193.12 ] || failed "$target says $price"
  passed
  # A result with `isError` is exit code 5.
  words=$(inspect "$@" --method tools/call --tool-name get_performance --tool-arg timefram=YTD 2>/dev/null |
    jq -r '.content[0].text') || true
  [[ $words == 'FAILED INVALID_ARGUMENT: '* ]] || failed "$target says $words"
  passed
done
echo "$checks passed, 0 failed"
