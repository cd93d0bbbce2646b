import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { hashText } from '../content/crypto.ts';
import { HoldpointError } from '../errors.ts';
import { freezeDeep } from '../json/json-value.ts';
import { parseTaggedJson, toJson } from '../json/tagged-json.ts';
import { refuseUnreadable, type ThreadEvent, threadEventSchema } from './thread-event.ts';
import type { LogEnd, LogEntry } from './thread-store.ts';

/** The version of the entries that are written. An entry keeps the version with which it was written. See ADR 19. */
export const entryVersion = 1;

/**
 * The upgrade of an entry from version n to n + 1 is at index n - 1. Logs of released versions stay readable: `test/golden` has one of
 * each.
 */
const upgrades: readonly ((entry: unknown) => unknown)[] = [];

const entrySchema = z.strictObject({
  v: z.literal(entryVersion),
  events: z.array(threadEventSchema).min(1),
  /** The digest of a snapshot of the thread before this entry: `thread-snapshot.ts`. */
  snapshot: z.string().optional(),
  hash: z.string(),
});

/** The end of an entry of the log, its hash, and the digest of the snapshot of the thread before it. */
export interface EntryMark extends LogEnd {
  snapshot?: string | undefined;
}

/** The content of an entry's text. */
export interface EntryContent {
  events: readonly ThreadEvent[];
  snapshot?: string | undefined;
  /** Covers this entry and all entries before it. */
  hash: string;
}

/*
 * The text of an entry is `{"v":1,"events":[…],"hash":"…"}`. The hash comes last and has a fixed length, so that the text that it covers
 * can be sliced off instead of being serialized again.
 */
const hashKey = ',"hash":"';
const hashLength = 43;
const endingLength = hashKey.length + hashLength + '"}'.length;

const snapshotKey = ',"snapshot":"';
const snapshotLength = snapshotKey.length + hashLength + '"'.length;

/** Reads the end of an entry, its hash and its snapshot from its last characters. They are right only if the chain is. */
export function readEntryMark({ revision, text }: LogEntry): EntryMark {
  const hash = text.slice(-hashLength - '"}'.length, -'"}'.length);
  const at = text.length - endingLength - snapshotLength;
  const isNoted = text.startsWith(snapshotKey, at);
  const snapshot = isNoted ? text.slice(at + snapshotKey.length, -endingLength - 1) : undefined;
  return { revision, hash, snapshot };
}

/** The facts that this process has found out about an entry. */
interface EntryFacts {
  content?: EntryContent;
  /** The hash of the entry before it, once it is verified. */
  previous?: string;
}

/**
 * An entry that can't be changed. Known facts about it are kept with it, out of others' reach: `memoryStore` returns the same objects
 * again.
 */
class SealedEntry implements LogEntry {
  readonly revision: number;
  readonly text: string;
  readonly #facts: EntryFacts;

  constructor({ revision, text }: LogEntry, facts: EntryFacts = {}) {
    this.revision = revision;
    this.text = text;
    this.#facts = facts;
    Object.freeze(this);
  }

  /** Finds the place for the known facts of an entry; none for an entry that is not sealed. */
  static factsOf(entry: LogEntry): EntryFacts | undefined {
    return #facts in entry ? entry.#facts : undefined;
  }
}

/**
 * Makes the entry that appends `events` to a log that ends here; `snapshot` is the digest of a snapshot of the thread before it. It freezes
 * the events, so that memory and store stay equal. Throws `invalid-input` for events that could not be read again.
 */
export function writeEntry(
  events: readonly ThreadEvent[],
  { revision, hash: previous }: LogEnd,
  snapshot?: string,
): LogEntry | Promise<LogEntry> {
  for (const event of events) refuseUnreadable(event);
  const parts: object[] = [];
  const json = toJson(events, 0, parts);
  const noted = snapshot === undefined ? '' : `${snapshotKey}${snapshot}"`;
  const body = `{"v":${entryVersion},"events":${JSON.stringify(json)}${noted}`;
  const seal = (hash: string): LogEntry => {
    const made = { revision: revision + events.length, text: `${body}${hashKey}${hash}"}` };
    /* Bytes can't be frozen, so events that hold bytes are parsed from the text each time. */
    if (json !== events) return new SealedEntry(made, { previous });
    for (const part of parts) Object.freeze(part);
    return new SealedEntry(made, { previous, content: { events, snapshot, hash } });
  };
  const hash = hashEntry(body, previous);
  return typeof hash === 'string' ? seal(hash) : hash.then(seal);
}

/** Seals an entry. A sealed one is not copied, so that it is parsed and verified only once. */
export function sealEntry(entry: LogEntry): LogEntry {
  return SealedEntry.factsOf(entry) === undefined ? new SealedEntry(entry) : entry;
}

