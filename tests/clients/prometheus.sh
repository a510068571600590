#!/usr/bin/env bash
# A real Prometheus scrapes a running server by examples/deploy/prometheus.yml, sees it up and sees its calls counted, and
# understands every expression of the dashboard. Its alerts do what their tests say, and are about metrics that exist.
# Usage: prometheus.sh TOOLWIRE HOST:PORT ADMIN-HOST:PORT: the program, and the addresses of a server of it.
set -euo pipefail

toolwire=$1 address=$2 admin=$3
root=$(dirname "${BASH_SOURCE[0]}")/../..
examples=$root/examples/deploy
work=$(mktemp -d)
prometheus_pid='' api=''

finish() {
  local status=$?
  [ "$status" -eq 0 ] || { echo 'FAILED; the end of the log of Prometheus:' && tail -n 20 "$work/log"; } >&2
  if [ -n "$prometheus_pid" ]; then
    kill "$prometheus_pid" 2>/dev/null || true
    wait "$prometheus_pid" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap finish EXIT

fail() { printf 'FAILED: %s\n' "$1" >&2; exit 1; }

# query EXPRESSION: the whole answer of Prometheus.
query() { curl --silent --show-error --max-time 5 --get --data-urlencode "query=$1" "$api/api/v1/query"; }

# value EXPRESSION: the value of the first series; 0 if there is none.
value() { query "$1" | jq -er '.data.result[0].value[1] // "0"'; }

# eventually WHAT COMMAND…: the command succeeds within half a minute.
eventually() {
  local what=$1
  shift
  for _ in {1..150}; do
    "$@" && return
    kill -0 "$prometheus_pid" 2>/dev/null || fail "$what: Prometheus has ended"
    sleep 0.2
  done
  fail "$what: not within half a minute"
}

# The example as it is, but for the port of this server and the patience of this check.
sed -e "s/127\.0\.0\.1:9464/$admin/" -e 's/scrape_interval: .*/scrape_interval: 1s/' "$examples/prometheus.yml" >"$work/prometheus.yml"
grep -qF "$admin" "$work/prometheus.yml" || fail 'examples/deploy/prometheus.yml names another port than 9464'
ln -s "$(realpath "$examples/prometheus")" "$work/prometheus"
promtool check config "$examples/prometheus.yml"
promtool test rules "$examples/prometheus/alerts_test.yml"
# Each alert has a test, and each metric in its expression is one of those that the program declares.
declared=$(sed -nE 's/^    "([a-z_]+)",$/\1/p' "$root/src/telemetry/metric/name.rs")
while read -r name; do
  grep -qxE "$name|${name%_count}|${name%_bucket}" <<<"$declared" || fail "the alerts name $name, which is not counted"
done < <(grep -oE '\b(gen_ai|http_server|process|rpc_server|toolwire)_[a-z_]+' "$examples/prometheus/alerts.yml" |
  grep -vx gen_ai_tool_name | sort -u)
while read -r alert; do
  grep -qF "alertname=\"$alert\"" "$examples/prometheus/alerts_test.yml" ||
    grep -qF "alertname: $alert" "$examples/prometheus/alerts_test.yml" || fail "$alert has no test"
done < <(sed -n 's/^ *- alert: //p' "$examples/prometheus/alerts.yml")
curl --silent --show-error --fail --max-time 5 "http://$admin/metrics" | promtool check metrics

: >"$work/log"
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address=127.0.0.1:0 \
  >"$work/log" 2>&1 &
prometheus_pid=$!
listens() { api=http://$(grep -oEm1 'msg="Listening on" address=127\.0\.0\.1:[0-9]+' "$work/log" | grep -oE '127.*'); }
eventually 'Prometheus listens' listens

is_up() { [ "$(value 'up{job="toolwire"}')" = 1 ]; }
eventually 'the server is up' is_up

calls='sum(toolwire_call_duration_seconds_count{tool="get_quotes",code="OK"})'
before=$(value "$calls")
"$toolwire" call get_quotes symbol=AAPL --server "http://$address" >"$work/answer"
moved() { [ "$(value "$calls")" = "$((before + 1))" ]; }
eventually 'the call is counted' moved
[ "$(value "sum(rpc_server_call_duration_seconds_count)")" -ge 1 ] || fail 'no RPC is counted'

# What only research tools move: a stock that nobody else asks for, once from its source and once from the cache.
for _ in 1 2; do
  "$toolwire" call get_technicals symbol=WIPRO --server "http://$address" >"$work/answer"
done
asked='toolwire_upstream_request_duration_seconds_count{source="yahoo",outcome="OK"}'
is_asked() { [ "$(value "sum($asked)")" -ge 1 ]; }
eventually 'requests to sources are counted' is_asked
is_hit() { [ "$(value 'sum(toolwire_cache_lookups_total{tool="get_technicals",result="hit"})')" -ge 1 ]; }
eventually 'hits of the cache are counted' is_hit

# Every expression of the dashboard, as Grafana would ask it.
expressions=0
while IFS= read -r expression; do
  expression=${expression//'$__rate_interval'/1m}
  expression=${expression//'$__range'/1h}
  expression=$(sed -E 's/\$(job|tool|source)/.*/g' <<<"$expression")
  [ "$(query "$expression" | jq -r .status)" = success ] || fail "not understood: $expression"
  expressions=$((expressions + 1))
done < <(jq -r '.panels[].targets[]?.expr' "$examples/grafana/toolwire.json")
[ "$expressions" -ge 20 ] || fail "only $expressions expressions were found on the dashboard"

echo "up, counted, and $expressions expressions understood"
