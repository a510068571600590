// Repeats a write until it has an answer. The same requestId says that it is the same write: it is done once.

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { type ServiceError, status } from "@grpc/grpc-js";

import { ResultFormat } from "../gen/ts-proto/toolwire/v1/result.js";
import { callTool, tools } from "./client.js";

const REPEATABLE = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED];

// Milliseconds to wait before each attempt, unless the server asks for more.
const PAUSES = [0, 1000, 2000, 4000, 8000];

const request = {
  target: { $case: "tool", value: "debug_write" },
  input: { $case: "argumentsJson", value: '{"value": "x", "duration": "1s"}' },
  requestId: randomUUID(),
  resultFormat: ResultFormat.RESULT_FORMAT_JSON,
} as const;

async function write(): Promise<string> {
  let reason = "";
  let retryAfter = 0;
  for (const [attempt, pause] of PAUSES.entries()) {
    await setTimeout(Math.max(pause, retryAfter));
    [reason, retryAfter] = ["no answer", 0];
    try {
      // The first deadline is shorter than the write, to show what follows.
      const milliseconds = attempt === 0 ? 500 : 5000;
      const { outcome } = await callTool(request, milliseconds);
      if (outcome?.$case !== "result") throw new Error("a person must approve this call first");
      const end = outcome.value.outcome;
      if (end?.$case !== "error") return String(end?.value);
      if (!end.value.retryable) throw new Error(end.value.message);
      [reason, retryAfter] = [end.value.message, (end.value.retryAfter?.seconds ?? 0) * 1000];
    } catch (error) {
      if (!REPEATABLE.includes((error as ServiceError).code)) throw error;
    }
    console.log(`attempt ${attempt + 1}: ${reason}`);
  }
  throw new Error(`given up: ${reason}`);
}

const first = await write();
console.log(`${JSON.parse(first).value} is written`);
if ((await write()) === first) console.log("the repeat has the same data");
tools.close();
