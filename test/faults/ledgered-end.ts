import { eventsIn } from '../support/events-in.ts';
import { audit } from './auditor.ts';
import { ledgeredAgent, type LedgeredThread, sendNext } from './ledgered-agent.ts';

/** What a thread came to, by what its processes left behind. */
export async function faultsOf({
  threadId: id,
  store,
  ledgers,
}: LedgeredThread): Promise<string[]> {
  return audit({
    events: await eventsIn(store, id),
    effects: ledgers.effects.read(),
    prompts: ledgers.prompts.read(),
    acknowledged: ledgers.acknowledged.read(),
    gated: new Set(['book']),
  });
}

/** Sends all that is due, an hour later; tools know what they did. Gives the statuses. */
export async function sendAll(thread: LedgeredThread): Promise<string[]> {
  const reconcile = ({ idempotencyKey }: { idempotencyKey: string }) => {
    const done = thread.ledgers.effects.read();
    const isDone = done.some((effect) => effect.idempotencyKey === idempotencyKey);
    return isDone ? ({ status: 'succeeded', output: 'It is done.' } as const) : undefined;
  };
  const agent = ledgeredAgent(thread, {
    toolRecovery: { book: { reconcile }, look: { reconcile } },
    now: () => Date.now() + 3_600_000,
  });
  const replies = [await sendNext(agent, thread)];
  while (replies.length < 5 && replies.at(-1) === 'waiting') {
    replies.push(await sendNext(agent, thread));
  }
  return replies;
}
