// Repeats a write whose answer was lost. The same requestId says that it is the same write: it is done once.

import { randomUUID } from "node:crypto";

import { Code, ConnectError } from "@connectrpc/connect";

import { ResultFormat } from "../gen/es/toolwire/v1/result_pb.js";
import { tools } from "./client.js";

const REPEATABLE = [Code.Unavailable, Code.DeadlineExceeded];

const request = {
  target: { case: "tool", value: "debug_write" },
  input: { case: "argumentsJson", value: '{"value": "x", "duration": "1s"}' },
  requestId: randomUUID(),
  resultFormat: ResultFormat.JSON,
} as const;

async function write(): Promise<string> {
  for (const [attempt, timeoutMs] of [500, 5000, 5000].entries()) {
    try {
      const { outcome } = await tools.callTool(request, { timeoutMs });
      if (outcome.case === "result") return String(outcome.value.outcome.value);
    } catch (error) {
      if (!REPEATABLE.includes(ConnectError.from(error).code)) throw error;
      console.log(`attempt ${attempt + 1}: no answer`);
    }
  }
  throw new Error("no answer at all");
}

const first = await write();
console.log(`${JSON.parse(first).value} is written`);
if ((await write()) === first) console.log("the repeat has the same answer");
