import type { ThreadEnd, ThreadStoreDeletion } from '../../thread/thread-store.ts';
import { threadTable } from '../sql/thread-rows.ts';
import type { PostgresQuery } from './pool.ts';
import { deleteRequests } from './request-rows.ts';
import type { StatementRunner } from './statement-runner.ts';

/*
 * Locks all threads of a group, in the order of their ids, so that two deletions don't wait for each other, and deletes those of groups of
 * which all are locked. A thread whose log ends elsewhere is not locked.
 */
const deleteThreads: PostgresQuery = {
  name: 'holdpoint-delete',
  text: `
  with wanted as (
    select * from unnest($1::int[], $2::text[], $3::int[], $4::text[]) as ends (number, thread_id, revision, hash)
  ), locked as (
    select number, threads.thread_id
    from holdpoint_threads as threads
    join wanted on wanted.thread_id = threads.thread_id and wanted.revision = threads.revision and wanted.hash = threads.hash
    order by threads.thread_id
    for update of threads
  ), partial as (
    select number from wanted where not exists (select from locked where locked.thread_id = wanted.thread_id)
  ), thread as (
    delete from holdpoint_threads as threads using locked
    where threads.thread_id = locked.thread_id and number not in (select number from partial)
    returning threads.thread_id
  ), entries as (
    delete from holdpoint_entries using thread where holdpoint_entries.thread_id = thread.thread_id
  )${deleteRequests}
  select thread_id from thread
`,
};

/* The hash of an entry ends its text, before the last two characters. Sorted, so that each range is read from the index. */
const listChildren: PostgresQuery = {
  name: 'holdpoint-children',
  text: `
    select parent_id, ${threadTable.columns}
    from (
      select thread_id as parent_id, 'call-' || left(right(entry, 45), 43) as prefix
      from holdpoint_entries where thread_id = any ($1) and revision > 0
    ) as proposed
    cross join lateral (
      select * from holdpoint_threads
      where thread_id > prefix || '.' and thread_id < prefix || '/'
      order by thread_id
    ) as child
  `,
};

/** The deletion of threads, with their requests. */
export function makePostgresDeletion({ run }: StatementRunner): ThreadStoreDeletion {
  return {
    async listChildren(threadIds) {
      const { rows } = await run(listChildren, [threadIds]);
      return rows.map((row) => ({ ...threadTable.parse(row), parentId: String(row['parent_id']) }));
    },

    async delete(groups) {
      const { rows } = await run(deleteThreads, listColumns(groups));
      return rows.map((row) => String(row['thread_id']));
    },
  };
}

function listColumns(groups: readonly (readonly ThreadEnd[])[]): unknown[][] {
  const ends = groups.flatMap((group, number) => group.map((end) => ({ ...end, number })));
  return [
    ends.map(({ number }) => number),
    ends.map(({ threadId }) => threadId),
    ends.map(({ revision }) => revision),
    ends.map(({ hash }) => hash),
  ];
}
