// A server by MCP's TypeScript SDK: over standard input and output, or at http://127.0.0.1:PORT/mcp with PORT.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const found = z.object({ query: z.string(), hits: z.number() });

function shop() {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const search = { description: 'Searches the documents.', inputSchema: z.object({ query: z.string() }), outputSchema: found };
  server.registerTool('search', search, async ({ query }) => {
    const structuredContent = { query, hits: query.length };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });
  server.registerTool('greet', { description: 'Greets.', inputSchema: z.object({ name: z.string() }) }, async ({ name }) => ({
    content: [{ type: 'text', text: `Hello, ${name}!` }],
  }));
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, async () => ({
    isError: true,
    content: [{ type: 'text', text: 'the shop is closed' }],
  }));
  server.registerTool('wait', { description: 'Waits.', inputSchema: z.object({ seconds: z.number() }) }, async ({ seconds }) => {
    await sleep(seconds * 1000);
    return { content: [{ type: 'text', text: 'waited' }] };
  });
  return server;
}

const port = process.argv[2];
if (port) {
  const answer = toNodeHandler(createMcpHandler(shop));
  createServer(answer).listen(Number(port), '127.0.0.1', () => console.log('listening'));
} else {
  serveStdio(shop);
}
