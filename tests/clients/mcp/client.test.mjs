// MCP's TypeScript client, unchanged, over each transport and in each era.
// BINARY is the program, ADDRESS the server's for gRPC, URL its HTTP listener's, started with --diagnostics --http; STATE
// is a directory for the program's own state.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const { BINARY, ADDRESS, STATE, URL: BASE } = process.env;
const ERAS = { '2026-07-28': { pin: '2026-07-28' }, auto: 'auto', '2025-11-25': 'legacy' };
const WAYS = {
  http: () => new StreamableHTTPClientTransport(new URL(`${BASE}/mcp`)),
  server: () => new StdioClientTransport({ command: BINARY, args: ['mcp', '--server', `http://${ADDRESS}`] }),
  own: () => new StdioClientTransport({ command: BINARY, args: ['mcp', '--diagnostics', '--state', STATE] }),
};
const LIMIT = { timeout: 20_000 };

for (const [era, mode] of Object.entries(ERAS)) {
  for (const [way, transport] of Object.entries(WAYS)) {
    describe(`${way}, ${era}`, LIMIT, () => {
      const client = new Client({ name: 'gate', version: '1' }, { versionNegotiation: { mode } });
      const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
      before(() => client.connect(transport()));
      after(() => client.close());

      test('the tools are listed, and stay what the client validates results by', async () => {
        const { tools, nextCursor } = await client.listTools();
        assert.equal(nextCursor, undefined);
        assert.ok(tools.length > 50);
        const quotes = tools.find((tool) => tool.name === 'get_quotes');
        assert.equal(quotes.annotations.readOnlyHint, true);
        const result = await call('get_quotes', { symbol: 'AAPL' });
        assert.equal(result.structuredContent.quotes[0].price, 193.12);
        assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
      });

      test('what an agent can mend is a result and begins with its code', async () => {
        const result = await call('get_performance', { timefram: 'YTD' });
        assert.equal(result.isError, true);
        assert.equal(result.structuredContent, undefined);
        assert.match(result.content[0].text, /^FAILED INVALID_ARGUMENT: /);
      });

      test('an unknown tool is an error of the protocol', async () => {
        await assert.rejects(call('get_quote', {}), { code: -32602 });
      });

      test('progress rises', async () => {
        const heard = [];
        await call('debug_sleep', { duration: '0.6s', progress_interval: '0.1s' }, { onprogress: (it) => heard.push(it.progress) });
        assert.ok(heard.length >= 3, `${heard}`);
        assert.deepEqual(heard, [...new Set(heard)].sort((one, other) => one - other));
      });

      test('a write whose client gave up is not made again by its repeat', async () => {
        const writes = async (args, options) => (await call('debug_write', args, options)).structuredContent.writes;
        const before = await writes({ value: randomUUID() });
        const slow = { value: randomUUID(), duration: '0.6s' };
        await assert.rejects(writes(slow, { timeout: 200 }), /timed out/);
        // Once the write has ended: while it is under way an equal call is its repeat in any case.
        await sleep(1_000);
        assert.equal(await writes(slow), before + 1);
        assert.equal(await writes({ value: randomUUID() }), before + 2);
      });

      test('a call that is aborted ends, and the next one is answered', async () => {
        const leaving = new AbortController();
        const left = assert.rejects(call('debug_sleep', { duration: '30s' }, { signal: leaving.signal }));
        await sleep(300);
        leaving.abort();
        await left;
        assert.equal((await call('get_quotes', { symbol: 'AAPL' })).isError ?? false, false);
      });

      test('a write that is repeated under its name is done once', async () => {
        const args = { value: 'x', request_id: randomUUID() };
        const [first, again] = [await call('debug_write', args), await call('debug_write', args)];
        assert.deepEqual(first.structuredContent, again.structuredContent);
      });
    });
  }
}
