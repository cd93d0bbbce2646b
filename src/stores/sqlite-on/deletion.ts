import type { ThreadEnd, ThreadStoreDeletion } from '../../thread/thread-store.ts';
import { threadTable } from '../sql/thread-rows.ts';
import { overwriteRowsOf } from './request-rows.ts';
import type { SqliteDriver, SqliteStatement } from './sqlite-driver.ts';

/* The threads of a group, if the log of each ends as given. */
const ofGroup = `in (
  select ends.value ->> 0 from json_each(?) as ends
  where not exists (
    select 1 from json_each(?) as other
    where not exists (
      select 1 from holdpoint_threads
      where thread_id = other.value ->> 0 and revision = other.value ->> 1 and hash = other.value ->> 2
    )
  )
)`;

/*
 * The new text has the same length, so that it is written in place. `secure_delete` clears freed space, but not the remains of rows that
 * SQLite moves between pages, as it does when neighbouring rows are deleted.
 */
const overwriteEntries = `
  update holdpoint_entries
  set entry = substr(hex(zeroblob(octet_length(entry) / 2 + 1)), 1, octet_length(entry))
  where thread_id ${ofGroup}`;

/*
 * Entries and requests are overwritten first; a trigger deletes requests. The rows of the threads come last, as the condition compares
 * them.
 */
const deletionOfGroup = [
  overwriteEntries,
  `delete from holdpoint_entries where thread_id ${ofGroup}`,
  overwriteRowsOf(ofGroup),
  `delete from holdpoint_threads where thread_id ${ofGroup} returning thread_id`,
];

function listStatements(group: readonly ThreadEnd[]): SqliteStatement[] {
  const ends = JSON.stringify(
    group.map(({ threadId, revision, hash }) => [threadId, revision, hash]),
  );
  return deletionOfGroup.map((text) => ({ text, values: [ends, ends] }));
}

/* The hash of an entry ends its text, before the last two characters. In this order, each range is read from the index. */
const listChildren = `
  select proposed.parent_id, ${threadTable.columns}
  from (
    select thread_id as parent_id, 'call-' || substr(entry, -45, 43) as prefix
    from holdpoint_entries
    where thread_id in (select value from json_each(?)) and revision > 0
  ) as proposed
  cross join holdpoint_threads
  where thread_id > prefix || '.' and thread_id < prefix || '/'`;

/** The deletion of threads. A trigger deletes their requests. */
export function makeSqliteDeletion(driver: SqliteDriver): ThreadStoreDeletion {
  return {
    async listChildren(threadIds) {
      const values = [JSON.stringify(threadIds)];
      const rows = await driver.query({ text: listChildren, values });
      return rows.map(([parentId, ...row]) => ({
        ...threadTable.parse(row),
        parentId: String(parentId),
      }));
    },

    async delete(groups) {
      if (groups.length === 0) return [];
      const results = await driver.batch(groups.flatMap(listStatements));
      return results.flat().map(([threadId]) => String(threadId));
    },
  };
}
