#!/bin/sh
# Generates the stubs, and compiles them and the programs, into target/.
set -eu
cd "$(dirname "$0")"
mvn --batch-mode --quiet compile
