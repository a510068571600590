// What a Node agent backend does with Toolwire, through @grpc/grpc-js and static stubs generated from proto/.
// Usage: node client.test.js HOST:PORT, of a server started with --diagnostics.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, ClientReadableStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { ErrorInfo, ResourceInfo } from 'nice-grpc-error-details';
import { Status } from 'nice-grpc-error-details/lib/proto/google/rpc/status';

import { BrokerageServiceClient, GetPositionsRequest, GetPositionsResponse, GetQuotesRequest } from './gen/toolwire/brokerage/v1/brokerage_service';
import type { CallEvent } from './gen/toolwire/v1/event';
import { ErrorOrigin, ResultFormat, type ToolResult, ToolErrorCode } from './gen/toolwire/v1/result';
import { type ToolDefinition, ToolView } from './gen/toolwire/v1/tool';
import {
  CallToolRequest,
  CallToolResponse,
  CancelCallRequest,
  CancelCallResponse,
  InvokeToolRequest,
  InvokeToolResponse,
  ListToolsRequest,
  ListToolsResponse,
  ToolServiceClient,
} from './gen/toolwire/v1/tool_service';

// The bound on calls that are expected to end by themselves: a hung call fails its test.
const LIMIT = 10_000;
// Promise 2 allows 100 ms from a reset to the tool's stop; a loaded machine gets more.
const STOPS_WITHIN = 500;
const ATTEMPTS = 20;

const address = process.argv[2];
assert.ok(address, 'usage: node client.test.js HOST:PORT');
const tools = new ToolServiceClient(address, credentials.createInsecure());
const brokerage = new BrokerageServiceClient(address, credentials.createInsecure());
after(() => [tools, brokerage].forEach((client) => client.close()));

const within = (limit = LIMIT) => ({ deadline: Date.now() + limit });

type Method<Q, R> = (
  request: Q,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null, response: R) => void,
) => unknown;

function unary<Q, R>(client: Client, method: Method<Q, R>, request: Q, limit?: number): Promise<R> {
  return new Promise((resolve, reject) => {
    method.call(client, request, new Metadata(), within(limit), (error, response) =>
      error ? reject(error) : resolve(response),
    );
  });
}

const callTool = (request: Parameters<typeof CallToolRequest.fromPartial>[0], limit?: number) =>
  unary<CallToolRequest, CallToolResponse>(tools, tools.callTool, CallToolRequest.fromPartial(request), limit);

const cancelCall = (callId: string) =>
  unary<CancelCallRequest, CancelCallResponse>(tools, tools.cancelCall, { call: { $case: 'callId', value: callId } });

const tool = (value: string) => ({ $case: 'tool', value }) as const;
const args = (value: Record<string, unknown>) => ({ $case: 'arguments', value }) as const;
const json = (value: string) => ({ $case: 'argumentsJson', value }) as const;

function invoke(request: Parameters<typeof InvokeToolRequest.fromPartial>[0], limit?: number) {
  return tools.invokeTool(InvokeToolRequest.fromPartial(request), new Metadata(), within(limit));
}

async function next(events: AsyncIterator<InvokeToolResponse>): Promise<CallEvent> {
  const { value, done } = await events.next();
  assert.ok(!done && value.event, 'the stream ended early');
  return value.event;
}

async function all(stream: ClientReadableStream<InvokeToolResponse>): Promise<CallEvent[]> {
  const events: CallEvent[] = [];
  for await (const response of stream) events.push((response as InvokeToolResponse).event!);
  return events;
}

const kinds = (events: CallEvent[]) => events.map((event) => event.event?.$case);

function resultOf(outcome: CallEvent['event'] | CallToolResponse['outcome']): ToolResult {
  assert.ok(outcome?.$case === 'result', `expected a result, not ${outcome?.$case}`);
  return outcome.value;
}

function dataOf(result: ToolResult): Record<string, any> {
  assert.ok(result.outcome?.$case === 'data', `expected data, not ${JSON.stringify(result.outcome)}`);
  return result.outcome.value!;
}

