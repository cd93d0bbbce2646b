import { tool } from 'ai';
import { memoryStore } from 'holdpoint';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, travelWorld } from '../support/travel-world.ts';

/** An hour, in milliseconds. */
export const hour = 3_600_000;
/** How long a run of these agents holds a thread. */
export const leaseMs = 60_000;

/**
 * A thread that waits for two approvals, and processes whose clocks are off by what the test says. A booking takes until
 * `end` is resolved, or as long as its process is told.
 */
export async function waitingWorld(expiresAfterMs = 10 * hour) {
  const store = memoryStore();
  const time = { now: 100 * hour };
  const script = [{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }, { text: 'Done.' }];
  const world = travelWorld(scriptedModel(script), () => store);
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const slow = (until: Promise<void>) =>
    tool({
      description: 'book a flight',
      inputSchema: cityInput,
      execute: async (input) => {
        world.ran.push({ name: 'book', input, idempotencyKey: undefined });
        begun.resolve();
        await until;
        return { booked: input.city };
      },
    });
  const agentOff = (byMs: number, until = end.promise) =>
    world.agent({
      tools: { book: slow(until) },
      toolApproval: { book: () => ({ type: 'user-approval', expiresAfterMs }) },
      now: () => time.now + byMs,
      leaseMs,
    });
  const asking = agentOff(0);
  const { approvalRequests } = await asking.run('Book', await asking.thread('t'));
  const [paris, rome] = approvalRequests.map((request) => request.approve());
  if (paris === undefined || rome === undefined) throw new Error('Nothing is asked.');
  return { store, time, world, begun: begun.promise, end, agentOff, paris, rome };
}

/** The cities that were really booked, in the order of the bookings. */
export function booked({ world }: Awaited<ReturnType<typeof waitingWorld>>): unknown[] {
  return world.ran.map(({ input }) => cityInput.parse(input).city);
}
