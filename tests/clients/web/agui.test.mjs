// Conversations by AG-UI's own client, in both versions that are in use: chat, tool events, interrupt, resume, stop.
// Usage: node --test agui.test.mjs, with URL naming a server whose add_to_watchlist needs approval.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';

const server = process.env.URL;
const clients = {
  '1.0.0': await import('@ag-ui/client'),
  '0.0.59': await import('ag-ui-client-0'),
};
const stocks = { '1.0.0': ['Infosys', 'Wipro'], '0.0.59': ['Titan', 'Cipla'] };

const conversation = ({ HttpAgent }) => {
  const agent = new HttpAgent({ url: `${server}/copilotkit/stream`, threadId: randomUUID() });
  const told = [];
  const subscriber = { onEvent: ({ event }) => { told.push(event); } };
  const run = (parameters = {}) => agent.runAgent({ runId: randomUUID(), ...parameters }, subscriber);
  const say = (content) => {
    agent.addMessage({ id: randomUUID(), role: 'user', content });
    return run();
  };
  const types = () => told.map((event) => event.type);
  const last = () => agent.messages.at(-1);
  return { agent, told, run, say, types, last };
};

for (const [version, client] of Object.entries(clients)) {
  describe(`@ag-ui/client ${version}`, () => {
    it('answers a question by calling a tool, with its citation in the state', async () => {
      const { agent, say, types, last } = conversation(client);
      await say('What is Apple trading at?');
      assert.match(last().content, /193\.12/);
      assert.deepEqual(agent.state.citations, ['tool:quotes:v1']);
      const call = agent.messages.find((message) => message.toolCalls?.length);
      assert.equal(call.toolCalls[0].function.name, 'get_quotes');
      const result = agent.messages.find((message) => message.role === 'tool');
      assert.equal(result.toolCallId, call.toolCalls[0].id);
      assert.equal(JSON.parse(result.content).data.quotes[0].price, 193.12);
      assert.equal(types()[0], 'RUN_STARTED');
      assert.equal(types().at(-1), 'RUN_FINISHED');
    });

    it('remembers what was said in the thread', async () => {
      const { say, last } = conversation(client);
      await say('What is Apple trading at?');
      await say('And Microsoft?');
      assert.match(last().content, /420\.55/);
    });

    it('goes on for thirty turns, with all that was said before in each request', async () => {
      const { agent, say, last } = conversation(client);
      const questions = ['What is Apple trading at?', 'How is my Apple position doing?', 'And Microsoft?'];
      for (let turn = 0; turn < 30; turn += 1) {
        await say(questions[turn % questions.length]);
        assert.ok(last().content.length > 20, `turn ${turn}, ${agent.messages.length} messages`);
      }
    });

    it('names an image that it does not read, and goes on', async () => {
      const { say, last } = conversation(client);
      const image = { type: 'image', source: { type: 'url', value: 'https://e.example/a.png', mimeType: 'image/png' } };
      await say([{ type: 'text', text: 'What is Apple trading at?' }, image]);
      assert.match(last().content, /193\.12[^]*Not taken into account: image/);
      await say('What is Microsoft trading at? \ud83d');
      await say('And Apple?');
      assert.match(last().content, /193\.12/);
    });

    for (const approved of [true, false]) {
      it(`pauses for a person and goes on once a call is ${approved ? 'approved' : 'denied'}`, async () => {
        const { agent, told, run, say, types } = conversation(client);
        await say(`Add ${stocks[version][approved ? 0 : 1]} to my watchlist`);
        const [interrupt, ...others] = agent.pendingInterrupts;
        assert.equal(others.length, 0);
        assert.equal(interrupt.reason, 'tool_call');
        const call = agent.messages.find((message) => message.toolCalls?.length).toolCalls[0];
        assert.equal(interrupt.toolCallId, call.id);
        assert.equal(call.function.name, 'add_to_watchlist');
        told.length = 0;
        await run({ resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { approved } }] });
        assert.equal(agent.pendingInterrupts.length, 0);
        assert.equal(types().at(-1), 'RUN_FINISHED');
        assert.ok(!types().includes('TOOL_CALL_START'), 'the call is not told again');
        const result = agent.messages.find((message) => message.role === 'tool');
        assert.equal(result.toolCallId, call.id);
        assert.equal(JSON.parse(result.content).success, approved);
      });
    }

    it('asks again about what nobody has decided', async () => {
      const { agent, run, say } = conversation(client);
      await say('Add Maruti to my watchlist');
      const [{ id }] = agent.pendingInterrupts;
      await run({ resume: [{ interruptId: id, status: 'resolved' }] });
      assert.equal(agent.pendingInterrupts[0].id, id);
      await run({ resume: [{ interruptId: id, status: 'cancelled' }] });
      assert.equal(agent.pendingInterrupts.length, 0);
    });

    it('is told in words what is wrong with a run', async () => {
      const { agent, run } = conversation(client);
      agent.addMessage({ id: randomUUID(), role: 'user', content: '' });
      await assert.rejects(run(), /400|INVALID_REQUEST/);
    });
  });
}
