// Reads the two kinds of failure: a tool that failed, in the result, and a call that was refused, in the status.

import { ConnectError } from "@connectrpc/connect";
import { ErrorInfo } from "nice-grpc-error-details";

import type { ToolError } from "../gen/es/toolwire/v1/result_pb.js";
import { tools } from "./client.js";

async function failure(tool: string, argumentsJson: string): Promise<ToolError> {
  const request = {
    target: { case: "tool", value: tool },
    input: { case: "argumentsJson", value: argumentsJson },
  } as const;
  const { outcome } = await tools.callTool(request, { timeoutMs: 10_000 });
  if (outcome.case === "result" && outcome.value.outcome.case === "error") return outcome.value.outcome.value;
  throw new Error("the call did not fail");
}

for (const { pointer, rule, description } of (await failure("get_performance", '{"timefram": "YTD"}')).fieldViolations) {
  console.log(`${pointer} breaks ${rule}: ${description}`);
}

const error = await failure("debug_fail", '{"code": "RATE_LIMITED", "retry_after": "2s"}');
if (error.retryable) console.log(`${error.message}: again in ${error.retryAfter?.seconds} s`);

try {
  await failure("get_quote", "{}");
} catch (thrown) {
  const { rawMessage, details } = ConnectError.from(thrown);
  for (const detail of details) {
    if ("type" in detail && detail.type === ErrorInfo.$type) {
      console.log(`refused, ${ErrorInfo.decode(detail.value).reason}: ${rawMessage}`);
    }
  }
}
