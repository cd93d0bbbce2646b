import { namePrincipal } from '../../content/request-text.ts';
import { awaitUntilAborted } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import { readTenant } from '../../thread/stored-requests.ts';
import type { CallIndex } from './find-call.ts';
import type { ClientCall } from './gate-context.ts';

/**
 * Counts a call of a person until the returned function is called. First waits until it is known for enough of their other calls if a
 * person has to decide. Throws `not-allowed` if too many of them wait for a person.
 */
export async function admitCall(
  { gate: { agent, store, maximumWaiting }, here: { undecided } }: CallIndex,
  { principal }: ClientCall,
  signal: AbortSignal,
): Promise<() => void> {
  const requester = namePrincipal(principal);
  const tenant = readTenant(principal);
  const person = JSON.stringify([tenant, requester]);
  const admit = async (): Promise<(() => void) | undefined> => {
    const waiting = await store.requests?.count({
      state: 'open',
      kind: 'approval',
      at: agent.now(),
      agent: agent.name ?? null,
      ...(tenant !== null && { tenant }),
      ...(requester !== undefined && { requester }),
    });
    /* In parallel: other calls are admitted too. */
    if ((waiting ?? 0) + undecided.count(person) < maximumWaiting) return undecided.begin(person);
    if ((waiting ?? 0) < maximumWaiting) return undefined;
    throw new HoldpointError(
      'not-allowed',
      `Not called: ${maximumWaiting} calls of yours wait for a person already, so nobody was asked about this one. Wait until some of them are decided, and collect their results first.`,
    );
  };
  const admitted = await admit();
  if (admitted !== undefined) return admitted;
  return undecided.inTurn(person, async () => {
    for (;;) {
      /* Subscribed before the store is read, so that nothing is missed in between. */
      const decided = undecided.whenDecided(person);
      const admittedLater = await admit();
      if (admittedLater !== undefined) return admittedLater;
      await awaitUntilAborted(decided, signal);
    }
  });
}
