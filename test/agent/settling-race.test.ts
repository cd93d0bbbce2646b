import { tool } from 'ai';
import { expect, test } from 'vitest';
import { book, cityInput, memoryWorld } from '../support/travel-world.ts';

/*
 * The fault: a call that settled while the run looked at approvals was taken for recorded, and the model was asked
 * without its result. When that is, in microtasks, depends on everything around; so every moment is tried.
 */
test.each(['runs at once', 'was approved'])(
  'a call that %s is recorded, whenever it settles',
  async (how) => {
    for (let moment = 0; moment < 80; moment += 1) {
      const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
      const slow = tool({
        description: 'book',
        inputSchema: cityInput,
        needsApproval: how === 'was approved',
        execute: async () => {
          for (let tick = 0; tick < moment; tick += 1) await Promise.resolve();
          return 'booked';
        },
      });
      const agent = world.agent({ tools: { book: slow }, toolApproval: {} });
      const thread = await agent.thread('t');
      let response = await agent.run('Book', thread);
      while (response.approvalRequests.length > 0) {
        const answers = response.approvalRequests.map((request) => request.approve());
        response = await agent.run(answers, thread);
      }
      expect(response, `settled after ${moment} microtasks`).toMatchObject({ status: 'completed' });
      expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
    }
  },
);
