// The tool service that the environment names: TOOLWIRE_SERVER, and TOOLWIRE_CA and TOOLWIRE_TOKEN if it needs them.

import { readFileSync } from "node:fs";

import { credentials, Metadata } from "@grpc/grpc-js";

import { CallToolRequest, type CallToolResponse, ToolServiceClient } from "../gen/ts-proto/toolwire/v1/tool_service.js";

const { TOOLWIRE_SERVER = "http://127.0.0.1:50051", TOOLWIRE_CA, TOOLWIRE_TOKEN } = process.env;

const server = new URL(TOOLWIRE_SERVER);
const roots = TOOLWIRE_CA ? readFileSync(TOOLWIRE_CA) : null;
const channel = server.protocol === "http:" ? credentials.createInsecure() : credentials.createSsl(roots);
export const tools = new ToolServiceClient(server.host, channel);

// Goes with every call.
export const metadata = new Metadata();
if (TOOLWIRE_TOKEN) metadata.set("authorization", `Bearer ${TOOLWIRE_TOKEN}`);

// The deadline of a call is an instant, not a time span.
export const within = (milliseconds: number) => ({ deadline: Date.now() + milliseconds });

type Fields = Parameters<typeof CallToolRequest.fromPartial>[0];

// The library answers unary calls by callback.
export function callTool(fields: Fields, milliseconds: number): Promise<CallToolResponse> {
  const request = CallToolRequest.fromPartial(fields);
  return new Promise((resolve, reject) => {
    tools.callTool(request, metadata, within(milliseconds), (error, response) =>
      error ? reject(error) : resolve(response),
    );
  });
}
