import { type Agent, type AgentThread, createAgent, memoryStore } from 'holdpoint';
import { createCallbackHandler, createToolServer, remoteTool } from 'holdpoint/rap';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

const secret = 'a secret of the tests, 32 bytes or more';
const signing = { secret: `whsec_${btoa('another secret, of thirty-two bytes')}` };
const inputSchema = z.object({ service: z.string() });

/** An agent and a tool server of this package, on two origins that only these two know. */
function bothSides() {
  const { model, prompts } = scriptedModel([
    { calls: [{ id: 'c1', name: 'deploy', input: { service: 'shop' } }] },
    { text: 'Done.' },
  ]);
  const serves = new Map<string, (request: Request) => Promise<Response>>();
  const net: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const serve = serves.get(new URL(request.url).host);
    return serve === undefined ? Response.error() : serve(request);
  };
  const stopped = Promise.withResolvers<unknown>();
  const server = createToolServer({
    tools: {
      deploy: {
        inputSchema,
        async execute({ service }, { askUser, signal }) {
          signal.addEventListener('abort', stopped.resolve);
          const choices = ['Staging', 'Production', 'Nowhere'];
          const { label } = await askUser({ prompt: `Where to, ${service}?`, choices, default: 2 });
          return label === 'Nowhere' ? 'Error: The user said no.' : `${service} is on ${label}`;
        },
      },
    },
    baseUrl: 'https://tools.test',
    signing,
    fetch: net,
  });
  const tools = {
    deploy: remoteTool({
      description: 'Deploys a service.',
      inputSchema,
      endpoint: 'https://tools.test/deploy',
      callbackUrl: 'https://agent.test/callback',
      secret,
      signing,
      fetch: net,
    }),
  };
  const agent = createAgent({ model, tools, store: memoryStore() });
  serves.set('tools.test', server.handler);
  serves.set('agent.test', createCallbackHandler({ agent, tools }));
  return { agent, prompts, stopped: stopped.promise };
}

async function askedThread(agent: Agent): Promise<AgentThread> {
  return vi.waitFor(async () => {
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
    const { agent, prompts } = bothSides();
    const asked = await agent.run('Deploy the shop.', await agent.thread('t'));
    expect(asked.status).toBe('waiting');
    const thread = await askedThread(agent);
    const [request] = thread.activeRequests;
    if (request?.type !== 'question-request') throw new Error('A question was expected.');
    const answers = [{ key: request.fields[0]?.key ?? '', optionIds: [row.pick] }];
    const { requestId } = request;
    const response = { type: 'question-response', requestId, status: 'answered', answers } as const;
    await agent.run(response, thread);
    await vi.waitFor(async () => {
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
  const { agent, stopped } = bothSides();
  await agent.run('Deploy the shop.', await agent.thread('t'));
  const thread = await askedThread(agent);
  await agent.cancel(thread);
  expect(await stopped).toBeInstanceOf(Event);
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});
