import type { Agent, AgentThread } from 'holdpoint';
import { expect, test } from 'vitest';
import { bothSides } from './both-sides.ts';
import { waitFor } from '../support/waiting.ts';

const signing = { secret: `whsec_${btoa('another secret, of thirty-two bytes')}` };

/** Both sides, signed, of a tool that asks where to deploy; and the event that stops it. */
function signedSides() {
  const stopped = Promise.withResolvers<unknown>();
  const sides = bothSides({
    serverOptions: { signing },
    toolOptions: { signing },
    async execute({ service }, { askUser, signal }) {
      signal.addEventListener('abort', stopped.resolve);
      const choices = ['Staging', 'Production', 'Nowhere'];
      const { label } = await askUser({ prompt: `Where to, ${service}?`, choices, default: 2 });
      return label === 'Nowhere' ? 'Error: The user said no.' : `${service} is on ${label}`;
    },
  });
  return { ...sides, stopped: stopped.promise };
}

async function askedThread(agent: Agent): Promise<AgentThread> {
  return waitFor(async () => {
    const thread = await agent.thread('t');
    expect(thread.activeRequests).toHaveLength(1);
    return thread;
  });
}

test.each([
  { pick: '1', told: 'shop is on Production' },
  { pick: '2', told: 'Error: The user said no.' },
])(
  'S0-33: a remote tool of this package asks through this package, signed, and the model sees but the result: $told',
  async (row) => {
    const { agent, prompts } = signedSides();
    const asked = await agent.run('Deploy the shop.', await agent.thread('t'));
    expect(asked.status).toBe('waiting');
    const thread = await askedThread(agent);
    const [request] = thread.activeRequests;
    if (request?.type !== 'question-request') throw new Error('A question was expected.');
    const answers = [{ key: request.fields[0]?.key ?? '', optionIds: [row.pick] }];
    const { requestId } = request;
    const response = { type: 'question-response', requestId, status: 'answered', answers } as const;
    await agent.run(response, thread);
    await waitFor(async () => {
      expect((await agent.thread('t')).calls[0]?.outcome).toBeDefined();
    });
    const { text } = await agent.run([], await agent.thread('t'));
    expect(text).toBe('Done.');
    const prompt = JSON.stringify(prompts.at(-1));
    expect(prompt).toContain(row.told);
    expect(prompt).not.toContain('Where to');
  },
);

test('O0-09: a call that is cancelled here stops there', async () => {
  const { agent, stopped } = signedSides();
  await agent.run('Deploy the shop.', await agent.thread('t'));
  const thread = await askedThread(agent);
  await agent.cancel(thread);
  expect(await stopped).toBeInstanceOf(Event);
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});

test.each([
  {
    metadata: { clientName: 'files' },
    call: { status: 'failed', outcome: { error: 'Error: The service is locked.' } },
  },
  { metadata: undefined, call: { status: 'succeeded' } },
])('a refusal of an MCP server that a tool server passes on has $call.status here', async (row) => {
  const content = [{ type: 'text', text: 'The service is locked.' }];
  const execute = async () => ({ content, isError: true });
  const { agent } = bothSides({ execute, metadata: row.metadata });
  await agent.run('Deploy the shop.', await agent.thread('t'));
  const [call] = await waitFor(async () => {
    const { calls } = await agent.thread('t');
    expect(calls[0]?.outcome).toBeDefined();
    return calls;
  });
  expect(call).toMatchObject(row.call);
});
