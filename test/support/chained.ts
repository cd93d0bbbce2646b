import { createHash } from 'node:crypto';
import type { LogEntry, ThreadEvent } from 'holdpoint';
import type { LogEnd } from '../../src/thread/thread-store.ts';

/*
 * The chain of hashes as its documentation describes it, made without holdpoint's own code: for tests that write events by
 * hand, and for a forger who knows all that is public.
 */
function sealedText(entry: object, previous: string): { text: string; hash: string } {
  const body = JSON.stringify(entry).slice(0, -1);
  const hash = createHash('sha256')
    .update(`holdpoint/log-entry/v1\0${previous}${body}`)
    .digest('base64url');
  return { text: `${body},"hash":"${hash}"}`, hash };
}

/** Where a log ends that has these entries at its end. */
export function endOf(entries: readonly LogEntry[]): LogEnd {
  const last = entries.at(-1);
  if (last === undefined) return { revision: 0, hash: '' };
  const { hash }: { hash: string } = JSON.parse(last.text);
  return { revision: last.revision, hash };
}

/** The entry that appends these events to a log that ends there. Bytes and URLs in them are not known here. */
export function chained(
  events: readonly ThreadEvent[],
  { revision, hash }: LogEnd = endOf([]),
): LogEntry {
  const { text } = sealedText({ v: 1, events }, hash);
  return { revision: revision + events.length, text };
}

/** The entries of these appends, one after the other. */
export function chainedEach(
  appends: readonly (readonly ThreadEvent[])[],
  end: LogEnd = endOf([]),
): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const events of appends) {
    entries.push(chained(events, entries.length === 0 ? end : endOf(entries)));
  }
  return entries;
}

/** The JSON form of a thread whose log has these entries. */
export function threadJsonOf(entries: readonly LogEntry[]) {
  const written: unknown[] = entries.map(({ text }) => JSON.parse(text));
  const { revision } = endOf(entries);
  return { type: 'holdpoint-thread', version: 1, threadId: 't', revision, entries: written };
}

/** The JSON form of a thread with all its hashes, and its length, recomputed; any other value is unchanged. */
export function rechainedJson(text: string): string {
  const json = parsed(text);
  if (!isObject(json) || !('entries' in json) || !Array.isArray(json.entries)) return text;
  let last = '';
  const written = json.entries.map((entry: unknown) => {
    if (!isObject(entry)) return entry;
    const { hash: _hash, ...bare } = { hash: undefined, ...entry };
    const sealed = sealedText(bare, last);
    last = sealed.hash;
    return { ...bare, hash: last };
  });
  return JSON.stringify({ ...json, revision: eventCount(written), entries: written });
}

function eventCount(entries: readonly unknown[]): number {
  const counts = entries.map((entry) => {
    const events: unknown = Reflect.get(Object(entry), 'events');
    return Array.isArray(events) ? events.length : 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
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
