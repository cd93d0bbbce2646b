import { queryObjects } from 'node:v8';
import { createToolServer } from 'holdpoint/rap';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { post } from './runtime.ts';

const callSchema = z.object({
  type: z.string(),
  id: z.string(),
  response_url: z.string().optional(),
});

/** How many functions there are, after all garbage is collected: whatever is waited for holds one. */
function functions(): number {
  return queryObjects(Function, { format: 'count' });
}

test('of calls and prompts that are over nothing is kept but the names of the latest calls', async () => {
  const count = 2_000;
  const results = Promise.withResolvers<void>();
  let done = 0;
  const { handler } = createToolServer({
    tools: {
      work: {
        inputSchema: z.unknown(),
        execute: async (_input, { askUser }) =>
          askUser({ prompt: 'May I?', choices: ['Yes', 'No'], default: 1 }),
      },
    },
    maximumRunning: count,
    maximumRemembered: 10,
    fetch: async (...sending) => {
      const sent = callSchema.parse(await new Request(...sending).json());
      if (sent.response_url === undefined) {
        done += 1;
        if (done === count) results.resolve();
      } else {
        await handler(post(sent.response_url, { id: sent.id, selected: 0 }));
      }
      return new Response();
    },
  });
  const before = functions();
  for (let index = 0; index < count; index += 1) {
    const names = { id: String(index), group_id: 'g', callback_url: 'http://localhost/callback' };
    await handler(post('http://localhost/', { ...names, operation: 'work' }));
  }
  await results.promise;
  await new Promise(setImmediate);
  expect(functions() - before).toBeLessThan(count / 4);
});
