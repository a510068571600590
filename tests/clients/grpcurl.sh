#!/usr/bin/env bash
# What a person does with Toolwire from a shell, by reflection alone: no proto file, no stub.
# Usage: grpcurl.sh HOST:PORT, of a server started with --diagnostics.
set -euo pipefail

address=$1
checks=0

# expect WHAT PATTERN GRPCURL-ARGUMENTS…: the output, a failure's text included, contains the extended pattern.
# White space is squeezed first, so that a pattern may span lines.
expect() {
  local what=$1 pattern=$2 output
  shift 2
  output=$(grpcurl -plaintext "$@" 2>&1 || true)
  if ! tr -s '[:space:]' ' ' <<<"$output" | grep -qE -- "$pattern"; then
    printf 'FAILED: %s\n  expected: %s\n  grpcurl -plaintext %s\n%s\n' "$what" "$pattern" "$*" "$output" >&2
    exit 1
  fi
  checks=$((checks + 1))
}

tool_service=toolwire.v1.ToolService
quotes='{"tool":"get_quotes","arguments":{"symbol":"AAPL"}}'
sleep_5s='{"tool":"debug_sleep","arguments":{"duration":"5s"}}'

expect 'services are listed' "$tool_service" "$address" list
expect 'typed services are listed' 'toolwire.brokerage.v1.BrokerageService' "$address" list
expect 'health is listed' 'grpc.health.v1.Health' "$address" list
expect 'a message is described with its comments' "// The tool's name, .* string name = 1;" \
  "$address" describe toolwire.v1.ToolDefinition
expect 'a method is described with its comments' '// Calls a tool and streams its events' \
  "$address" describe "$tool_service.InvokeTool"
expect 'the server is healthy' '"status": "SERVING"' "$address" grpc.health.v1.Health/Check
expect 'tools are listed' '"name": "get_quotes"' "$address" "$tool_service/ListTools"

expect 'a call is accepted' '"accepted": \{' -d "$quotes" "$address" "$tool_service/InvokeTool"
expect 'a call returns its data' '"price": 193.12[ ,}]' -d "$quotes" "$address" "$tool_service/InvokeTool"
expect 'a call names its sources' '"sourceIds": \[ "tool:quotes:v1" \]' -d "$quotes" "$address" "$tool_service/InvokeTool"
expect 'a unary call returns the same' '"price": 193.12[ ,}]' -d "$quotes" "$address" "$tool_service/CallTool"

# The typed call gives the same numbers: those of the position that was asked for.
position_numbers() {
  grpcurl -plaintext -d "$1" "$address" "$2" | tr -s '[:space:]' ' ' | grep -oE '"position": \{[^}]*\}' | grep -oE '[0-9.]+' | sort
}
untyped=$(position_numbers '{"tool":"get_positions","arguments":{"symbol":"AAPL"}}' "$tool_service/CallTool") || untyped=none
typed=$(position_numbers '{"symbol":"AAPL"}' toolwire.brokerage.v1.BrokerageService/GetPositions) || typed='none either'
[ "$typed" = "$untyped" ] || { printf 'FAILED: typed and untyped differ:\n%s\n---\n%s\n' "$typed" "$untyped" >&2; exit 1; }
checks=$((checks + 1))

for _ in {1..10}; do
  expect 'a deadline ends a stream' 'Code: DeadlineExceeded' -max-time 0.5 -d "$sleep_5s" "$address" "$tool_service/InvokeTool"
  expect 'a deadline ends a unary call' 'Code: DeadlineExceeded' -max-time 0.5 -d "$sleep_5s" "$address" "$tool_service/CallTool"
done

expect 'an unknown tool is not found' 'Code: NotFound .*get_quotes' -d '{"tool":"get_quote"}' "$address" "$tool_service/CallTool"
expect 'its details are readable' '"@type": "type.googleapis.com/google.rpc.ErrorInfo".*"domain": "toolwire"' \
  -d '{"tool":"get_quote"}' "$address" "$tool_service/CallTool"
expect 'the resource is named' '"resourceName": "get_quote"' -d '{"tool":"get_quote"}' "$address" "$tool_service/CallTool"
expect 'empty arguments are none' '"dataJson"|"data"' \
  -d '{"tool":"get_account_summary","arguments_json":""}' "$address" "$tool_service/CallTool"
