// Lists tools, then calls one: arguments and result as JSON text.

import { ResultFormat } from "../gen/ts-proto/toolwire/v1/result.js";
import { ToolView } from "../gen/ts-proto/toolwire/v1/tool.js";
import { ListToolsRequest, type ListToolsResponse } from "../gen/ts-proto/toolwire/v1/tool_service.js";
import { callTool, metadata, tools, within } from "./client.js";

const filter = ListToolsRequest.fromPartial({ tags: ["positions"], view: ToolView.TOOL_VIEW_BASIC });
const listed: AsyncIterable<ListToolsResponse> = tools.listTools(filter, metadata, within(10_000));
for await (const { tool } of listed) console.log(`tool ${tool?.name}: ${tool?.title}`);

const request = {
  target: { $case: "tool", value: "get_quotes" },
  input: { $case: "argumentsJson", value: JSON.stringify({ symbol: "AAPL" }) },
  resultFormat: ResultFormat.RESULT_FORMAT_JSON,
} as const;
const { outcome } = await callTool(request, 10_000);
if (outcome?.$case !== "result") throw new Error("a person must approve this call first");
const result = outcome.value;
if (result.outcome?.$case === "error") throw new Error(result.outcome.value.message);
const quote = JSON.parse(String(result.outcome?.value)).quotes[0];
console.log(`${quote.symbol} costs ${quote.price}, says ${result.provenance?.sourceIds[0]}`);
tools.close();
