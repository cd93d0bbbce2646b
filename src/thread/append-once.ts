import { isKeptByStore } from '../content/approval-terms.ts';
import type { Grant } from '../content/grant.ts';
import { HoldpointError } from '../errors.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { GrantChange, LogEnd, LogEntry, ThreadStore, ThreadSummary } from './thread-store.ts';

/** An entry, the log end that it follows, and the summary to store with it. */
interface Append {
  end: LogEnd;
  entry: LogEntry;
  summary: ThreadSummary;
  /** The changes of the store's standing approvals; absent for most appends. */
  grants?: GrantChange[] | undefined;
  /** The text of the snapshot that the entry tells of; absent for most appends. */
  snapshot?: string | undefined;
}

/**
 * Appends an entry, even if the store's reply is lost. Returns false if somebody else appended first, in which case nothing was written.
 * Throws the store's error if nothing was written, or if that can't be determined.
 */
export async function appendOnce(
  store: ThreadStore,
  threadId: string,
  append: Append,
): Promise<boolean> {
  const { end, entry, summary, grants, snapshot } = append;
  /* A store gets no argument that it does not need. */
  const more: [GrantChange[]?, string?] =
    snapshot !== undefined ? [grants, snapshot] : grants !== undefined ? [grants] : [];
  const write = async (): Promise<void> => store.append(threadId, end, [entry], summary, ...more);
  try {
    await write();
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    /* The store has answered: nothing was written. */
    if (isGrantEnded(error)) throw error;
    return isStored(write, () => store.read(threadId, end.revision), { entry, error });
  }
}

/**
 * Whether the entry of a write that failed is stored. The entry is written again, which waits for the first write if that is still in
 * progress: one of the two then fails with a conflict, and the entry that is stored shows which write succeeded.
 */
async function isStored(
  write: () => Promise<void>,
  read: () => Promise<LogEntry[]>,
  { entry, error }: { entry: LogEntry; error: unknown },
): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (again) {
    /* A grant that has ended stays so: the first write can't succeed any more, even if it is still in progress. */
    if (isGrantEnded(again)) throw again;
    if (!isConflict(again)) throw error;
  }
  const [stored] = await read().catch(() => {
    throw error;
  });
  return stored?.text === entry.text;
}

function isGrantEnded(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'grant-ended';
}

/** Whether an error means that the log does not end where a store was asked to append or delete. */
export function isConflict(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'revision-conflict';
}

/** What events change in the store's standing approvals, which are wider than one thread; `undefined` if nothing. */
export function listGrantChanges(events: readonly ThreadEvent[]): GrantChange[] | undefined {
  const changes: GrantChange[] = [];
  for (const event of events) {
    if (event.type === 'grant-created' && isKeptByStore(event.grant.scope)) {
      changes.push({ type: 'create', grant: toStoredGrant(event.grant) });
    }
    if (event.type === 'grant-used' && isKeptByStore(event.scope)) {
      changes.push({ type: 'use', grantId: event.grantId, at: event.at });
    }
    if (event.type === 'grant-revoked' && event.scope !== undefined) {
      changes.push({ type: 'revoke', grantId: event.grantId });
    }
  }
  return changes.length === 0 ? undefined : changes;
}

function toStoredGrant(grant: Grant): Extract<GrantChange, { type: 'create' }>['grant'] {
  const { grantId, agent = null, toolName, person = null, createdAt, expiresAt, uses } = grant;
  return {
    grantId,
    agent,
    toolName,
    person,
    text: JSON.stringify(grant),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(uses === undefined ? {} : { usesLeft: uses }),
  };
}
