import type { ThreadStore } from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { z } from 'zod';

const mine = ['ada', 'finance', 'legal'];

/** What a page asks of the handler, by name. */
const asked = {
  'first page of mine': '/api/requests',
  'first page of mine, by expiry': '/api/requests?order=expires',
  'first page of all': '/api/requests?list=all',
  'what was decided last': '/api/requests?list=decided',
  counts: '/api/counts',
};

const pageSchema = z.object({ entries: z.array(z.unknown()).optional() });

/** How long the handler takes for what a page asks, in milliseconds, for somebody in two teams among 100,000 open requests. */
export async function timeHandler(
  store: ThreadStore,
  rounds: number,
): Promise<Map<string, number[]>> {
  const handler = createInboxHandler({
    store,
    now: () => 10,
    mayAnswer: ({ request }) =>
      request.type === 'question-request' ||
      request.approvers === undefined ||
      request.approvers.some((name) => mine.includes(name)),
    authorize: () => ({ principal: 'ada', as: mine }),
  });
  const times = new Map(Object.keys(asked).map((name): [string, number[]] => [name, []]));
  /* The first rounds fill caches. */
  for (let round = -3; round < rounds; round += 1) {
    for (const [name, path] of Object.entries(asked)) {
      const begin = performance.now();
      const response = await handler(new Request(`http://localhost/inbox${path}`));
      const { entries } = pageSchema.parse(await response.json());
      const took = performance.now() - begin;
      const isShort = entries !== undefined && entries.length < 50;
      if (response.status !== 200 || isShort) throw new Error(`${name} is not as it should be.`);
      if (round >= 0) times.get(name)?.push(took);
    }
  }
  return times;
}
