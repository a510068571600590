#!/usr/bin/env bash
# A real proxy in front of Toolwire, by examples/deploy: TLS, credentials, streams, deadlines, refusals.
# Usage: proxy.sh TOOLWIRE nginx|envoy PROGRAM: the programs.
set -euo pipefail

toolwire=$1 kind=$2 program=$3
examples=$(dirname "${BASH_SOURCE[0]}")/../../examples/deploy
work=$(mktemp -d)
checks=0 server_pid='' proxy_pid=''

finish() {
  local status=$?
  [ "$status" -eq 0 ] || { echo 'FAILED; the ends of the logs:' && tail -n 20 "$work"/*.log; } >&2
  stop "$proxy_pid"
  stop "$server_pid"
  rm -rf "$work"
}
trap finish EXIT

stop() {
  [ -n "$1" ] || return 0
  kill "$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

fail() { printf 'FAILED: %s\n' "$1" >&2; exit 1; }

# eventually WHAT COMMAND…: the command succeeds within half a minute.
eventually() {
  local what=$1
  shift
  for _ in {1..150}; do
    "$@" && return
    sleep 0.2
  done
  fail "$what: not within half a minute"
}

# expect WHAT PATTERN ARGUMENTS…: what the command line says when it asks through the proxy matches the extended pattern.
expect() {
  local what=$1 pattern=$2 output
  shift 2
  output=$("$toolwire" "$@" --server "https://localhost:$port" --ca "$work/ca.pem" 2>&1 || true)
  if ! tr -s '[:space:]' ' ' <<<"$output" | grep -qE -- "$pattern"; then
    printf 'FAILED: %s\n  expected: %s\n  toolwire %s\n%s\n' "$what" "$pattern" "$*" "$output" >&2
    exit 1
  fi
  checks=$((checks + 1))
}

# posted WHAT PATTERN PATH BODY CURL-FLAGS…: what an HTTP client is answered through the proxy matches the pattern, by
# HTTP/1.1 and by HTTP/2.
posted() {
  local what=$1 pattern=$2 path=$3 body=$4 version output
  shift 4
  for version in --http1.1 --http2; do
    output=$(curl --silent --show-error --max-time 30 "$version" --cacert "$work/ca.pem" --write-out ' status %{http_code}' \
      --header 'content-type: application/json' --data "$body" "$@" "https://localhost:$port$path" 2>&1 || true)
    if ! grep -qE -- "$pattern" <<<"$output"; then
      printf 'FAILED: %s, %s\n  expected: %s\n%s\n' "$what" "$version" "$pattern" "$output" >&2
      exit 1
    fi
    checks=$((checks + 1))
  done
}

# serve NAME: serves with the settings NAME.toml on free ports; sets $address and $http.
serve() {
  stop "$server_pid"
  "$toolwire" serve --config "$work/$1.toml" --listen 127.0.0.1:0 --http=127.0.0.1:0 --state "$work/state" --diagnostics \
    >"$work/$1.out" 2>"$work/$1.log" &
  server_pid=$!
  eventually 'Toolwire listens' grep -q '^toolwire http on ' "$work/$1.out"
  address=$(sed -n 's/^toolwire listening on //p' "$work/$1.out")
  http=$(sed -n 's/^toolwire http on //p' "$work/$1.out")
}

# proxy: the proxy in front of $address, on $port.
proxy() {
  stop "$proxy_pid"
  "start_$kind" &
  proxy_pid=$!
  eventually "$kind listens" listens
}

start_nginx() {
  sed -e "s/listen 443/listen $port/" -e "s/127.0.0.1:50051/$address/" -e "s|/etc/nginx/tls|$work|" \
    -e "s|^http {|http { access_log off; $(temporary_paths)|" "$examples/nginx.conf" >"$work/nginx.conf"
  exec "$program" -e "$work/nginx.log" -p "$work" -c "$work/nginx.conf" \
    -g "daemon off; pid $work/nginx.pid; error_log $work/nginx.log;"
}

# The package's own are under /var/lib, which an unpacked package has not made.
temporary_paths() {
  for kind in client_body proxy fastcgi uwsgi scgi; do printf '%s_temp_path %s/%s; ' "$kind" "$work" "$kind"; done
}

start_envoy() {
  sed -e "s/port_value: 443/port_value: $port/" -e "s|/etc/envoy/tls|$work|" \
    -e "s/port_value: 50051/port_value: ${address#*:}/" -e "s/port_value: 50080/port_value: ${http#*:}/" \
    "$examples/envoy.yaml" >"$work/envoy.yaml"
  exec "$program" -c "$work/envoy.yaml" --use-dynamic-base-id --log-level warn >"$work/envoy.log" 2>&1
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

port=$(python3 "$(dirname "${BASH_SOURCE[0]}")/port.py")

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=test authority' \
  -keyout "$work/ca.key" -out "$work/ca.pem" 2>"$work/openssl.log"
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=localhost' \
  -keyout "$work/key.pem" -out "$work/request.pem" 2>>"$work/openssl.log"
openssl x509 -req -in "$work/request.pem" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 2 \
  -extfile <(echo 'subjectAltName=DNS:localhost') -out "$work/cert.pem" 2>>"$work/openssl.log"

touch "$work/open.toml"
printf '[[auth.users]]\nuser_id = "demo"\ntoken = "proxy-t0ken-of-a-test-0123456789"\n' >"$work/closed.toml"
token=proxy-t0ken-of-a-test-0123456789

serve closed
proxy
expect 'a call passes with its credentials' '193\.12' call get_quotes symbol=AAPL --token "$token"
expect 'a long stream passes' 'get_quotes' list --token "$token"
expect 'nobody passes without credentials' 'UNAUTHENTICATED|Bearer' call get_quotes symbol=AAPL
expect 'other credentials are refused by Toolwire' 'not accepted' call get_quotes symbol=AAPL --token wrong
expect 'a deadline is the caller'\''s' 'DEADLINE_EXCEEDED|deadline' \
  call debug_sleep duration=20s --deadline 1s --token "$token"
if [ "$kind" = envoy ]; then
  bearer=(--header "authorization: Bearer $token")
  quotes='{"symbol":"AAPL"}'
  posted 'a call by REST passes' '193\.12.* status 200' /v1/tools/get_quotes:call "$quotes" "${bearer[@]}"
  posted 'the events of a call pass' 'event: accepted' /v1/tools/get_quotes:invoke "$quotes" "${bearer[@]}"
  posted 'nobody passes by REST without credentials' 'CREDENTIALS_MISSING.* status 401' /v1/tools/get_quotes:call "$quotes"
  posted 'a deadline of REST is the caller'\''s' 'DEADLINE_EXCEEDED.* status 504' \
    /v1/tools/debug_sleep:call '{"duration":"20s"}' "${bearer[@]}" --header 'x-toolwire-timeout: 1s'
  posted 'a call by MCP passes' '193\.12.* status 200' /mcp \
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_quotes","arguments":{"symbol":"AAPL"}}}' \
    "${bearer[@]}" --header 'accept: application/json, text/event-stream' --header 'mcp-protocol-version: 2025-06-18'
fi

serve open
proxy
expect 'without credentials Toolwire refuses what a proxy passes on' 'header x-forwarded-[a-z]+ says .*\[\[auth.users\]\]' \
  call get_quotes symbol=AAPL

stop "$server_pid"
server_pid=''
expect 'a Toolwire that is gone is UNAVAILABLE' 'UNAVAILABLE|cannot be reached' call get_quotes symbol=AAPL
printf '%s: %d checks passed\n' "$kind" "$checks"
