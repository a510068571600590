#!/usr/bin/env bash
# What a newcomer does: installs the wheel into an empty folder, serves a function, and calls it by a client that knows
# nothing of Python. Then what README.md and pages of docs/ say, in order, and the tests of the examples.
# Usage: wheel.sh BINARY FOLDER, with what scripts/package/wheel needs; grpcurl, readelf and a registry of Python's.
set -euo pipefail

binary=$1 folder=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
checks=0
passed() { checks=$((checks + 1)); }
failed() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
serving=''
trap '[ -z "$serving" ] || kill "$serving" 2>/dev/null || true' EXIT

mkdir -p "$folder"
python "$root/scripts/package/wheel" --binary "$binary" --out "$folder/dist"
python "$root/scripts/package/wheel" --binary "$binary" --out "$folder/again" >/dev/null
wheel=$(echo "$folder"/dist/toolwire-*.whl)
cmp "$wheel" "$folder/again/${wheel##*/}" || failed 'the same inputs make another wheel'
passed
# Another reader of the same file agrees on what it needs.
newest=$(readelf --version-info --wide "$binary" | grep 'Flags: none' | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
[[ $wheel == *"-manylinux_${newest#GLIBC_}_"* || $wheel == *"-manylinux_$(tr . _ <<<"${newest#GLIBC_}")_"* ]] ||
  failed "the binary needs $newest, and the wheel is ${wheel##*/}"
passed

# Nothing of the tree is found there: not the SDK, not the server, not a variable that names them.
unset PYTHONPATH TOOLWIRE_BINARY TOOLWIRE_SERVER TOOLWIRE_TOKEN
cd "$folder"
python3 -m venv venv
# Where the page installs too: what is released tomorrow is not part of this tree.
export PIP_CONSTRAINT=$root/tests/clients/python/requirements.txt
venv/bin/pip install --quiet --disable-pip-version-check "$wheel" pytest
[ "$(venv/bin/toolwire --version)" = "$("$binary" --version)" ] || failed 'the command of the wheel is another'
passed
mkdir shop
cat >shop/tools.py <<'PROGRAM'
from toolwire import serve, tool

@tool
def order_status(order_id: str) -> dict:
    """Where an order is. Use this when a customer asks about a delivery."""
    return {"order": order_id, "state": "sent"}

serve()
PROGRAM
# Looked at before the program may have opened it.
: >served
began=$(date +%s%N)
(cd shop && exec ../venv/bin/python tools.py) >served 2>served.log &
serving=$!
for _ in {1..1500}; do
  address=$(sed -n 's|^toolwire serves .* at http://||p' served)
  [ -n "$address" ] && break
  kill -0 "$serving" || { cat served.log >&2; failed 'the program ended'; }
  sleep 0.02
done
call='{"tool":"order_status","arguments":{"order_id":"A-1"}}'
answer=$(grpcurl -plaintext -d "$call" "$address" toolwire.v1.ToolService/CallTool | tr -d '[:space:]')
[[ $answer == *'"state":"sent"'* ]] || failed "grpcurl was answered $answer"
passed
printf 'from the command to the first answer: %d ms\n' $((($(date +%s%N) - began) / 1000000))
! grpcurl -plaintext "$address" toolwire.v1.ToolService/ListTools | grep -q '"name": "get_quotes"' ||
  failed 'the server of a program offers the samples'
passed
# The server ends with the program, however that ends.
server=$(cat /proc/"$serving"/task/*/children | tr -d " ")
[ -n "$server" ] || failed 'the program has no server'
kill -KILL "$serving"
# One that has ended may wait for the machine's first process to notice.
is_alive() { [[ $(cut -d ' ' -f 3 "/proc/$server/stat" 2>/dev/null) =~ ^[^Z]$ ]]; }
for _ in {1..500}; do is_alive || break; sleep 0.02; done
! is_alive || failed 'the server outlives its program by 10 s'
passed
serving=''

# The calls by which a program is optimised.
venv/bin/python "$root/scripts/package/training.py" 1 2>training.log || { cat training.log >&2; failed 'the training'; }
passed

# The types of authors: the same values and schemas without pydantic as with it, which the SDK's own tests have.
python3 -m venv types
types/bin/pip install --quiet --disable-pip-version-check "$wheel" pytest annotated-types attrs hypothesis jsonschema
! types/bin/python -c 'import pydantic' 2>/dev/null || failed 'the wheel brings pydantic along'
mkdir identity
cp "$root/sdk/python/tests/test_identity.py" identity
types/bin/python -m pytest -q -p no:cacheprovider identity
passed
types/bin/pip install --quiet --disable-pip-version-check "$wheel[pydantic]"
types/bin/python -c 'import pydantic' || failed 'the extra brings no pydantic'

cp -r "$root/examples/hosts/python" examples
venv/bin/python -m pytest -q -p no:cacheprovider examples
for page in README docs/{TUTORIAL,OPERATIONS,CLIENTS,OWN_TOOLS,MCP,MCP_UPSTREAM,CONVERSATIONS,JOBS,EXPORTS} \
  docs/{TASKS,WORKSPACE,CONFIRMATIONS,AUDIT,MANIFEST,DEPLOYMENT,IDENTITY}; do
  mkdir -p "$page"
  PATH=$folder/venv/bin:$PATH venv/bin/python "$root/tests/clients/python/page.py" "$page.md" "$wheel" "$page"
done
echo "$checks passed, 0 failed"
