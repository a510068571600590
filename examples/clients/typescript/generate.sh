#!/bin/sh
# Generates the stubs into gen/ and compiles the programs into build/.
set -eu
cd "$(dirname "$0")"
PATH=$PWD/node_modules/.bin:$PATH
buf generate
tsc
