import type { ThreadStore } from 'holdpoint';
import { z } from 'zod';
import { askInbox, openInbox } from './bench-inbox.ts';

/** What a page asks of the handler, by name. */
const asked = {
  'first page of mine': '/api/requests',
  'first page of mine, by expiry': '/api/requests?order=expires',
  'first page of all': '/api/requests?list=all',
  'a search that finds nothing in what it reads': '/api/requests?text=zenith',
  'what was decided last': '/api/requests?list=decided',
  counts: '/api/counts',
  'one request, with 10 earlier decisions': '/api/requests/open-5',
};

const foundNothing = 'a search that finds nothing in what it reads';

const bodySchema = z.object({
  entries: z.array(z.unknown()).optional(),
  earlier: z.array(z.unknown()).optional(),
});

/** How long the handler takes for what a page asks, in milliseconds, for somebody in two teams among 100,000 open requests. */
export async function timeHandler(
  store: ThreadStore,
  rounds: number,
): Promise<Map<string, number[]>> {
  const handler = openInbox(store);
  const times = new Map(Object.keys(asked).map((name): [string, number[]] => [name, []]));
  /* The first rounds fill caches. */
  for (let round = -3; round < rounds; round += 1) {
    for (const [name, path] of Object.entries(asked)) {
      const begin = performance.now();
      const response = await askInbox(handler, path);
      const { entries, earlier } = bodySchema.parse(await response.json());
      const took = performance.now() - begin;
      const wanted = name === foundNothing ? 0 : 50;
      const isShort = entries !== undefined && entries.length !== wanted;
      if (isShort || (earlier !== undefined && earlier.length !== 10)) {
        throw new Error(`${name} is not as it should be.`);
      }
      if (round >= 0) times.get(name)?.push(took);
    }
  }
  return times;
}
