import type { ThreadStore } from 'holdpoint';
import type { RequestQuery } from '../../../src/thread/thread-store-requests.ts';

const mine = ['ada', 'finance', 'legal'];

/** The pages of an inbox that are timed. Of the agents, `booking` has a third of the requests and `rare` a thousandth. */
const pages: Record<string, RequestQuery> = {
  'the oldest': {},
  'by risk': { order: 'risk' },
  'of a tenant': { tenant: 'tenant-8' },
  'of an agent': { agent: 'booking' },
  'of an agent with 0.1 % of the rows': { agent: 'rare' },
  'for a person (three names)': { approver: mine },
  'for a person, by risk': { approver: mine, order: 'risk' },
  'for a person, of an agent': { approver: mine, agent: 'booking' },
  'for a person, of an agent with 0.1 %': { approver: mine, agent: 'rare' },
  'what was decided last': { state: 'decided', order: 'decided' },
  'what was decided last, of an agent with 0.1 %': {
    agent: 'rare',
    state: 'decided',
    order: 'decided',
  },
};

/** How long the store takes for each page of an inbox, in milliseconds. */
export async function timeStore(
  { requests }: ThreadStore,
  rounds: number,
): Promise<Map<string, number[]>> {
  const times = new Map(Object.keys(pages).map((name): [string, number[]] => [name, []]));
  /* The first rounds fill caches. */
  for (let round = -10; round < rounds; round += 1) {
    for (const [name, query] of Object.entries(pages)) {
      const begin = performance.now();
      const rows = await requests?.list({ state: 'open', at: 10, ...query });
      const took = performance.now() - begin;
      if (rows === undefined || rows.length < 99) throw new Error(`The page ${name} is short.`);
      if (round >= 0) times.get(name)?.push(took);
    }
  }
  return times;
}
