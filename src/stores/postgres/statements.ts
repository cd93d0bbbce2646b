import { createGrantIndex } from '../sql/grants.ts';
import type { ThreadFilter, ThreadQuery } from '../../thread/thread-store.ts';
import {
  createThreadIndexes,
  filterPart,
  makePageEnd,
  makePageQuery,
  threadTable,
} from '../sql/thread-rows.ts';
import type { SqlPart } from '../sql/sql-parts.ts';
import type { PostgresQuery } from './pool.ts';
import { requestsSchema } from './request-rows.ts';

const grantsSchema = `
create table if not exists holdpoint_grants (
  grant_id text collate "C" primary key,
  agent text collate "C" not null,
  tool_name text collate "C" not null,
  person text collate "C",
  body text not null,
  created_at double precision not null,
  expires_at double precision,
  uses_left bigint
);
${createGrantIndex}`;

/**
 * Creates the tables, for apps that do so in a migration. Can be run again. The store's role must be allowed to read and write all of them,
 * and to use the sequence `holdpoint_request_positions`.
 */
export const postgresSchema = `
create table if not exists holdpoint_entries (
  thread_id text collate "C" not null,
  revision integer not null,
  entry text not null,
  primary key (thread_id, revision)
);
create table if not exists holdpoint_threads (
  thread_id text collate "C" primary key,
  agent text collate "C" not null,
  status text collate "C" not null,
  revision integer not null,
  hash text collate "C" not null,
  open_requests integer not null,
  failures integer not null,
  next_deadline double precision,
  updated_at double precision not null
);
${createThreadIndexes(['deadline', 'statusAndTime', 'agent'])}
${grantsSchema}
${requestsSchema}`;

export const readEntries: PostgresQuery = {
  name: 'holdpoint-read',
  text: 'select revision, entry from holdpoint_entries where thread_id = $1 and revision > $2 order by revision',
};

/* The row of revision 0, which no entry has. */
export const readSnapshot: PostgresQuery = {
  name: 'holdpoint-read-snapshot',
  text: 'select revision, entry from holdpoint_entries where thread_id = $1 and revision = 0',
};

export const readThread: PostgresQuery = {
  name: 'holdpoint-head',
  text: `select ${threadTable.columns} from holdpoint_threads where thread_id = $1`,
};

export const readClock: PostgresQuery = {
  name: 'holdpoint-now',
  text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now',
};

/** The id of the table of threads: an expression that needs no plan, as a look into the catalog would. Null if there is none. */
export const tableId = `to_regclass('holdpoint_threads')::oid::text`;

export const readTableId: PostgresQuery = {
  name: 'holdpoint-table',
  text: `select ${tableId} as id`,
};

/* Never prepared, as the best index depends on the values. */
export function listThreads(query: ThreadQuery): PostgresQuery {
  const { status, order = 'id' } = query;
  const select = `select ${threadTable.columns} from holdpoint_threads`;
  if (status !== undefined || order === 'id') {
    const page = makePageQuery(query);
    return numberParameters({ ...page, text: `${select} ${page.text}` });
  }
  /* No index has the threads of all statuses in the order of time: a page of each status is read, and they are merged. */
  const ofStatus = makePageQuery(query, [{ text: 'status = present.status', values: [] }]);
  const end = makePageEnd(query);
  return numberParameters({
    text: `${presentStatuses}
      select page.* from present cross join lateral (${select} ${ofStatus.text}) as page
      where present.status is not null ${end.text}`,
    values: [...ofStatus.values, ...end.values],
  });
}

/* One step in the index for each status. A newer holdpoint may have written one that this version does not know. */
const presentStatuses = `
    with recursive present (status) as (
      select min(status) from holdpoint_threads
      union all
      select (select min(status) from holdpoint_threads where status > present.status) from present
      where present.status is not null
    )`;

/**
 * Counts threads, no more than `atMost`. It reads in the order of an index, as the server may otherwise search the table for that many, and
 * pass over any number of others.
 */
export function countThreads(filter: ThreadFilter, atMost?: number): PostgresQuery {
  const { text, values } = filterPart(filter);
  const from = `from holdpoint_threads ${text}`;
  const some = `from (select ${from} order by ${filter.status === undefined ? 'thread_id' : 'updated_at'} limit ?) as counted`;
  return numberParameters({
    text: `select count(*)::int as threads ${atMost === undefined ? from : some}`,
    values: atMost === undefined ? values : [...values, atMost],
  });
}

/** Replaces each `?` with `$1`, `$2`, …. */
export function numberParameters({ text, ...part }: SqlPart & { name?: string }): PostgresQuery {
  let count = 0;
  const next = (): string => `$${(count += 1)}`;
  return { ...part, text: text.replaceAll('?', next) };
}

/*
 * Skips rows that another claim or an append has locked, so that no worker waits for another. The commit waits for no disk: a claim only
 * saves work, and a thread whose claim is lost with the server is due again. Ordered only by the index: sorting the threads of one deadline
 * would make each claim read all that are due.
 */
const claimWhere = (condition: string): string => `
  with due as (
    select thread_id, next_deadline as since from holdpoint_threads
    where agent = $1 and next_deadline < $2 ${condition}
    order by next_deadline limit $4
    for update skip locked
  ), claimed as (
    update holdpoint_threads as threads set next_deadline = $3
    from due where threads.thread_id = due.thread_id
    returning threads.*, due.since, set_config('synchronous_commit', 'off', true)
  )
  select ${threadTable.columns} from claimed order by since, thread_id
`;

export const claimDue: PostgresQuery = { name: 'holdpoint-claim', text: claimWhere('') };

export const claimThread: PostgresQuery = {
  name: 'holdpoint-claim-thread',
  text: claimWhere('and thread_id = $5'),
};
