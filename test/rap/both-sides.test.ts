import type { Agent, AgentThread } from 'holdpoint';
import { expect, test, vi } from 'vitest';
import { bothSides } from './agent-and-tool-server.ts';

const signing = { secret: `whsec_${btoa('another secret, of thirty-two bytes')}` };

async function askedThread(agent: Agent): Promise<AgentThread> {
  return vi.waitFor(async () => {
    const thread = await agent.thread('t');
    expect(thread.activeRequests).toHaveLength(1);
    return thread;
  });
}

test.each([
  { pick: '1', result: 'shop is on Production' },
  { pick: '2', result: 'Error: The user said no.' },
])(
  'S0-33: a remote tool of this package asks through this package, signed, and the model sees but the result: $result',
  async (row) => {
    const { agent, prompts } = bothSides({ signing }, { signing });
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
    expect(prompt).toContain(row.result);
    expect(prompt).not.toContain('Where to');
  },
);

test('O0-09: a call that is cancelled here stops there', async () => {
  const { agent, stopped } = bothSides({ signing }, { signing });
  await agent.run('Deploy the shop.', await agent.thread('t'));
  const thread = await askedThread(agent);
  await agent.cancel(thread);
  expect(await stopped).toBeInstanceOf(Event);
  expect(thread.calls).toMatchObject([{ status: 'failed' }]);
});
