import { z } from 'zod';
import { sha256 } from '../content/sha256.ts';
import { HoldpointError } from '../errors.ts';
import { deepFreeze } from './deep-freeze.ts';
import { fromJson, toJson } from './tagged-json.ts';
import { type ThreadEvent, threadEventSchema } from './thread-event.ts';
import type { LogEnd, LogEntry } from './thread-store.ts';

/** The version of the entries we write. An entry keeps the version it was written with, for ever. */
export const entryVersion = 1;

/**
 * What makes an entry of version n one of version n + 1, at index n - 1. The logs of released versions stay readable:
 * `test/golden` has one of each.
 */
const upgrades: readonly ((entry: unknown) => unknown)[] = [];

const entrySchema = z.strictObject({
  v: z.literal(entryVersion),
  events: z.array(threadEventSchema).min(1),
  /**
   * The digest of a snapshot: of the whole state of the thread before this entry. Nothing writes one yet; a reader folds the log
   * and needs none. It is here so that a snapshot can be vouched for by the chain without another version.
   */
  snapshot: z.string().optional(),
  hash: z.string(),
});

/** What an entry's text says. */
export interface EntryContent {
  events: readonly ThreadEvent[];
  snapshot?: string | undefined;
  /** Ties the entry to all that came before it. */
  hash: string;
}

/*
 * An entry's text is `{"v":1,"events":[…],"hash":"…"}`. The hash stands last and has a fixed length, so that what it covers is
 * cut off the text instead of being written again.
 */
const hashKey = ',"hash":"';
const hashLength = 43;
const endingLength = hashKey.length + hashLength + '"}'.length;

/* What entries say, for entries that were read or written in this process: a store in memory gives out the same ones again. */
const contents = new WeakMap<LogEntry, EntryContent>();
/* The hash before each entry whose own hash was found right. */
const verified = new WeakMap<LogEntry, string>();

/**
 * The entry that appends `events` to a log that ends here. The events are frozen: what is in memory is what is stored. Throws `invalid-input` for events that could not be read again.
 */
export async function writeEntry(
  events: readonly ThreadEvent[],
  { revision, hash: previous }: LogEnd,
): Promise<LogEntry> {
  refuseUnreadable(events);
  const json = toJson(events);
  const body = `{"v":${entryVersion},"events":${JSON.stringify(json)}`;
  const hash = await hashOf(body, previous);
  const entry = sealed(revision + events.length, `${body}${hashKey}${hash}"}`);
  verified.set(entry, previous);
  /* Bytes can't be frozen: an event that holds some is read from its text each time. */
  if (json === events) contents.set(entry, { events: deepFreeze(events), hash });
  return entry;
}

/** An entry whose text and revision stay as they are. */
export function sealed(revision: number, text: string): LogEntry {
  return Object.freeze({ revision, text });
}

/** What an entry says. Throws `unsupported-version` for an entry of a newer holdpoint, `log-tampered` for what none wrote. */
export function readEntry(entry: LogEntry): EntryContent {
  const known = contents.get(entry);
  if (known !== undefined) return known;
  const { text } = entry;
  const json = upgraded(parseJson(text));
  /* Most entries have no `$` at all, and looking for one character is ten times faster than for two. */
  const hasTags = text.includes('$') && text.includes('"$');
  const value = hasTags ? fromJson(json) : json;
  const parsed = entrySchema.safeParse(value);
  if (!parsed.success) {
    throw new HoldpointError(
      'log-tampered',
      `The log holds an entry that holdpoint did not write: ${z.prettifyError(parsed.error)}`,
    );
  }
  /* What was parsed, not zod's copy of it, which has its keys in another order: the text stays the same everywhere. */
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has just said so.
  const said = value as EntryContent;
  const content = hasTags ? said : frozen(said);
  if (!hasTags && Object.isFrozen(entry)) contents.set(entry, content);
  return content;
}

