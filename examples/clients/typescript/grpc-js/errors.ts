// Reads the two kinds of failure: a tool that failed, in the result, and a call that was refused, in the status.

import type { ServiceError } from "@grpc/grpc-js";
import { ErrorInfo } from "nice-grpc-error-details";
import { Status } from "nice-grpc-error-details/lib/proto/google/rpc/status.js";

import type { ToolError } from "../gen/ts-proto/toolwire/v1/result.js";
import { callTool, tools } from "./client.js";

async function failure(tool: string, argumentsJson: string): Promise<ToolError> {
  const request = {
    target: { $case: "tool", value: tool },
    input: { $case: "argumentsJson", value: argumentsJson },
  } as const;
  const { outcome } = await callTool(request, 10_000);
  if (outcome?.$case === "result" && outcome.value.outcome?.$case === "error") return outcome.value.outcome.value;
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
  const { details: message, metadata } = thrown as ServiceError;
  // The details are a google.rpc.Status in the trailers.
  const [encoded] = metadata.get("grpc-status-details-bin");
  for (const { typeUrl, value } of Status.decode(encoded as Buffer).details) {
    if (typeUrl.endsWith(ErrorInfo.$type)) console.log(`refused, ${ErrorInfo.decode(value).reason}: ${message}`);
  }
}
tools.close();
