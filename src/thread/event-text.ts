import { z } from 'zod';
import { HoldpointError } from '../errors.ts';
import { fromJson, toJson } from './tagged-json.ts';
import { type NewThreadEvent, type ThreadEvent, threadEventSchema } from './thread-event.ts';

/** The version of the events we write. An event keeps the version it was written with, for ever. */
export const eventVersion = 1;

/**
 * What makes an event of version n one of version n + 1, at index n - 1. Released writers' events stay readable:
 * `test/golden` has a log of each version.
 */
const upgrades: readonly ((event: unknown) => unknown)[] = [];

const versionPrefix = `{"v":${eventVersion},`;
const versionedSchema = z.looseObject({ v: z.int().min(1) });
const eventsSchema = z.array(threadEventSchema);

/* The texts that events were read from, until they are verified: writing them anew takes as long as all the reading. */
const readFrom = new WeakMap<ThreadEvent, string>();

/** The text that an event was read from, to verify it once; written anew where it came otherwise. */
export function takeText(event: ThreadEvent): string {
  const text = readFrom.get(event) ?? encodeEvent(event);
  readFrom.delete(event);
  return text;
}

/**
 * Throws `invalid-input` for events that could not be read again: a time that is no number, say. Whatever an app, a tool or a provider
 * gave, one of these in a log would make all of it unreadable.
 */
export function refuseUnreadable(events: readonly ThreadEvent[]): void {
  for (const event of events) {
    const { error } = threadEventSchema.safeParse(event);
    if (error === undefined) continue;
    throw new HoldpointError(
      'invalid-input',
      `This can't be recorded: '${event.type}', ${z.prettifyError(error)}`,
    );
  }
}

/** The text of an event, as stores keep it: one JSON object that begins with its version, `v`. */
export function encodeEvent(event: ThreadEvent | NewThreadEvent): string {
  return versionPrefix + JSON.stringify(toJson(event)).slice(1);
}

/**
 * The events of texts that `encodeEvent` wrote. Throws `unsupported-version` for what a newer holdpoint wrote
 * and `log-tampered` for what none did.
 */
export function decodeEvents(texts: readonly string[]): ThreadEvent[] {
  const current = texts.map((text) =>
    text.startsWith(versionPrefix) ? `{${text.slice(versionPrefix.length)}` : upgradeText(text),
  );
  const joined = `[${current.join(',')}]`;
  const events = parseEvents(parseJson(joined), joined);
  /* One text can hold several events, or part of one; then none is known. */
  if (events.length === texts.length) {
    for (const [index, event] of events.entries()) readFrom.set(event, texts[index] ?? '');
  }
  return events;
}

/** Events out of parsed JSON; `text` is what they were parsed from, and is only searched. */
export function parseEvents(json: unknown, text: string): ThreadEvent[] {
  /* Most logs have no `$` at all, and looking for one character is ten times faster than for two. */
  const events = text.includes('$') && text.includes('"$') ? fromJson(json) : json;
  const parsed = eventsSchema.safeParse(events);
  /* What was parsed, not zod's copy of it, which has its keys in another order: the log's text stays the same everywhere. */
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has just said so.
  if (parsed.success) return events as ThreadEvent[];
  throw new HoldpointError(
    'log-tampered',
    `The log holds an event that holdpoint did not write: ${z.prettifyError(parsed.error)}`,
  );
}

/** Events of an older version, made current; events of a newer one are refused. */
export function upgradeEvent(event: unknown, version: number): unknown {
  if (version > eventVersion) {
    throw new HoldpointError(
      'unsupported-version',
      `The thread has an event of version ${version}; this holdpoint reads up to ${eventVersion}. Upgrade holdpoint to open it.`,
    );
  }
  return upgrades.slice(version - 1).reduce((upgraded, upgrade) => upgrade(upgraded), event);
}

function upgradeText(text: string): string {
  const parsed = versionedSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new HoldpointError('log-tampered', 'The log holds an event without a version.');
  }
  const { v: version, ...event } = parsed.data;
  return JSON.stringify(upgradeEvent(event, version));
}

/** `JSON.parse` whose failure is ours. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoldpointError('log-tampered', 'The log holds text that is not JSON.', { cause });
  }
}
