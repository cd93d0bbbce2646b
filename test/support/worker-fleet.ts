import { type AgentOptions, approve, type ThreadStore } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { scriptedModel } from './scripted-model.ts';
import { book, type Ran, travelTools, travelWorld } from './travel-world.ts';

/** Threads with one approved call each that has not run yet. */
export async function answeredThreads(
  store: ThreadStore,
  threadIds: readonly string[],
  options: Partial<AgentOptions> = {},
): Promise<void> {
  const asking = scriptedModel([{ calls: [book('c1', 'Paris')] }], { repeat: true });
  const inbox = travelWorld(asking, () => store).agent(options);
  for (const id of threadIds) {
    const { thread, approvalRequests } = await inbox.run('Book', await inbox.thread(id));
    await inbox.respond(
      approvalRequests.map((request) => approve(request)),
      thread,
    );
  }
}

/** How often a store was asked for what. */
export interface Counted {
  store: ThreadStore;
  counts: { read: number; claim: number; head: number; append: number };
}

/** The store, counting. */
export function counting(store: ThreadStore): Counted {
  const counts = { read: 0, claim: 0, head: 0, append: 0 };
  return {
    counts,
    store: {
      ...store,
      read: async (...input) => ((counts.read += 1), store.read(...input)),
      claim: async (...input) => ((counts.claim += 1), store.claim(...input)),
      head: async (...input) => ((counts.head += 1), store.head(...input)),
      append: async (...input) => ((counts.append += 1), store.append(...input)),
    },
  };
}

/** Workers that run all that is due, each on the store that `open` gives it, until as many threads as there are have ended. */
export async function runFleet(
  open: () => ThreadStore,
  { workers, threads }: { workers: number; threads: number },
  options: Partial<Parameters<typeof runWorker>[0]> = {},
): Promise<Ran[]> {
  const ran: Ran[] = [];
  const stopping = new AbortController();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let ended = 0;
  const working = Array.from({ length: workers }, async () => {
    const store = open();
    const played = scriptedModel([{ text: 'Done.' }], { repeat: true });
    const agent = travelWorld(played, () => store).agent({ tools: travelTools(ran) });
    agent.on('run-ended', () => {
      ended += 1;
      if (ended === threads) resolve();
    });
    return runWorker({ agent, store, signal: stopping.signal, ...options });
  });
  await Promise.race([done, ...working]);
  stopping.abort();
  await Promise.all(working);
  return ran;
}
