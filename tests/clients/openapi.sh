#!/usr/bin/env bash
# Validates the document that a server describes its HTTP face with, and has Schemathesis try every operation in it.
# Usage: openapi.sh http://HOST:PORT, of a server started with --http --diagnostics. Needs openapi-spec-validator and
# schemathesis (PyPI).
set -euo pipefail

url=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
curl --fail --silent --show-error "$url/openapi.json" >"$work/openapi.json"
openapi-spec-validator --errors=all "$work/openapi.json"

# Not tried: what is read more generously than its schema says on purpose ("5" as 5, null as absent), tools that fail by
# design, and streams that have no end.
cd "$work"
schemathesis run "$url/openapi.json" \
  --exclude-checks negative_data_rejection \
  --exclude-operation-id-regex '(debug_fail|debug_panic|^Watch)' \
  --request-timeout 10 --max-examples "${EXAMPLES:-10}" --generation-deterministic --phases examples,coverage,fuzzing
