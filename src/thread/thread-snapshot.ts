import { z } from 'zod';
import { hashText } from '../content/crypto.ts';
import { stringifySorted } from '../json/json-value.ts';
import { HoldpointError } from '../errors.ts';
import { applyEntry } from './apply-events.ts';
import { readEntryMark } from './log-entry.ts';
import { parseTaggedJson, toJson } from '../json/tagged-json.ts';
import type { EndedRequest, ThreadHead } from './thread-head.ts';
import { makeEmptyThread, EventList, measureThread, type ThreadState } from './thread-state.ts';
import type { LogEntry, ThreadStore } from './thread-store.ts';

/* A snapshot is the state of a thread as text. The entry after it records its digest, so the chain of hashes vouches for it. See ADR 39. */

/*
 * The cost of a snapshot grows with the thread, so it is written when the thread has grown by an eighth: the average cost of an append
 * doesn't depend on the length. Short threads open as fast without one.
 */
const growth = 1 / 8;

/** Checks whether a snapshot is to be written with the next append to a thread. */
export function isSnapshotDue(
  snapshots: NonNullable<ThreadStore['snapshots']>,
  state: Readonly<ThreadState>,
): boolean {
  if (!state.head.created) return false;
  const grown = measureThread(state) - state.snapshotSize;
  return grown >= Math.max(snapshots.every ?? 64, state.snapshotSize * growth);
}

/**
 * The version of the snapshots that are written. Raise it with every change of a snapshot's content, `ThreadHead` above all: a snapshot of
 * another version is not read, and the thread is read whole.
 */
const snapshotVersion = 8;

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isText = (value: unknown): boolean => typeof value === 'string';
/* The lists are as long as the thread, and a schema for each item would take as long as parsing them. */
const listOf = <ITEM>(isItem: (value: unknown) => boolean): z.ZodType<ITEM[]> =>
  z.custom<ITEM[]>((value) => Array.isArray(value) && value.every(isItem));
const objects = listOf<object>(isObject);
const object = z.custom<object>(isObject).optional();

const snapshotSchema = z.strictObject({
  v: z.literal(snapshotVersion),
  threadId: z.string(),
  revision: z.int().min(1),
  hash: z.string(),
  head: z.strictObject({
    created: z.literal(true),
    agent: z.string().optional(),
    parent: object,
    requestedBy: z.unknown().optional(),
    requesters: z.array(z.unknown()),
    isAnswered: z.boolean(),
    steps: z.int(),
    progress: z.unknown().optional(),
    decided: objects,
    run: object,
    failure: object,
    caller: object,
    calls: objects,
    openRequests: objects,
    grants: objects,
    unsentAnswers: objects,
    queuedMessages: objects,
    unanswered: objects,
    modelIsNext: z.boolean(),
    isStopped: z.boolean(),
    isOutOfSteps: z.boolean(),
  } satisfies Record<keyof Omit<ThreadHead, 'newlyPast'>, z.ZodType>),
  messages: objects,
  pastCalls: objects,
  endedRequests: z.array(z.looseObject({ request: z.looseObject({ requestId: z.string() }) })),
  toolCallIds: listOf<string>(isText),
});

/** The content of a snapshot. */
interface SnapshotContent {
  threadId: string;
  /** The end of the log that adds up to it. */
  revision: number;
  hash: string;
  head: Omit<ThreadHead, 'newlyPast'>;
  messages: ThreadState['messages'];
  pastCalls: ThreadState['pastCalls'];
  endedRequests: EndedRequest[];
  toolCallIds: string[];
}

/**
 * The snapshot of a thread as it is stored, and its digest for the entry after it; `undefined` if a value in it is nested too deep to be
 * read again.
 */
export async function takeSnapshot(
  state: Readonly<ThreadState>,
): Promise<{ text: string; digest: string } | undefined> {
  let json: unknown;
  try {
    json = toJson(makeSnapshotContent(state));
  } catch {
    return undefined;
  }
  const text = JSON.stringify(json);
  return { text, digest: await digestSnapshot(text) };
}

/** Counts the entries of a log before the one that names the latest snapshot; 0 if none does. */
export function countBeforeSnapshot(entries: readonly LogEntry[]): number {
  return Math.max(
    0,
    entries.findLastIndex((entry) => readEntryMark(entry).snapshot !== undefined),
  );
}

/**
 * Makes again the snapshot that the next entry of the log names, for a thread that comes from another store, where it was left behind.
 * `undefined` if the entry names none, or if another holdpoint wrote that one in another way.
 */
