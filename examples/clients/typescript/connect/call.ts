// Lists tools, then calls one: arguments and result as JSON text.

import { ResultFormat } from "../gen/es/toolwire/v1/result_pb.js";
import { ToolView } from "../gen/es/toolwire/v1/tool_pb.js";
import { tools } from "./client.js";

for await (const { tool } of tools.listTools({ tags: ["positions"], view: ToolView.BASIC }, { timeoutMs: 10_000 })) {
  console.log(`tool ${tool?.name}: ${tool?.title}`);
}

const request = {
  target: { case: "tool", value: "get_quotes" },
  input: { case: "argumentsJson", value: JSON.stringify({ symbol: "AAPL" }) },
  resultFormat: ResultFormat.JSON,
} as const;
const { outcome } = await tools.callTool(request, { timeoutMs: 10_000 });
if (outcome.case !== "result") throw new Error("a person must approve this call first");
const result = outcome.value;
if (result.outcome.case === "error") throw new Error(result.outcome.value.message);
const quote = JSON.parse(String(result.outcome.value)).quotes[0];
console.log(`${quote.symbol} costs ${quote.price}, says ${result.provenance?.sourceIds[0]}`);
