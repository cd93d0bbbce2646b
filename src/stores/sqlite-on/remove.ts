import type { LogEnd } from '../../thread/thread-store.ts';
import { conflict, endsAt, endValues, hasNoLog } from './log-end.ts';
import type { SqliteDriver } from './sqlite-driver.ts';

/*
 * The new text has the same length, so that it is written in place. `secure_delete` clears freed space, but not what remains where SQLite
 * moves rows between pages, as it does when neighbouring rows are deleted.
 */
const overwriteEntries = `
  update holdpoint_entries
  set entry = substr(hex(zeroblob(octet_length(entry) / 2 + 1)), 1, octet_length(entry))
  where thread_id = ? and`;
const deleteEntries = 'delete from holdpoint_entries where thread_id = ? and';
const deleteThread =
  'delete from holdpoint_threads where thread_id = ? and revision = ? and hash = ?';

/** Deletes a thread whose log ends at `expected`, after overwriting its entries. */
export async function remove(
  driver: SqliteDriver,
  threadId: string,
  expected: LogEnd,
): Promise<void> {
  const isAtEnd = expected.revision === 0 ? hasNoLog : endsAt;
  const values = endValues(threadId, expected);
  const [found] = await driver.batch([
    { text: `select 1 where ${isAtEnd}`, values },
    { text: `${overwriteEntries} ${isAtEnd}`, values: [threadId, ...values] },
    { text: `${deleteEntries} ${isAtEnd}`, values: [threadId, ...values] },
    { text: deleteThread, values: [threadId, expected.revision, expected.hash] },
  ]);
  if (found?.length !== 1) throw conflict(threadId, expected);
}
