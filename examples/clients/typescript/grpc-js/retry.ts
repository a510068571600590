// Repeats a write whose answer was lost. The same requestId says that it is the same write: it is done once.

import { randomUUID } from "node:crypto";

import { type ServiceError, status } from "@grpc/grpc-js";

import { ResultFormat } from "../gen/ts-proto/toolwire/v1/result.js";
import { callTool, tools } from "./client.js";

const REPEATABLE = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED];

const request = {
  target: { $case: "tool", value: "debug_write" },
  input: { $case: "argumentsJson", value: '{"value": "x", "duration": "1s"}' },
  requestId: randomUUID(),
  resultFormat: ResultFormat.RESULT_FORMAT_JSON,
} as const;

async function write(): Promise<string> {
  for (const [attempt, milliseconds] of [500, 5000, 5000].entries()) {
    try {
      const { outcome } = await callTool(request, milliseconds);
      if (outcome?.$case === "result") return String(outcome.value.outcome?.value);
    } catch (error) {
      if (!REPEATABLE.includes((error as ServiceError).code)) throw error;
      console.log(`attempt ${attempt + 1}: no answer`);
    }
  }
  throw new Error("no answer at all");
}

const first = await write();
console.log(`${JSON.parse(first).value} is written`);
if ((await write()) === first) console.log("the repeat has the same answer");
tools.close();