function frozen(content: EntryContent): EntryContent {
  try {
    return deepFreeze(content);
  } catch (cause) {
    throw new HoldpointError('log-tampered', 'The log holds something that is nested too deep.', {
      cause,
    });
  }
}

/** The events of an entry, for stores and tools that look inside. Errors as for opening a thread. */
export function eventsOf(entry: LogEntry): readonly ThreadEvent[] {
  return readEntry(entry).events;
}

/**
 * Throws `log-tampered`, with the revision, unless the entry follows a log that ends here, and is as it was written.
 */
export async function verifyEntry(
  entry: LogEntry,
  { revision, hash: previous }: LogEnd,
): Promise<EntryContent> {
  /* The text first: what holdpoint did not write is not worth reading. */
  if (verified.get(entry) !== previous && !(await isRight(entry.text, previous))) {
    /* Where it can't be read at all, that says more. */
    readEntry(entry);
    throw changed(revision + 1);
  }
  const content = readEntry(entry);
  if (entry.revision !== revision + content.events.length) throw changed(revision + 1);
  if (Object.isFrozen(entry)) verified.set(entry, previous);
  return content;
}

/** Whether a text ends with the hash of all before it. */
async function isRight(text: string, previous: string): Promise<boolean> {
  const body = text.slice(0, -endingLength);
  return text === `${body}${hashKey}${await hashOf(body, previous)}"}`;
}

/** The hash of the last entry of a whole log; `''` for an empty one. Throws as `verifyEntry` does. */
export async function verifyEntries(entries: readonly LogEntry[]): Promise<string> {
  let end: LogEnd = { revision: 0, hash: '' };
  for (const entry of entries) {
    const { hash } = await verifyEntry(entry, end);
    end = { revision: entry.revision, hash };
  }
  return end.hash;
}

/** An entry as part of the JSON form of a thread. */
export interface EntryJson {
  v: number;
  events: readonly unknown[];
  snapshot?: string;
  hash: string;
}

/** The entry as part of the JSON form of a thread: what its text says, in the same order of keys. */
export function entryJson({ events, snapshot, hash }: EntryContent): EntryJson {
  const noted = snapshot === undefined ? {} : { snapshot };
  return { v: entryVersion, events: events.map((event) => toJson(event)), ...noted, hash };
}

/* SHA-256, base64url, over the hash of the entry before and the entry's own text up to its hash. */
function hashOf(body: string, previous: string): string | Promise<string> {
  return sha256(`holdpoint/log-entry/v1\0${previous}${body}`);
}

function changed(revision: number): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log was changed: what it holds from revision ${revision} on is not what was recorded there, or what came before it is not.`,
  );
}

/*
 * Whatever an app, a tool or a provider gave: one unreadable event in a log would make all of it unreadable. A time that is not a
 * number, say.
 */
function refuseUnreadable(events: readonly ThreadEvent[]): void {
  for (const event of events) {
    const { error } = threadEventSchema.safeParse(event);
    if (error === undefined) continue;
    throw new HoldpointError(
      'invalid-input',
      `This can't be recorded: '${event.type}', ${z.prettifyError(error)}`,
    );
  }
}

const versionedSchema = z.looseObject({ v: z.int().min(1) });

function upgraded(json: unknown): unknown {
  const versioned = versionedSchema.safeParse(json);
  if (!versioned.success) {
    throw new HoldpointError('log-tampered', 'The log holds an entry without a version.');
  }
  const { v: version } = versioned.data;
  if (version > entryVersion) {
    throw new HoldpointError(
      'unsupported-version',
      `The thread has an entry of version ${version}; this holdpoint reads up to ${entryVersion}. Upgrade holdpoint to open it.`,
    );
  }
  return upgrades.slice(version - 1).reduce((entry, upgrade) => upgrade(entry), json);
}

/** `JSON.parse` whose failure is ours. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoldpointError('log-tampered', 'The log holds text that is not JSON.', { cause });
  }
}
