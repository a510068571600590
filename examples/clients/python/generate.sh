#!/bin/sh
# Generates the stubs into gen/.
set -eu
cd "$(dirname "$0")"
mkdir -p gen
python -m grpc_tools.protoc -I ../../../proto --python_out=gen --grpc_python_out=gen $(find ../../../proto -name "*.proto")
