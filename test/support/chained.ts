import { createHash } from 'node:crypto';
import type { NewThreadEvent, ThreadEvent } from 'holdpoint';

/*
 * The chain of hashes as its documentation describes it, made without holdpoint's own code: for tests that write events by
 * hand, and for a forger who knows all that is public.
 */
function hashAfter(previous: string, event: object): string {
  const text = `{"v":1,${JSON.stringify(event).slice(1)}`;
  return createHash('sha256')
    .update(`holdpoint/thread-event/v1\0${previous}${text}`)
    .digest('base64url');
}

/** Events with the hashes they have after one whose hash is `previous`. Bytes and URLs in them are not known here. */
export function chained(
  events: readonly (NewThreadEvent | ThreadEvent)[],
  previous = '',
): ThreadEvent[] {
  let last = previous;
  return events.map((event) => {
    const bare = withoutHash(event);
    last = hashAfter(last, bare);
    return { ...bare, hash: last };
  });
}

function withoutHash(event: NewThreadEvent | ThreadEvent): NewThreadEvent {
  if (!('hash' in event)) return event;
  const { hash: _hash, ...bare } = event;
  return bare;
}

/** The JSON form of a thread with these events. */
export function threadJsonOf(events: readonly ThreadEvent[]) {
  const { length: revision } = events;
  return { type: 'holdpoint-thread', version: 1, threadId: 't', revision, events };
}

/** The JSON form of a thread with all its hashes, and its length, made anew; what is no such form stays as it is. */
export function rechainedJson(text: string): string {
  const json = parsed(text);
  if (!isObject(json) || !('events' in json) || !Array.isArray(json.events)) return text;
  let last = '';
  const events = json.events.map((event: unknown) => {
    if (!isObject(event)) return event;
    const { hash: _hash, ...bare } = { hash: undefined, ...event };
    last = hashAfter(last, bare);
    return { ...bare, hash: last };
  });
  return JSON.stringify({ ...json, revision: events.length, events });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
