// The tool service that the environment names: TOOLWIRE_SERVER, and TOOLWIRE_CA and TOOLWIRE_TOKEN if it needs them.

import { readFileSync } from "node:fs";

import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { ToolService } from "../gen/es/toolwire/v1/tool_service_pb.js";

const { TOOLWIRE_SERVER = "http://127.0.0.1:50051", TOOLWIRE_CA, TOOLWIRE_TOKEN } = process.env;

const authorize: Interceptor = (next) => (request) => {
  if (TOOLWIRE_TOKEN) request.header.set("authorization", `Bearer ${TOOLWIRE_TOKEN}`);
  return next(request);
};

const transport = createGrpcTransport({
  baseUrl: TOOLWIRE_SERVER,
  interceptors: [authorize],
  nodeOptions: TOOLWIRE_CA ? { ca: readFileSync(TOOLWIRE_CA) } : {},
});

export const tools = createClient(ToolService, transport);
