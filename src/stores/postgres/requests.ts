import type { RequestFilter, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import { makeRequestReads, type RequestDialect } from '../sql/request-queries.ts';
import type { PostgresQuery } from './pool.ts';
import { makeFeed } from './request-feed.ts';
import { toStorable } from './request-rows.ts';
import type { StatementRunner } from './statement-runner.ts';
import { numberParameters } from './statements.ts';

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
