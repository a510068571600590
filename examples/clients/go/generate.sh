#!/bin/sh
# Generates the stubs into gen/ and compiles them and the programs, these into bin/.
set -eu
cd "$(dirname "$0")"
buf generate
go build ./gen/...
go build -o bin/ ./call ./stream ./errors ./retry
