import { HoldpointError } from '../errors.ts';
import type {
  AppendedBeside,
  LogEnd,
  LogEntry,
  ThreadStore,
  ThreadSummary,
} from './thread-store.ts';

/** Makes the last argument of a store's `append`; none for most appends. A store gets no part that it does not need. */
export function listBeside({ grants, snapshot, requests }: AppendedBeside): AppendedBeside[] {
  if (grants === undefined && snapshot === undefined && requests === undefined) return [];
  return [
    {
      ...(grants && { grants }),
      ...(snapshot === undefined ? {} : { snapshot }),
      ...(requests && { requests }),
    },
  ];
}

/**
 * Appends an entry to a log that ends at `end`, even if the store's reply is lost. Returns false if another process appended first, in
 * which case nothing was written. Throws the store's error if nothing was written, or if that can't be determined.
 */
export async function appendOnce(
  store: ThreadStore,
  threadId: string,
  {
    end,
    entry,
    summary,
    ...beside
  }: AppendedBeside & { end: LogEnd; entry: LogEntry; summary: ThreadSummary },
): Promise<boolean> {
  const write = (): Promise<void> =>
    store.append(threadId, end, [entry], summary, ...listBeside(beside));
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
 * Checks whether the entry of a write that failed is stored. The entry is written again, which waits for the first write if that is still
 * in progress: one of the two then fails with a conflict, and the entry that is stored shows which write succeeded.
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

/** Checks whether an error means that the log does not end where a store was asked to append or delete. */
export function isConflict(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'revision-conflict';
}