function errorOf(result: ToolResult) {
  assert.ok(result.outcome?.$case === 'error', `expected an error, not ${result.outcome?.$case}`);
  return result.outcome.value;
}

async function failure(call: Promise<unknown>): Promise<ServiceError> {
  return call.then(
    () => assert.fail('the call succeeded'),
    (error: ServiceError) => error,
  );
}

// The google.rpc details of a failed call, encoded, by message name.
function detailsOf(error: ServiceError): Map<string, Uint8Array> {
  const [encoded] = error.metadata.get('grpc-status-details-bin');
  assert.ok(encoded instanceof Buffer, `no details in ${error.message}`);
  const { code, message, details } = Status.decode(encoded);
  assert.equal(code, error.code);
  assert.equal(message, error.details);
  const byName = new Map(details.map(({ typeUrl, value }) => [typeUrl.split('/').at(-1)!, value]));
  assert.equal(byName.size, details.length, 'each kind of detail comes once');
  const info = ErrorInfo.decode(byName.get('google.rpc.ErrorInfo')!);
  assert.equal(info.domain, 'toolwire');
  assert.match(info.reason, /^[A-Z][A-Z0-9_]*$/);
  return byName;
}

async function listTools(): Promise<ToolDefinition[]> {
  const listed: ToolDefinition[] = [];
  const stream = tools.listTools(ListToolsRequest.fromPartial({ view: ToolView.TOOL_VIEW_FULL_JSON }), new Metadata(), within());
  for await (const response of stream) listed.push((response as ListToolsResponse).tool!);
  return listed;
}

test('the server is healthy', async () => {
  const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
    const bytes = (value: Buffer) => value;
    // Both messages are trivial: an empty request, and a response whose field 1 is 1 (SERVING).
    tools.makeUnaryRequest('/grpc.health.v1.Health/Check', bytes, bytes, Buffer.alloc(0), new Metadata(), within(), (error, value) =>
      error ? reject(error) : resolve(value),
    );
  });
  assert.deepEqual(answer, Buffer.from([0x08, 0x01]));
});

test('tools are listed in order of name with schema and digest', async () => {
  const listed = await listTools();
  const names = listed.map(({ name }) => name);
  assert.deepEqual(names, [...names].sort());
  for (const name of ['get_quotes', 'get_positions', 'rank_portfolio', 'debug_sleep']) assert.ok(names.includes(name), name);
  for (const { name, description, digest, inputSchemaJson } of listed) {
    assert.ok(description, name);
    assert.match(digest, /^[0-9a-f]{64}$/, name);
    assert.equal(JSON.parse(inputSchemaJson).type, 'object', name);
  }
});

test('a call streams accepted and then its result', async () => {
  const events = await all(invoke({ target: tool('get_quotes'), input: args({ symbol: 'AAPL' }) }));
  assert.equal(kinds(events).at(0), 'accepted');
  assert.deepEqual(events.map(({ sequence }) => sequence), events.map((_, position) => position));
  const result = resultOf(events.at(-1)!.event);
  assert.deepEqual(result.provenance?.sourceIds, ['tool:quotes:v1']);
  assert.equal(dataOf(result).quotes[0].price, 193.12);
});

test('a unary call answers as JSON when asked', async () => {
  const response = await callTool({
    target: tool('get_quotes'),
    input: json('{"symbol":"AAPL"}'),
    resultFormat: ResultFormat.RESULT_FORMAT_JSON,
  });
  const { outcome } = resultOf(response.outcome);
  assert.ok(outcome?.$case === 'dataJson');
  assert.equal(JSON.parse(outcome.value).quotes[0].price, 193.12);
});

