// Repeats a write until it has an answer. The same requestId says that it is the same write: it is done once.

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

import { ResultFormat } from "../gen/es/toolwire/v1/result_pb.js";
import { tools } from "./client.js";

// Canceled is what connect-node says of a connection that broke, as when the server was killed.
const REPEATABLE = [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled];

// Milliseconds to wait before each attempt, unless the server asks for more.
const PAUSES = [0, 1000, 2000, 4000, 8000];

const request = {
  target: { case: "tool", value: "debug_write" },
  input: { case: "argumentsJson", value: '{"value": "x", "duration": "1s"}' },
  requestId: randomUUID(),
  resultFormat: ResultFormat.JSON,
} as const;

async function write(): Promise<string> {
  let reason = "";
  let retryAfter = 0;
  for (const [attempt, pause] of PAUSES.entries()) {
    await setTimeout(Math.max(pause, retryAfter));
    [reason, retryAfter] = ["no answer", 0];
    try {
      // The first deadline is shorter than the write, to show what follows.
      const timeoutMs = attempt === 0 ? 500 : 5000;
      const { outcome } = await tools.callTool(request, { timeoutMs });
      if (outcome.case !== "result") throw new Error("a person must approve this call first");
      const end = outcome.value.outcome;
      if (end.case !== "error") return String(end.value);
      if (!end.value.retryable) throw new Error(end.value.message);
      [reason, retryAfter] = [end.value.message, end.value.retryAfter ? durationMs(end.value.retryAfter) : 0];
    } catch (error) {
      if (!REPEATABLE.includes(ConnectError.from(error).code)) throw error;
    }
    console.log(`attempt ${attempt + 1}: ${reason}`);
  }
  throw new Error(`given up: ${reason}`);
}

const first = await write();
console.log(`${JSON.parse(first).value} is written`);
if ((await write()) === first) console.log("the repeat has the same data");