expect 'arguments that are not JSON' '"code": "TOOL_ERROR_CODE_INVALID_ARGUMENT".*"rule": "json"' \
  -d '{"tool":"get_quotes","arguments_json":"{symbol"}' "$address" "$tool_service/InvokeTool"
expect 'arguments that break the schema' '"code": "TOOL_ERROR_CODE_INVALID_ARGUMENT".*"rule": "required"' \
  -d '{"tool":"get_quotes","arguments":{}}' "$address" "$tool_service/InvokeTool"

research=toolwire.research.v1.ResearchService
expect 'the research service is listed' "$research" "$address" list
expect 'a research tool answers from its embedded source' '"current_price": [0-9.]+' \
  -d '{"tool":"get_technicals","arguments":{"symbol":"RELIANCE"}}' "$address" "$tool_service/CallTool"
expect 'the same from the cache, typed' '"currentPrice": [0-9.]+.*"fromCache": true' \
  -d '{"symbol":"RELIANCE"}' "$address" "$research/GetTechnicals"
expect 'progress has the words of the specification' '"message": "Browsing ValuePickr for ideas' \
  -d '{"tool":"browse_valuepickr"}' "$address" "$tool_service/InvokeTool"
expect 'text from outside is framed' '"meta": "USER_GENERATED_CONTENT_BELOW", "nonce": "[0-9a-f]{32}"' \
  -d '{"query":"Tata Motors"}' "$address" "$research/GetStockThesis"
expect 'an unknown symbol is met with near ones' 'TOOL_ERROR_CODE_NOT_FOUND.*RELIANCE' \
  -d '{"tool":"get_technicals","arguments":{"symbol":"RELIANC"}}' "$address" "$tool_service/CallTool"
expect 'a limit above the maximum names it' 'TOOL_ERROR_CODE_INVALID_ARGUMENT.*25' \
  -d '{"tool":"browse_valuepickr","arguments":{"limit":26}}' "$address" "$tool_service/CallTool"
expect 'limits are told' '"source": "yahoo", "canMakeRequest": true' "$address" "$tool_service/GetLimits"
expect 'guidance is made of budgets and manifests' '## Screener' "$address" "$tool_service/DescribeForPlanner"

# A write that a person must approve: asked for, decided, carried out once.
confirmations=toolwire.v1.ConfirmationService
expect 'confirmations are listed' "$confirmations" "$address" list
request_id=$(cat /proc/sys/kernel/random/uuid)
write='{"tool":"debug_confirm","arguments":{"value":"grpcurl"},"request_id":"'$request_id'"}'
expect 'a person must approve' '"confirmationRequired": \{.*"tool": "debug_confirm".*"cause": "CONFIRMATION_CAUSE_MANIFEST"' \
  -d "$write" "$address" "$tool_service/CallTool"
id=$(grpcurl -plaintext -d "$write" "$address" "$tool_service/CallTool" | grep -oE 'conf_[0-9a-f]{32}' | head -1)
expect 'it is shown' '"state": "CONFIRMATION_STATE_PENDING".*"nameRequired": true' \
  -d '{"confirmation_id":"'"$id"'"}' "$address" "$confirmations/GetConfirmation"
expect 'its name is wanted' 'Code: InvalidArgument .*approve.tool' \
  -d '{"confirmation_id":"'"$id"'","approve":{}}' "$address" "$confirmations/DecideConfirmation"
expect 'it is approved' '"state": "CONFIRMATION_STATE_APPROVED".*"decidedVia": "grpc"' \
  -d '{"confirmation_id":"'"$id"'","approve":{"tool":"debug_confirm"}}' "$address" "$confirmations/DecideConfirmation"
expect 'the write goes on' '"value": "grpcurl"' -d "$write" "$address" "$tool_service/CallTool"
expect 'it is used' '"confirmationId": "'"$id"'", "state": "CONFIRMATION_STATE_USED"' \
  -d '{"confirmation_id":"'"$id"'"}' "$address" "$confirmations/GetConfirmation"
expect 'it cannot be denied any more' 'Code: FailedPrecondition .*CONFIRMATION_DECIDED' \
  -d '{"confirmation_id":"'"$id"'","deny":{"reason":"too late"}}' "$address" "$confirmations/DecideConfirmation"

echo "$checks passed, 0 failed"
