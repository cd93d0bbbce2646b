import { HoldpointError } from '../errors.ts';
import { decodeEvents, encodeEvent } from '../thread/event-text.ts';
import { eventTextOfRow, summaryOfRow } from '../thread/stored-row.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import { keepListening } from './postgres/keep-listening.ts';
import type { PostgresPool, PostgresQuery, PostgresResult } from './postgres/postgres-pool.ts';

export type {
  PostgresConnection,
  PostgresPool,
  PostgresQuery,
  PostgresResult,
} from './postgres/postgres-pool.ts';

/** How a Postgres database is used. */
export interface PostgresStoreOptions {
  /** Whether the first use creates the tables where they are missing. Default true; see `postgresSchema`. */
  createSchema?: boolean;
  /**
   * Whether statements are prepared, once for each connection; an append is then two to four times as fast. Default
   * false, as not every pooler in transaction mode can do it.
   */
  prepare?: boolean;
  /** For `subscribe`, where `pool` reaches the server through a pooler that can't LISTEN. Default: `pool`. */
  listenPool?: PostgresPool;
}

/** A store in one Postgres database. The pool is yours to end. */
export interface PostgresStore extends ThreadStore {
  /**
   * Calls `listener` with the id of every thread that anybody appends to and does not leave `running`, on a connection of
   * its own that is renewed when it drops; and without an id whenever it has begun to listen (again), when everything may
   * have changed. The listener must not throw. Gives back what ends it.
   */
  subscribe(listener: (threadId?: string) => void): () => Promise<void>;
}

/** The tables, for those who create them in migrations of their own. It may be run again. */
export const postgresSchema = `
create table if not exists holdpoint_events (
  thread_id text collate "C" not null,
  revision integer not null,
  event text not null,
  primary key (thread_id, revision)
);
create table if not exists holdpoint_threads (
  thread_id text collate "C" primary key,
  status text not null,
  revision integer not null,
  open_requests integer not null,
  next_deadline double precision,
  updated_at double precision not null
);
create index if not exists holdpoint_threads_by_status on holdpoint_threads (status, thread_id);
create index if not exists holdpoint_threads_by_deadline on holdpoint_threads (next_deadline);
`;

/* `if not exists` fails where two create at once. Sent as one text, so the lock is held until all of it is committed. */
const lockedSchema = `select pg_advisory_xact_lock(7163384705);${postgresSchema}`;
const schemaIsMissing = `select to_regclass('holdpoint_threads') is null as missing`;

const columns = 'thread_id, status, revision, open_requests, next_deadline, updated_at';
const read: PostgresQuery = {
  name: 'holdpoint-read',
  text: 'select event from holdpoint_events where thread_id = $1 and revision > $2 order by revision',
};
const head: PostgresQuery = {
  name: 'holdpoint-head',
  text: `select ${columns} from holdpoint_threads where thread_id = $1`,
};
/* Never prepared: which index is right depends on the values. */
const list: PostgresQuery = {
  text: `
    select ${columns} from holdpoint_threads
    where ($1::text is null or status = $1)
      and ($2::float8 is null or next_deadline < $2)
      and ($3::text is null or thread_id > $3)
    order by thread_id limit $4
  `,
};

/*
 * The row of the thread is taken first: who comes second waits for it, finds another revision, and writes nothing. All in
 * one statement: nothing is held between two round trips, and a dropped connection leaves all of it or none.
 * Where commits don't wait for the disk, this one does. Those that notify wait for each other, in the whole server, so
 * the steps of a run don't: nobody but the run can do anything with them.
 */
const appendAfter = (takeThread: string): string => `
  with thread as (
    ${takeThread}
    returning thread_id,
      case when $4 <> 'running' then pg_notify('holdpoint', thread_id) end,
      case current_setting('synchronous_commit')
        when 'off' then set_config('synchronous_commit', 'local', true)
      end
  )
  insert into holdpoint_events (thread_id, revision, event)
  select thread_id, $2::int + place, event
  from thread, unnest($3::text[]) with ordinality as events (event, place)
`;
const appendFirst: PostgresQuery = {
  name: 'holdpoint-append-first',
  text: appendAfter(`
    insert into holdpoint_threads (${columns})
    values ($1, $4, $5, $6, $7, $8) on conflict do nothing
  `),
};
const appendNext: PostgresQuery = {
  name: 'holdpoint-append-next',
  text: appendAfter(`
    update holdpoint_threads
    set status = $4, revision = $5, open_requests = $6, next_deadline = $7, updated_at = $8
    where thread_id = $1 and revision = $2::int
  `),
};

/** What Postgres says of a write that came second: `unique_violation`, `serialization_failure`. */
const conflictCodes: readonly unknown[] = ['23505', '40001'];

/**
 * Threads in Postgres, through a `Pool` of `pg`, for any number of machines. It works behind a pooler in transaction mode:
 * every append is one statement, which keeps nothing in a session. Give the pool an `error` listener, as `pg` asks: without
 * one, an idle connection that drops ends the process.
 *
 * @example
 * const agent = createAgent({ model, tools, store: postgresStore(new Pool({ connectionString })) });
 */
export function postgresStore(
  pool: PostgresPool,
  { createSchema = true, prepare = false, listenPool = pool }: PostgresStoreOptions = {},
): PostgresStore {
  const schema = createSchema ? onceDone(async () => createMissingSchema(pool)) : async () => {};
  const run = async ({ name, text }: PostgresQuery, values: unknown[]): Promise<PostgresResult> => {
    await schema();
    return pool.query(prepare ? { name, text, values } : { text, values });
  };

  return {
    async read(threadId, afterRevision = 0) {
      const { rows } = await run(read, [threadId, afterRevision]);
      return decodeEvents(rows.map(eventTextOfRow));
    },

    async append(threadId, expectedRevision, events, summary) {
      const texts = events.map(encodeEvent);
      const { status, openRequests, nextDeadline = null, updatedAt } = summary;
      const query = expectedRevision === 0 ? appendFirst : appendNext;
      const after = expectedRevision + texts.length;
      const thread = [status, after, openRequests, nextDeadline, updatedAt];
      const values = [threadId, expectedRevision, texts, ...thread];
      const written = await run(query, values).catch(nothingIfLate);
      if (written.rowCount === texts.length) return;
      throw new HoldpointError(
        'revision-conflict',
        `Thread ${threadId} is not at revision ${expectedRevision}.`,
      );
    },

    async head(threadId) {
      const [row] = (await run(head, [threadId])).rows;
      return row === undefined ? undefined : summaryOfRow(row);
    },

    async list({ status = null, dueBefore = null, after = null, limit = 100 }) {
      const { rows } = await run(list, [status, dueBefore, after, limit]);
      return rows.map(summaryOfRow);
    },

    subscribe(listener) {
      const ending = new AbortController();
      const ended = keepListening(listenPool, listener, ending.signal);
      return async () => {
        ending.abort();
        await ended;
      };
    },
  };
}

async function createMissingSchema(pool: PostgresPool): Promise<void> {
  const { rows } = await pool.query({ text: schemaIsMissing });
  if (rows[0]?.['missing'] === true) await pool.query({ text: lockedSchema });
}

/** Work that is done once; again only when it failed. */
function onceDone(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return async () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

function nothingIfLate(error: unknown): PostgresResult {
  if (conflictCodes.includes(Reflect.get(Object(error), 'code'))) return { rows: [], rowCount: 0 };
  throw error;
}
