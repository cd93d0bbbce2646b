import { expect, test } from 'vitest';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { memoryWorld, book } from '../support/travel-world.ts';

test('a thread whose provider failed is resumed, with the options of a run', async () => {
  const world = memoryWorld([{ fail: 'overloaded' }, { calls: [book('c1', 'Paris')] }]);
  const seen: unknown[] = [];
  const agent = world.agent({
    toolApproval: {
      book: (_input: unknown, { runtimeContext }: { runtimeContext?: unknown }) => {
        seen.push(runtimeContext);
        return 'user-approval';
      },
    },
  });
  const thread = await agent.thread('t');
  await expect(agent.run('Book.', thread)).rejects.toThrow('overloaded');
  const response = await agent.resume(thread, { runtimeContext: { tenant: 'acme' } });
  expect([response.status, seen]).toEqual(['waiting', [{ tenant: 'acme' }]]);
  const { approvalRequests } = await agent.resume(thread);
  expect(approvalRequests).toEqual(response.approvalRequests);
  // @ts-expect-error -- a resumed thread takes no message
  await expect(agent.resume('Go on.', thread)).rejects.toThrow('Pass a thread');
});

test('a custom agent is resumed the same way', async () => {
  let steps = 0;
  const agent = createCustomAgent({
    step: () => {
      steps += 1;
      if (steps === 1) throw new Error('overloaded');
      return { text: 'Done.' };
    },
  });
  const thread = await agent.thread('t');
  await expect(agent.run('Go.', thread)).rejects.toThrow('overloaded');
  expect(await agent.resume(thread)).toMatchObject({ status: 'completed', text: 'Done.' });
});