export async function retakeSnapshot(
  state: Readonly<ThreadState>,
  next: LogEntry | undefined,
): Promise<string | undefined> {
  const told = next && readEntryMark(next).snapshot;
  const snapshot = told === undefined ? undefined : await takeSnapshot(state);
  return snapshot?.digest === told ? snapshot?.text : undefined;
}

/** The content of the snapshot of a thread. */
function makeSnapshotContent({
  threadId,
  head,
  entries,
  messages,
  pastCalls,
  endedRequests,
  toolCallIds,
}: Readonly<ThreadState>): object {
  const { revision, hash } = entries.at(-1) ?? { revision: 0, hash: '' };
  return {
    v: snapshotVersion,
    threadId,
    revision,
    hash,
    head: { ...head, newlyPast: undefined },
    messages,
    pastCalls,
    endedRequests: [...endedRequests.values()],
    toolCallIds: [...toolCallIds],
  };
}

/**
 * Reads the thread at its snapshot; `undefined` if the store has none, if it is not the one that the last of these entries names, or has
 * another version. `entries` are all of the log; the one that names the snapshot remains to be verified and applied. Throws `log-tampered`
 * for a snapshot that is vouched for and invalid, or another thread's.
 */
export async function readSnapshotState(
  { snapshots }: Pick<ThreadStore, 'snapshots'>,
  threadId: string,
  entries: readonly LogEntry[],
): Promise<ThreadState | undefined> {
  const count = snapshots === undefined ? 0 : countBeforeSnapshot(entries);
  const text = count === 0 ? undefined : await snapshots?.read(threadId);
  if (text === undefined) return undefined;
  const behind = entries.slice(0, count);
  const marks = behind.map(readEntryMark);
  const end = marks.at(-1);
  const [told] = entries.slice(count, count + 1).map(readEntryMark);
  if (end === undefined || told?.snapshot !== (await digestSnapshot(text))) return undefined;
  const content = readContent(threadId, text);
  if (content === undefined) return undefined;
  const { revision, hash, head, messages, pastCalls, endedRequests } = content;
  const isOfLog = revision === end.revision && hash === end.hash;
  /* The rows of one thread may have been copied to another one, whose log begins with its own creation. */
  if (!isOfLog || content.threadId !== threadId) throw makeSnapshotError(threadId);
  const empty = makeEmptyThread(threadId);
  const state: ThreadState = {
    ...empty,
    head: { ...empty.head, ...head },
    events: new EventList(behind),
    entries: marks,
    messages,
    pastCalls,
    endedRequests: new Map(endedRequests.map((ended) => [ended.request.requestId, ended])),
    toolCallIds: new Set(content.toolCallIds),
  };
  return { ...state, snapshotSize: measureThread(state) };
}

function readContent(threadId: string, text: string): SnapshotContent | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw makeSnapshotError(threadId);
  }
  if (Reflect.get(Object(json), 'v') !== snapshotVersion) return undefined;
  const value = text.includes('$') && text.includes('"$') ? parseTaggedJson(json) : json;
  if (!snapshotSchema.safeParse(value).success) throw makeSnapshotError(threadId);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has validated its shape, and the chain vouches for the rest.
  return value as SnapshotContent;
}

function makeSnapshotError(threadId: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The snapshot of thread ${threadId} is invalid, although its log vouches for it. Restore the thread from a backup.`,
  );
}

/**
 * Compares the latest snapshot of a log with the state that the entries before it add up to. The thread was read without its snapshot.
 * Throws `log-tampered` if they differ.
 */
export async function verifySnapshot(
  { threadId, entries, events }: Readonly<ThreadState>,
  text: string | undefined,
): Promise<void> {
  const count = entries.findLastIndex(({ snapshot }) => snapshot !== undefined);
  if (text === undefined || (await digestSnapshot(text)) !== entries[count]?.snapshot) return;
  const json: unknown = JSON.parse(text);
  /* Another holdpoint wrote it, and this one opens no thread from it. */
  if (Reflect.get(Object(json), 'v') !== snapshotVersion) return;
  const state = makeEmptyThread(threadId);
  for (const { revision, hash } of entries.slice(0, count)) {
    applyEntry(state, { events: events.slice(state.events.length, revision), hash });
  }
  if (stringifySorted(json) === stringifySorted(toJson(makeSnapshotContent(state)))) return;
  throw new HoldpointError(
    'log-tampered',
    `The snapshot of thread ${threadId} at revision ${state.events.length} differs from the log before it. Restore the thread from a backup.`,
  );
}

/** The digest of a snapshot. */
async function digestSnapshot(text: string): Promise<string> {
  return hashText(`holdpoint/snapshot/v1\0${text}`);
}
