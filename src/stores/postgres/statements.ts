import { createGrantIndex, grantColumns } from '../sql/grants.ts';
import { createThreadIndexes, type SqlPart } from '../sql/thread-rows.ts';
import type { PostgresQuery } from './pool.ts';

export const grantsSchema = `
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

/** Creates the tables, for apps that do so in a migration. Can be run again. */
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
${createThreadIndexes}
${grantsSchema}`;

const columns =
  'thread_id, agent, status, revision, open_requests, failures, next_deadline, updated_at, hash';

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
  text: `select ${columns} from holdpoint_threads where thread_id = $1`,
};

export const readClock: PostgresQuery = {
  name: 'holdpoint-now',
  text: 'select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now',
};

/* Never prepared, as the best index depends on the values. */
export function listThreads(page: SqlPart): PostgresQuery {
  return numberParameters({
    ...page,
    text: `select ${columns} from holdpoint_threads ${page.text}`,
  });
}

export function countThreads(filter: SqlPart): PostgresQuery {
  return numberParameters({
    ...filter,
    text: `select count(*)::int as threads from holdpoint_threads ${filter.text}`,
  });
}

/** With `$1`, `$2`, … for each `?`. */
export function numberParameters({ text, ...part }: SqlPart & { name?: string }): PostgresQuery {
  let count = 0;
  const next = (): string => `$${(count += 1)}`;
  return { ...part, text: text.replaceAll('?', next) };
}

/** The parts of an append that change standing approvals. */
const noGrants = { before: '', after: '' };

/*
 * Locks the grants that are used, in an order that is the same in every session, and waits for a session that is using or revoking one of
 * them: what it then reads is the newest. Nothing is written unless all of them have enough uses left.
 */
const withGrants = (first: number): typeof noGrants => {
  const [ids, counts, at] = [`$${first}`, `$${first + 1}`, `$${first + 2}`];
  const created = Array.from({ length: 8 }, (_, index) => `$${first + 3 + index}`);
  return {
    before: `usable as materialized (
    select grants.grant_id, uses.count, grants.uses_left
    from holdpoint_grants as grants, unnest(${ids}::text[], ${counts}::int[]) as uses (grant_id, count)
    where grants.grant_id = uses.grant_id
      and (grants.expires_at is null or grants.expires_at > ${at}::float8)
      and (grants.uses_left is null or grants.uses_left >= uses.count)
    order by grants.grant_id for update of grants
  ),`,
    after: `, used as (
    update holdpoint_grants as grants set uses_left = usable.uses_left - usable.count
    from usable, thread where grants.grant_id = usable.grant_id and usable.uses_left > usable.count and usable.count > 0
  ), used_up as (
    delete from holdpoint_grants as grants
    using usable, thread where grants.grant_id = usable.grant_id and (usable.uses_left = usable.count or usable.count = 0)
  ), created as (
    insert into holdpoint_grants (${grantColumns})
    select grants.* from thread, unnest(
      ${created[0]}::text[], ${created[1]}::text[], ${created[2]}::text[], ${created[3]}::text[],
      ${created[4]}::text[], ${created[5]}::float8[], ${created[6]}::float8[], ${created[7]}::bigint[]
    ) as grants
  )`,
  };
};

const hasUsable = (first: number): string =>
  `(select count(*) from usable) = cardinality($${first}::text[])`;

/*
 * The thread's row is written first: a concurrent append waits for it, finds another revision, and writes nothing. It is one statement, so
 * that no lock is held between round trips, and a dropped connection leaves either all of it or nothing. If the server is configured not to
 * wait for the disk, this commit still waits. Commits that notify wait for each other in the whole server, so notices that no subscriber
 * can act on are not sent.
 */
const appendAfter = (takeThread: string, grants = noGrants): string => `
  with ${grants.before} thread as (
    ${takeThread}
    returning thread_id,
      case when $11::text is not null then pg_notify('holdpoint', $11) end,
      case current_setting('synchronous_commit')
        when 'off' then set_config('synchronous_commit', 'local', true)
      end
  ) ${grants.after}
  insert into holdpoint_entries (thread_id, revision, entry)
  select thread.thread_id, entries.revision, entries.entry
  from thread, unnest($2::int[], $3::text[]) as entries (revision, entry)
`;

/** The part of an append that keeps a snapshot. */
const withSnapshot = (parameter: string): typeof noGrants => ({
  before: '',
  after: `, snapshot as (
    insert into holdpoint_entries (thread_id, revision, entry) select thread_id, 0, ${parameter} from thread
    on conflict (thread_id, revision) do update set entry = excluded.entry
  )`,
});

const insertThread = `
    insert into holdpoint_threads (${columns})
    values ($1, $4, $5, $6, $7, $8, $9, $10, $12) on conflict do nothing
  `;

export const appendFirst: PostgresQuery = {
  name: 'holdpoint-append-first',
  text: appendAfter(insertThread),
};

export const appendFirstWithSnapshot: PostgresQuery = {
  name: 'holdpoint-append-first-snapshot',
  text: appendAfter(insertThread, withSnapshot('$13')),
};

const updateThread = `
    update holdpoint_threads
    set agent = $4, status = $5, revision = $6, open_requests = $7, failures = $8, next_deadline = $9, updated_at = $10, hash = $12
    where thread_id = $1 and revision = $13::int and hash = $14`;

export const appendNext: PostgresQuery = {
  name: 'holdpoint-append-next',
  text: appendAfter(updateThread),
};

export const appendNextWithSnapshot: PostgresQuery = {
  name: 'holdpoint-append-next-snapshot',
  text: appendAfter(updateThread, withSnapshot('$15')),
};

export const appendFirstWithGrants: PostgresQuery = {
  name: 'holdpoint-append-first-grants',
  text: appendAfter(
    `
    insert into holdpoint_threads (${columns})
    select $1, $4, $5, $6::int, $7::int, $8::int, $9::float8, $10::float8, $12 where ${hasUsable(13)}
    on conflict do nothing
  `,
    withGrants(13),
  ),
};

export const appendNextWithGrants: PostgresQuery = {
  name: 'holdpoint-append-next-grants',
  text: appendAfter(`${updateThread} and ${hasUsable(15)}`, withGrants(15)),
};

/* A missing thread is at revision 0. */
export const deleteThreadQuery: PostgresQuery = {
  name: 'holdpoint-delete',
  text: `
    with thread as (
      delete from holdpoint_threads where thread_id = $1 and revision = $2::int and hash = $3 returning thread_id
    ), entries as (
      delete from holdpoint_entries using thread where holdpoint_entries.thread_id = thread.thread_id
    )
    select exists (select from thread)
      or ($2::int = 0 and not exists (select from holdpoint_threads where thread_id = $1)) as deleted
  `,
};

/*
 * Skips rows that another claim or an append has locked, so that no worker waits for another. Ordered by the index alone: sorting the
 * threads of one deadline would make each claim read all that are due.
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
    returning threads.*, due.since
  )
  select ${columns} from claimed order by since, thread_id
`;

export const claimDue: PostgresQuery = { name: 'holdpoint-claim', text: claimWhere('') };

export const claimThread: PostgresQuery = {
  name: 'holdpoint-claim-thread',
  text: claimWhere('and thread_id = $5'),
};