test('a typed call returns what the tool returns', async () => {
  const typed = await unary<GetPositionsRequest, GetPositionsResponse>(brokerage, brokerage.getPositions, { symbol: 'AAPL' });
  const untyped = dataOf(resultOf((await callTool({ target: tool('get_positions'), input: args({ symbol: 'AAPL' }) })).outcome));
  const numbers = ({ symbol, quantity, cost, total }: Record<string, unknown>) => ({ symbol, quantity, cost, total });
  assert.deepEqual(
    typed.data?.positions.map((p) => numbers({ ...p, cost: p.costBasis, total: p.totalCost })),
    untyped.positions.map((p: any) => numbers({ ...p, cost: p.cost_basis, total: p.total_cost })),
  );
  assert.equal(typed.data?.position?.quantity, untyped.position.quantity);
});

test('cancelling in mid-stream ends the call at the server', async () => {
  const stream = invoke({ target: tool('debug_sleep'), input: args({ duration: '60s', progress_interval: '0.1s' }) });
  const events = stream[Symbol.asyncIterator]();
  const { callId } = await next(events);
  assert.equal((await next(events)).event?.$case, 'progress');
  stream.cancel();
  const error = await failure((async () => { while (!(await events.next()).done); })());
  assert.equal(error.code, status.CANCELLED);
  // The tool would run for a minute: that no such call is running now means that the reset stopped it.
  await sleep(STOPS_WITHIN);
  assert.equal((await cancelCall(callId)).cancelled, false);
});

test('a call is cancelled by its id', async () => {
  const events = invoke({ target: tool('debug_sleep'), input: args({ duration: '60s' }) })[Symbol.asyncIterator]();
  const { callId } = await next(events);
  assert.equal((await cancelCall(callId)).cancelled, true);
  const error = errorOf(resultOf((await next(events)).event));
  assert.equal(error.code, ToolErrorCode.TOOL_ERROR_CODE_CANCELLED);
  assert.equal(error.message, 'Request was cancelled');
});

test('a deadline ends a stream and a unary call', async () => {
  const request = { target: tool('debug_sleep'), input: args({ duration: '5s' }) };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    assert.equal((await failure(all(invoke(request, 200)))).code, status.DEADLINE_EXCEEDED);
    assert.equal((await failure(callTool(request, 200))).code, status.DEADLINE_EXCEEDED);
  }
});

test('an unknown tool is not found with details', async () => {
  const error = await failure(callTool({ target: tool('get_quote'), input: args({ symbol: 'AAPL' }) }));
  assert.equal(error.code, status.NOT_FOUND);
  assert.match(error.details, /get_quotes/, 'near names are named');
  const resource = ResourceInfo.decode(detailsOf(error).get('google.rpc.ResourceInfo')!);
  assert.equal(resource.resourceName, 'get_quote');
});

test('arguments that are not JSON are a mistake in the result', async () => {
  const events = await all(invoke({ target: tool('get_quotes'), input: json('{symbol: AAPL') }));
  assert.deepEqual(kinds(events), ['result']);
  const error = errorOf(resultOf(events[0].event));
  assert.equal(error.code, ToolErrorCode.TOOL_ERROR_CODE_INVALID_ARGUMENT);
  assert.equal(error.fieldViolations[0].rule, 'json');
});

test('a typed call fails with a status and details', async () => {
  const request = GetQuotesRequest.fromPartial({ symbol: 'NOSUCH' });
  const error = await failure(unary(brokerage, brokerage.getQuotes, request));
  assert.equal(error.code, status.NOT_FOUND);
  detailsOf(error);
});

test('arguments that break the schema are a result with every violation', async () => {
  const events = await all(invoke({ target: tool('get_quotes'), input: args({ symbl: 'AAPL' }) }));
  assert.deepEqual(kinds(events), ['result']);
  const error = errorOf(resultOf(events[0].event));
  assert.equal(error.code, ToolErrorCode.TOOL_ERROR_CODE_INVALID_ARGUMENT);
  assert.equal(error.origin, ErrorOrigin.ERROR_ORIGIN_CALLER);
  const pointers = new Map(error.fieldViolations.map(({ rule, pointer }) => [rule, pointer]));
  assert.ok(pointers.has('required'));
  assert.equal(pointers.get('additionalProperties'), '/symbl');
});
