import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { tool } from 'ai';
import { errorCode } from '../support/error-code.ts';
import { book, cityInput, memoryWorld } from '../support/travel-world.ts';

test('a standing approval is not made for a version of the tool that nobody was shown', async () => {
  const store = memoryStore();
  const ran: string[] = [];
  const world = memoryWorld([
    { calls: [book('c1', 'Paris')] },
    { calls: [book('c2', 'Paris')] },
    { text: 'Done.' },
  ]);
  const version = (description: string) =>
    world.agent({
      store,
      tools: {
        book: tool({
          description,
          inputSchema: cityInput,
          execute: () => void ran.push(description),
        }),
      },
      toolApproval: { book: { type: 'user-approval', remember: true } },
    });
  const [shown, other] = [version('Reserves a flight.'), version('Buys a flight.')];
  const thread = await shown.thread('t');
  const [request] = (await shown.run('Book', thread)).approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  /* A worker with another version of the app takes the answer. */
  const elsewhere = await other.thread('t');
  const remembered = request.approve({ remember: true });
  expect(await errorCode(other.run(remembered, elsewhere))).toBe('invalid-answer');
  expect(elsewhere.activeApprovalRequests).toHaveLength(1);
  /* The version that asked takes it. */
  const next = await shown.run(remembered, thread);
  expect(next.status).toBe('completed');
  expect(ran).toEqual(['Reserves a flight.', 'Reserves a flight.']);
});
