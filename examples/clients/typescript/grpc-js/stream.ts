// Follows the events of a call, lets a deadline pass, and cancels a call.

import { type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";

import { InvokeToolRequest, type InvokeToolResponse } from "../gen/ts-proto/toolwire/v1/tool_service.js";
import { metadata, tools, within } from "./client.js";

type Call = ClientReadableStream<InvokeToolResponse> & AsyncIterable<InvokeToolResponse>;

function invoke(tool: string, argumentsJson: string, milliseconds: number): Call {
  const request = InvokeToolRequest.fromPartial({
    target: { $case: "tool", value: tool },
    input: { $case: "argumentsJson", value: argumentsJson },
  });
  return tools.invokeTool(request, metadata, within(milliseconds));
}

for await (const { event } of invoke("debug_stream", '{"count": 2}', 10_000)) {
  console.log(`event ${event?.sequence}: ${event?.event?.$case}`);
}

try {
  for await (const _ of invoke("debug_sleep", '{"duration": "60s"}', 500));
} catch (error) {
  if ((error as ServiceError).code !== status.DEADLINE_EXCEEDED) throw error;
  console.log("the deadline passed");
}

const call = invoke("debug_sleep", '{"duration": "60s", "progress_interval": "0.1s"}', 10_000);
try {
  for await (const { event } of call) {
    if (event?.event?.$case === "progress") call.cancel();
  }
} catch (error) {
  if ((error as ServiceError).code !== status.CANCELLED) throw error;
  console.log("the call was cancelled");
}
tools.close();
