// Follows the events of a call, lets a deadline pass, and cancels a call.

import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";

import { tools } from "./client.js";

function invoke(tool: string, argumentsJson: string, options: CallOptions) {
  const request = {
    target: { case: "tool", value: tool },
    input: { case: "argumentsJson", value: argumentsJson },
  } as const;
  return tools.invokeTool(request, options);
}

for await (const { event } of invoke("debug_stream", '{"count": 2}', { timeoutMs: 10_000 })) {
  console.log(`event ${event?.sequence}: ${event?.event.case}`);
}

try {
  for await (const _ of invoke("debug_sleep", '{"duration": "60s"}', { timeoutMs: 500 }));
} catch (error) {
  if (ConnectError.from(error).code !== Code.DeadlineExceeded) throw error;
  console.log("the deadline passed");
}

const caller = new AbortController();
const options = { signal: caller.signal, timeoutMs: 10_000 };
try {
  for await (const { event } of invoke("debug_sleep", '{"duration": "60s", "progress_interval": "0.1s"}', options)) {
    if (event?.event.case === "progress") caller.abort();
  }
} catch (error) {
  if (ConnectError.from(error).code !== Code.Canceled) throw error;
  console.log("the call was cancelled");
}
