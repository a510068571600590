#!/usr/bin/env bash
# Runs a command beside a PostgreSQL 15 of its own, whose address is in TOOLWIRE_TEST_STATE:
#   .ci/postgres.sh cargo test --test suite store::
# The server, the pooler PgBouncer and libfaketime are Debian's: the installed ones, or their packages unpacked below the
# cache, since installing would start a service. The server listens on a free port of this machine and on no other,
# writes below a temporary directory, and ends with the command; a pooler is started by the tests that need one.
set -euo pipefail
cache=${CI_TOOLS_CACHE:-$HOME/.cache/toolwire-ci}
[ $# -gt 0 ] || { echo "usage: .ci/postgres.sh COMMAND…" >&2; exit 2; }

# Leaves the directory of its programs in $bin.
find_programs() {
  bin=/usr/lib/postgresql/15/bin
  [ -x "$bin/postgres" ] && return
  mkdir -p "$cache"
  # Below a directory that others may not enter, such as root's own, its user could not start it.
  as_user test -x "$cache" || cache=/var/tmp/toolwire-ci
  bin=$cache/postgresql-15/usr/lib/postgresql/15/bin
  unpack postgresql-15 postgresql-15 postgresql-client-15 libpq5 libllvm14 libicu72 libldap-2.5-0 libxml2 libxslt1.1 \
    libz3-4
}

# Leaves the pooler's program in $pgbouncer.
find_pooler() {
  pgbouncer=/usr/sbin/pgbouncer
  [ -x "$pgbouncer" ] && return
  mkdir -p "$cache"
  as_user test -x "$cache" || cache=/var/tmp/toolwire-ci
  pgbouncer=$cache/pgbouncer/usr/sbin/pgbouncer
  unpack pgbouncer pgbouncer libc-ares2 libevent-2.1-7
}

# Leaves the library that gives a program another clock in $faketime.
find_faketime() {
  local in=usr/lib/$(uname -m)-linux-gnu/faketime/libfaketime.so.1
  faketime=/$in
  [ -e "$faketime" ] && return
  mkdir -p "$cache"
  faketime=$cache/faketime/$in
  [ -e "$cache/faketime/.complete" ] || download "$cache/faketime" libfaketime
}

# Unpacks packages into a folder of the cache, unless they are there, and lets programs find their libraries.
unpack() {
  local unpacked=$cache/$1
  [ -e "$unpacked/.complete" ] || download "$unpacked" "${@:2}"
  export LD_LIBRARY_PATH=$unpacked/usr/lib/$(uname -m)-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

download() (
  rm -rf "$1"
  mkdir -p "$1"
  cd "$1"
  as_root apt-get update -q
  apt-get download -q "${@:2}"
  for package in ./*.deb; do dpkg-deb -x "$package" . && rm "$package"; done
  touch .complete
)

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# The server refuses to run as root.
as_user() {
  if [ "$(id -u)" -eq 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi
}

find_programs >&2
find_pooler >&2
find_faketime >&2
place=$(mktemp -d /tmp/toolwire-postgres.XXXXXX)
end() {
  [ -e "$place/data/postmaster.pid" ] && as_user "$bin/pg_ctl" -D "$place/data" -m immediate -w stop >/dev/null 2>&1
  rm -rf "$place"
}
trap end EXIT
[ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$place"
cd_back=$PWD
cd "$place" # which the server's user may read
as_user "$bin/initdb" -D "$place/data" -U toolwire -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >>"$place/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$place'
max_connections = 400
fsync = off
CONF
as_user "$bin/pg_ctl" -D "$place/data" -l "$place/log" -w start >/dev/null || { cat "$place/log" >&2; exit 1; }
cd "$cd_back"
# The others for tests that start a server or a pooler of their own.
export TOOLWIRE_TEST_STATE=postgres://toolwire@127.0.0.1:$port/postgres
export TOOLWIRE_TEST_POSTGRES_BIN=$bin
export TOOLWIRE_TEST_PGBOUNCER=$pgbouncer
export TOOLWIRE_TEST_FAKETIME=$faketime
"$@"
