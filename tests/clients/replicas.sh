#!/usr/bin/env bash
# What docs/REPLICAS.md says, command by command, with a PostgreSQL of its own and Envoy.
# Usage: .ci/postgres.sh replicas.sh WHEEL ENVOY, where `toolwire` on PATH is the one of the wheel.
set -euo pipefail

wheel=$1 envoy=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
place=$(mktemp -d /tmp/toolwire-replicas.XXXXXX)
mkdir "$place/bin" "$place/page"
ln -s "$envoy" "$place/bin/envoy"
# PostgreSQL's server does not run as root, who reads the page here.
as_user=''
[ "$(id -u)" -ne 0 ] || as_user='setpriv --reuid=nobody --regid=nogroup --clear-groups'
for program in initdb pg_ctl; do
  printf '#!/bin/sh\nexec %s "%s/%s" "$@"\n' "$as_user" "$TOOLWIRE_TEST_POSTGRES_BIN" "$program" >"$place/bin/$program"
  chmod +x "$place/bin/$program"
done
[ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$place/page"
chmod 755 "$place" "$place/page"
end() {
  [ ! -e "$place/page/data/postmaster.pid" ] || "$place/bin/pg_ctl" -D "$place/page/data" -m immediate stop >/dev/null
  rm -rf "$place"
}
trap end EXIT
PATH=$place/bin:$PATH:$TOOLWIRE_TEST_POSTGRES_BIN \
  python "$root/tests/clients/python/page.py" docs/REPLICAS.md "$wheel" "$place/page"
