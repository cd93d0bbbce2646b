import {
  feedChangeTypes,
  type FeedChange,
  type RequestFilter,
  type ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { makeRequestReads, type RequestDialect } from '../sql/request-queries.ts';
import type { PostgresQuery, PostgresResult } from './pool.ts';
import { toStorable } from './request-rows.ts';
import type { RunQuery, StatementRunner } from './statement-runner.ts';
import { numberParameters } from './statements.ts';
import { z } from 'zod';
import { requestTable } from '../sql/request-rows.ts';
import { makeInvalidRowError } from '../sql/sql-table.ts';

const dialect: RequestDialect = {
  eachText: (json, alias) => `json_array_elements_text(${json}::json) as ${alias}`,
  eachRow: (query, alias) => `lateral (${query}) as ${alias} (value)`,
  useIndex: () => '',
  readClock: () => ({
    text: 'floor(extract(epoch from statement_timestamp()) * 1000)::float8',
    values: [],
  }),
};

/** The requests of a database. `runner` runs statements about them. */
export function makePostgresRequests({ run }: StatementRunner): ThreadStoreRequests {
  const { list, count, get } = makeRequestReads(
    async (statement) => (await run(numberParameters(statement))).rows,
    dialect,
  );
  return {
    list: async (query) => list(toStorableFilter(query)),
    count: async (filter) => count(toStorableFilter(filter)),
    get,

    async erase(requestId) {
      const { rowCount } = await run(eraseRequest, [requestId]);
      return rowCount === 1;
    },

    ...makeFeed(run),
  };
}

/** Makes the filter compare texts as they are stored. */
function toStorableFilter<FILTER extends RequestFilter>(filter: FILTER): FILTER {
  const { tenant, approver, toolName, requester } = filter;
  return {
    ...filter,
    ...(typeof tenant === 'string' ? { tenant: toStorable(tenant) } : {}),
    ...(approver === undefined ? {} : { approver: approver.map(toStorable) }),
    ...(toolName === undefined ? {} : { toolName: toStorable(toolName) }),
    ...(requester === undefined ? {} : { requester: toStorable(requester) }),
  };
}

const eraseRequest: PostgresQuery = {
  text: `update holdpoint_requests set body = null where request_id = $1 and state <> 'open'`,
};

type FeedPart = Pick<ThreadStoreRequests, 'changes' | 'deleteChanges'>;

/**
 * The feed of the changes of requests. A sequence number is taken before its transaction commits: a reader that has seen 12 may later meet
 * 11. So a change gets its position only after its commit, from the next reader of the feed, and a late commit gets a late position.
 * `run` runs statements about requests.
 */
function makeFeed(run: RunQuery): FeedPart {
  const readPage = async (after: number, limit: number): Promise<FeedPage> =>
    parseFeedPage(await run(readFeed, [after, limit]));

  const changes: FeedPart['changes'] = async ({ after, limit = 100 }) => {
    const page = await readPage(after, limit);
    if (!page.hasPending || page.changes.length >= limit) return page.changes;
    await run(assignPositions);
    return (await readPage(after, limit)).changes;
  };

  return {
    changes,

    async deleteChanges({ before }) {
      const { rowCount } = await run(deleteChanges, [before]);
      return rowCount ?? 0;
    },
  };
}

/** A part of the feed, and whether there are changes without a position. */
interface FeedPage {
  changes: FeedChange[];
  hasPending: boolean;
}

function parseFeedPage({ rows }: PostgresResult): FeedPage {
  const changes = rows.filter((row) => row['position'] !== null).map(parseChange);
  return { changes, hasPending: rows[0]?.['has_pending'] === true };
}

const changeSchema = z.object({
  position: z.coerce.number(),
  type: z.enum(feedChangeTypes),
  changed_request: z.string(),
  changed_thread: z.string(),
});

/** The change in a row. Throws `log-tampered` for an invalid row. */
function parseChange(row: PostgresResult['rows'][number]): FeedChange {
  const { success, data } = changeSchema.safeParse(row);
  if (!success) throw makeInvalidRowError();
  return {
    position: data.position,
    type: data.type,
    requestId: data.changed_request,
    threadId: data.changed_thread,
    /* The thread of a `deleted` one may have come back, with a row of the same id. */
    ...(data.type === 'deleted' || row['request_id'] === null
      ? {}
      : { request: requestTable.parse(row) }),
  };
}

const readFeed: PostgresQuery = {
  text: `
  select feed.has_pending, page.*, ${requestTable.columnsOf('requests')}
  from (select exists (select from holdpoint_request_changes where position is null) as has_pending) as feed
  left join lateral (
    select position, type, request_id as changed_request, thread_id as changed_thread
    from holdpoint_request_changes where position > $1 order by position limit $2
  ) as page on true
  left join holdpoint_requests as requests on requests.request_id = page.changed_request
  order by page.position`,
};

/* Makes the commit wait for the disk where the server is configured not to. */
const waitForDisk = `
    case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'local', true) end`;

/*
 * One text, so that the lock is held until the positions are committed: a session that assigns higher positions has waited for the lower
 * ones. The update must see what was committed while it waited for the lock, hence the level. Positions are durable before they are read:
 * otherwise they could be assigned again after a crash, to other changes.
 */
const assignPositions: PostgresQuery = {
  text: `
  set transaction isolation level read committed;
  select pg_advisory_xact_lock(7163384706), ${waitForDisk};
  update holdpoint_request_changes as changes set position = next.position
  from (
    select seq, nextval('holdpoint_request_positions') as position from (
      select seq from holdpoint_request_changes where position is null order by seq limit 10000
    ) as pending
  ) as next
  where changes.seq = next.seq`,
};

/* Changes to which a reader is assigning positions are left for the next time, so that neither waits for the other. */
const deleteChanges: PostgresQuery = {
  text: `
  delete from holdpoint_request_changes where seq in (
    select seq from holdpoint_request_changes where made_at < $1 for update skip locked
  )`,
};
