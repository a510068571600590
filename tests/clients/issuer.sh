#!/usr/bin/env bash
# Runs tests/clients/issuer: users of a server sign in at an identity provider that is not ours.
# Usage: NODE=PROGRAM ISSUER_ENV=DIR MCP_ENV=DIR FASTMCP=PROGRAM issuer.sh BINARY FOLDER FLAGS…, where FLAGS are of
# pytest, it creates FOLDER, the directories have the node_modules of tests/clients/issuer and tests/clients/mcp, and
# FASTMCP is a Python with tests/clients/mcp/requirements.txt.
# Needs `python` with tests/clients/python/requirements.txt on PATH, and the stubs on PYTHONPATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

binary=$1 folder=$2
mkdir -p "$folder"/{provider,client}
cp issuer/provider.mjs "$folder/provider"
cp issuer/sign_in.mjs "$folder/client"
ln -s "$ISSUER_ENV/node_modules" "$folder/provider/node_modules"
ln -s "$MCP_ENV/node_modules" "$folder/client/node_modules"
# Most tests wait.
python -m pytest -p no:cacheprovider -q -n 4 --dist loadfile issuer --binary "$binary" --node "$NODE" \
  --provider "$folder/provider/provider.mjs" --typescript "$folder/client/sign_in.mjs" \
  --fastmcp "$FASTMCP" "${@:3}"
