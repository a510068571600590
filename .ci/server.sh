# shellcheck shell=bash
# shellcheck disable=SC2154  # $work belongs to .ci/run
# Starts and stops the server that the foreign clients talk to. Sourced by .ci/run, which owns $work and $server_pid.

# start_server BINARY FLAGS…: serves on free ports, of which one is for operators; sets $server_pid, $address and
# $admin_address once it is ready, and $http_address if the flags open that port.
start_server() {
  # What an earlier server printed is not taken for this one's.
  : >"$work/server.out"
  "$1" serve --listen 127.0.0.1:0 --admin 127.0.0.1:0 --state "$work/state" "${@:2}" \
    >"$work/server.out" 2>"$work/server.log" &
  server_pid=$!
  for _ in {1..150}; do
    # The server prints its addresses when it accepts connections, this one last.
    admin_address=$(sed -n 's/^toolwire admin on //p' "$work/server.out")
    address=$(sed -n 's/^toolwire listening on //p' "$work/server.out")
    http_address=$(sed -n 's/^toolwire http on //p' "$work/server.out")
    [ -n "$admin_address" ] && echo "serving on $address" && return
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.2
  done
  echo 'the server did not print its addresses; its output was:' >&2
  cat "$work/server.out" "$work/server.log" >&2
  return 1
}

# make_certificate DIRECTORY: an authority (ca.pem) and what it says of 127.0.0.1 (server.pem, server.key).
make_certificate() {
  mkdir -p "$1"
  certificate "$1/ca" -subj '/CN=toolwire gate'
  certificate "$1/server" -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
    -addext basicConstraints=critical,CA:FALSE -CA "$1/ca.pem" -CAkey "$1/ca.key"
}

certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
    -keyout "$1.key" -out "$1.pem" "${@:2}" 2>/dev/null
}

# Asks the server to drain and expects it to end by itself with exit code 0.
stop_server() {
  local pid=$server_pid
  kill -TERM "$pid"
  wait "$pid"
  server_pid=
}

# For the exit trap: shows the end of the server's log if it is still there, and ends it.
kill_server() {
  [ -n "$server_pid" ] || return 0
  printf '\nthe end of the server'\''s log:\n' >&2
  tail -n 40 "$work/server.log" >&2
  kill -KILL "$server_pid" 2>/dev/null || true
}
