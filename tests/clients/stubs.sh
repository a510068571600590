#!/usr/bin/env bash
# Generates the clients' stubs from proto/ into a directory, and compiles the Node client against its own.
# Usage: NODE_ENV_DIR=DIR stubs.sh OUT, where DIR holds the node_modules of tests/clients/node.
# Needs `python` with tests/clients/python/requirements.txt, and `buf`, on PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=$1
rm -rf "$out"
mkdir -p "$out/python" "$out/node"

mapfile -t protos < <(find proto -name '*.proto' | sort)
python -m grpc_tools.protoc -Iproto --python_out="$out/python" --grpc_python_out="$out/python" "${protos[@]}"

cp tests/clients/node/{package.json,tsconfig.json,client.test.ts} "$out/node"
ln -s "$NODE_ENV_DIR/node_modules" "$out/node/node_modules"
PATH=$NODE_ENV_DIR/node_modules/.bin:$PATH buf generate --template tests/clients/node/buf.gen.yaml -o "$out/node"
"$NODE_ENV_DIR/node_modules/.bin/tsc" --project "$out/node"
echo "stubs of ${#protos[@]} files in $out"