/** The content of an entry. Throws `unsupported-version` for an entry of a newer holdpoint, `log-tampered` for an invalid one. */
export function readEntry(entry: LogEntry): EntryContent {
  const facts = SealedEntry.factsOf(entry);
  if (facts?.content !== undefined) return facts.content;
  const { text } = entry;
  const json = upgradeEntry(parseJson(text));
  /* Most entries have no `$`, and searching for one character is ten times faster than for two. */
  const hasTags = text.includes('$') && text.includes('"$');
  const value = hasTags ? parseTaggedJson(json) : json;
  const parsed = entrySchema.safeParse(value);
  if (!parsed.success) {
    throw new HoldpointError(
      'log-tampered',
      `The log has an invalid entry: ${renderSchemaError(parsed.error)}`,
    );
  }
  /* Not zod's copy, which has its keys in another order: the entry must serialize to the same text again. */
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has just validated it.
  const valid = value as EntryContent;
  const content = hasTags ? valid : freezeContent(valid);
  if (facts !== undefined && !hasTags) facts.content = content;
  return content;
}

function freezeContent(content: EntryContent): EntryContent {
  try {
    return freezeDeep(content);
  } catch (cause) {
    throw new HoldpointError('log-tampered', 'The log has a value that is nested too deep.', {
      cause,
    });
  }
}

/**
 * Decodes the events of an entry, for tools that read a store. Throws `unsupported-version` and `log-tampered`, as opening a thread does.
 */
export function eventsOf(entry: LogEntry): readonly ThreadEvent[] {
  return readEntry(entry).events;
}

/**
 * Verifies that an entry follows a log that ends here and was not changed. Throws `log-tampered` with the revision otherwise.
 */
export function verifyEntry(entry: LogEntry, end: LogEnd): EntryContent | Promise<EntryContent> {
  const { text } = entry;
  const facts = SealedEntry.factsOf(entry);
  if (facts?.previous === end.hash) return readFollowingContent(entry, end);
  const body = text.slice(0, -endingLength);
  const check = (hash: string): EntryContent => {
    const isRight = text === `${body}${hashKey}${hash}"}`;
    const content = readFollowingContent(entry, end);
    /* After the content is read: a text that can't be parsed has a more precise error. */
    if (!isRight) throw makeChangedLogError(end.revision + 1);
    if (facts !== undefined) facts.previous = end.hash;
    return content;
  };
  const hash = hashEntry(body, end.hash);
  return typeof hash === 'string' ? check(hash) : hash.then(check);
}

function readFollowingContent(entry: LogEntry, { revision }: LogEnd): EntryContent {
  const content = readEntry(entry);
  if (entry.revision !== revision + content.events.length) throw makeChangedLogError(revision + 1);
  return content;
}

/** An entry as part of the JSON form of a thread. */
export interface EntryJson {
  v: number;
  events: readonly unknown[];
  snapshot?: string;
  hash: string;
}

/** The entry as part of the JSON form of a thread: the content of its text, with keys in the same order. */
export function toEntryJson({ events, snapshot, hash }: EntryContent): EntryJson {
  const noted = snapshot === undefined ? {} : { snapshot };
  return { v: entryVersion, events: events.map((event) => toJson(event)), ...noted, hash };
}

/* SHA-256, as base64url, of the hash of the previous entry and the text of this one up to its hash. */
function hashEntry(body: string, previous: string): string | Promise<string> {
  return hashText(`holdpoint/log-entry/v1\0${previous}${body}`);
}

function makeChangedLogError(revision: number): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log was changed at revision ${revision} or earlier: it differs from what was recorded. Restore the thread from a backup.`,
  );
}

const versionedSchema = z.looseObject({ v: z.int().min(1) });

function upgradeEntry(json: unknown): unknown {
  if (Reflect.get(Object(json), 'v') === entryVersion) return json;
  const versioned = versionedSchema.safeParse(json);
  if (!versioned.success) {
    throw new HoldpointError('log-tampered', 'The log has an entry without a version.');
  }
  const { v: version } = versioned.data;
  if (version > entryVersion) {
    throw new HoldpointError(
      'unsupported-version',
      `The log has an entry of version ${version}, but this holdpoint reads versions up to ${entryVersion}. Upgrade holdpoint to open the thread.`,
    );
  }
  return upgrades.slice(version - 1).reduce((entry, upgrade) => upgrade(entry), json);
}

/** `JSON.parse`, but throws a `HoldpointError`. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoldpointError('log-tampered', 'The log has an entry that is not JSON.', { cause });
  }
}
