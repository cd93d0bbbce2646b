import { sha256 } from '../content/sha256.ts';
import { HoldpointError } from '../errors.ts';
import { encodeEvent, takeText } from './event-text.ts';
import type { NewThreadEvent, ThreadEvent } from './thread-event.ts';

/**
 * Gives events their hashes: SHA-256, base64url, over the hash of the event before (`previous`; none before the first) and
 * the event's own text. Whoever changes an event, or leaves one out, breaks all that follow.
 */
export async function chain(
  events: readonly NewThreadEvent[],
  previous: string,
): Promise<ThreadEvent[]> {
  const chained: ThreadEvent[] = [];
  let last = previous;
  for (const event of events) {
    last = await hashOf(encodeEvent(event), last);
    chained.push({ ...event, hash: last });
  }
  return chained;
}

/* Frozen events that were found in order, with the hash before them: what the memory store gives out again and again. */
const verified = new WeakMap<ThreadEvent, string>();

/** Throws `log-tampered`, with the revision, at the first event that is not what was appended after `before`. */
export async function verifyChain(
  events: readonly ThreadEvent[],
  before: readonly ThreadEvent[] = [],
): Promise<void> {
  let previous = before.at(-1)?.hash ?? '';
  for (const [index, event] of events.entries()) {
    if (verified.get(event) !== previous) {
      const hash = await hashOf(textWithoutHash(event), previous);
      if (hash !== event.hash) throw tampered(before.length + index + 1);
      if (Object.isFrozen(event)) verified.set(event, previous);
    }
    previous = event.hash;
  }
}

function textWithoutHash(event: ThreadEvent): string {
  const text = takeText(event);
  const ending = `,"hash":${JSON.stringify(event.hash)}}`;
  return text.endsWith(ending) ? `${text.slice(0, -ending.length)}}` : text;
}

function hashOf(text: string, previous: string): string | Promise<string> {
  return sha256(`holdpoint/thread-event/v1\0${previous}${text}`);
}

function tampered(revision: number): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log was changed: revision ${revision} is not what was recorded there, or what came before it is not.`,
  );
}
