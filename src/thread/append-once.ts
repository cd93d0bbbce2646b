import { HoldpointError } from '../errors.ts';
import type { RequestChange } from './thread-store-requests.ts';
import type {
  AppendedBeside,
  GrantChange,
  LogEnd,
  LogEntry,
  ThreadStore,
  ThreadSummary,
} from './thread-store.ts';

/** The writes of an append beside the log; most appends have none. */
interface Beside {
  /** The changes of the store's standing approvals. */
  grants?: GrantChange[] | undefined;
  /** The text of the snapshot that the entry names. */
  snapshot?: string | undefined;
  /** The changes of the rows of requests. */
  requests?: RequestChange[] | undefined;
}

/** An entry, the log end that it follows, and the summary to store with it. */
interface Append extends Beside {
  end: LogEnd;
  entry: LogEntry;
  summary: ThreadSummary;
}

/** Makes the last argument of a store's `append`. A store gets none that it does not need. */
export function listBeside({ grants, snapshot, requests }: Beside): AppendedBeside[] {
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
 * Appends an entry, even if the store's reply is lost. Returns false if another process appended first, in which case nothing was written.
 * Throws the store's error if nothing was written, or if that can't be determined.
 */
export async function appendOnce(
  store: ThreadStore,
  threadId: string,
  append: Append,
): Promise<boolean> {
  const { end, entry, summary } = append;
  const beside = listBeside(append);
  const write = (): Promise<void> => store.append(threadId, end, [entry], summary, ...beside);
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
