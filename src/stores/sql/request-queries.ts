import type {
  RequestFilter,
  RequestPlace,
  RequestQuery,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import {
  anyApprover,
  parseRequestRow,
  requestColumns,
  requestIndexes,
  toPlaceColumns,
  toRiskColumn,
} from './request-rows.ts';
import { type SqlPart, toAgentColumn } from './thread-rows.ts';

/* Pages and counts of requests in SQL. Conditions of absent filters are left out, because no index serves `? is null or …`. */

/** What databases write differently. */
export interface RequestDialect {
  /** A `from` item with one row for each text of a JSON array, in the column `value`. */
  eachText(json: string, alias: string): string;
  /** A `from` item with the rows of a query of one column, `request_id`, as the column `value`. The query may use the items before it. */
  eachRow(query: string, alias: string): string;
  /** Makes a query use this index, where that has to be said. */
  useIndex(name: string): string;
  /** The store's clock, in milliseconds since 1970. */
  readClock(): SqlPart;
}

/** The parts of `ThreadStoreRequests` that only read rows. `read` runs a statement, and resolves with rows as objects. */
export function makeRequestReads(
  read: (statement: SqlPart) => Promise<readonly unknown[]>,
  dialect: RequestDialect,
): Pick<ThreadStoreRequests, 'list' | 'count' | 'get'> {
  const hasFew = async (query: AgentQuery): Promise<boolean> =>
    readCount(await read(makeFewCount(query, dialect))) <= fewRows;
  return {
    async list(query) {
      const isOfFew = isOfAgent(query) && (await hasFew(query));
      const page = isOfFew ? makePageOfFew(query, dialect) : makeRequestPage(query, dialect);
      const rows = (await read(page)).map(parseRequestRow);
      return query.before === undefined ? rows : rows.toReversed();
    },

    async count(filter) {
      return readCount(await read(makeRequestCount(filter, dialect)));
    },

    async get(requestId) {
      const text = `select ${requestColumns} from holdpoint_requests where request_id = ?`;
      const [row] = await read({ text, values: [requestId] });
      return row === undefined ? undefined : parseRequestRow(row);
    },
  };
}

function readCount([row]: readonly unknown[]): number {
  return Number(Object.values(row ?? {})[0]);
}

/** The columns that a page is ordered by, all in one direction, and then by id. */
interface Order {
  columns: readonly Exclude<keyof ReturnType<typeof toPlaceColumns>, 'request_id'>[];
  isDescending: boolean;
  isIdDescending: boolean;
}

const orders: Record<NonNullable<RequestQuery['order']>, Order> = {
  oldest: { columns: ['created_at'], isDescending: false, isIdDescending: false },
  newest: { columns: ['created_at'], isDescending: true, isIdDescending: false },
  expires: { columns: ['expires_at'], isDescending: false, isIdDescending: false },
  risk: { columns: ['risk', 'created_at'], isDescending: false, isIdDescending: false },
  decided: { columns: ['decided_at'], isDescending: true, isIdDescending: false },
};

/** The query for a page of rows; with `before`, the last row of the page comes first. */
function makeRequestPage(query: RequestQuery, dialect: RequestDialect): SqlPart {
  if (hasApproverIndex(query)) return makeApproverPage(query, dialect);
  return makePlainPage(query, chooseIndex(query), dialect);
}

/** The query for a page of rows that one scan of an index finds. */
function makePlainPage(
  query: RequestQuery,
  index: string | undefined,
  dialect: RequestDialect,
): SqlPart {
  const { isAfter, end } = makePageLimits(query);
  return joinParts([
    { text: `select ${requestColumns} from holdpoint_requests`, values: [] },
    { text: index === undefined ? '' : dialect.useIndex(index), values: [] },
    joinConditions([...listConditions(query, dialect), ...isAfter]),
    end,
  ]);
}

/** Where a page begins, and its order and length. */
function makePageLimits(query: RequestQuery): { isAfter: SqlPart[]; end: SqlPart } {
  const { after, before, limit = 100 } = query;
  const order = before === undefined ? readOrder(query) : reverse(readOrder(query));
  const place = before ?? after;
  return {
    isAfter: place === undefined ? [] : [makeAfterCondition(order, place)],
    end: { text: `${renderOrder(order)} limit ?`, values: [limit] },
  };
}

/*
 * A scan in the order of a page meets the rows of an agent with few ones between those of all others. So up to this many are read all and
 * sorted instead, which takes as long as passing over some ten thousand entries of an index.
 */
const fewRows = 1_000;

/** A query of open or of decided requests of one agent, which no index has in its order. */
type AgentQuery = RequestQuery & {
  agent: string | null;
  state: NonNullable<RequestQuery['state']>;
};

function isOfAgent(query: RequestQuery): query is AgentQuery {
  const { agent, state, threadId, order } = query;
  return (
    agent !== undefined && state !== undefined && threadId === undefined && order !== 'decided'
  );
}

/** The query for how many requests an agent has, open or decided, counted to one more than few. */
function makeFewCount({ agent, state }: AgentQuery, dialect: RequestDialect): SqlPart {
  const isMeant = joinConditions([
    makeStateCondition(state),
    makeEqual('agent', toAgentColumn(agent)),
  ]);
  return {
    text: `select count(*) as requests from (
      select 1 from holdpoint_requests ${dialect.useIndex(chooseAgentIndex(state))} ${isMeant.text} limit ${fewRows + 1}) as few`,
    values: isMeant.values,
  };
}

function makePageOfFew(query: AgentQuery, dialect: RequestDialect): SqlPart {
  return makePlainPage(query, chooseAgentIndex(query.state), dialect);
}

function chooseAgentIndex(state: AgentQuery['state']): string {
  return state === 'open' ? requestIndexes.openOfAgent : requestIndexes.decisionOfAgent;
}

/** The query for the number of rows. */
function makeRequestCount(filter: RequestFilter, dialect: RequestDialect): SqlPart {
  const select = { text: 'select count(*) as requests from holdpoint_requests', values: [] };
  if (!hasApproverIndex(filter)) {
    return joinParts([select, joinConditions(listConditions(filter, dialect))]);
  }
  const { approver, ...others } = filter;
  const named = `select request_id from holdpoint_request_approvers where approver in (${selectWanted(dialect)})`;
  const isNamed = { text: `request_id in (${named})`, values: [toWantedText(approver)] };
  return joinParts([select, joinConditions([...listConditions(others, dialect), isNamed])]);
}

function selectWanted(dialect: RequestDialect): string {
  return `select wanted.value from ${dialect.eachText('?', 'wanted')}`;
}

/* One scan for each name and one for requests that name nobody. Each ends at the limit, so that a page does not read all open requests. */
function makeApproverPage(query: ApproverQuery, dialect: RequestDialect): SqlPart {
  const { isAfter, end } = makePageLimits(query);
  const { agent, tenant, approver, order = 'oldest', state: _state, at: _at, ...others } = query;
  const wanted = { text: dialect.eachText('?', 'wanted'), values: [toWantedText(approver)] };
  const { named, namedOfTenant } = requestIndexes;
  const index = (typeof tenant === 'string' ? namedOfTenant : named)[openOrders[order]];
  const conditions = listConditions(others, dialect);
  const scan = joinParts([
    {
      text: `select request_id from holdpoint_request_approvers ${dialect.useIndex(index)}`,
      values: [],
    },
    joinConditions([
      { text: 'approver = wanted.value', values: [] },
      makeUnexpiredCondition(query, dialect),
      ...(agent === undefined ? [] : [makeEqual('agent', toAgentColumn(agent))]),
      ...(tenant === undefined ? [] : [makeTenantCondition(tenant)]),
      ...isAfter,
      ...(conditions.length === 0 ? [] : [makeRowCondition(conditions)]),
    ]),
    end,
  ]);
  const page = `select distinct found.value as id from ${wanted.text} cross join ${dialect.eachRow(scan.text, 'found')}`;
  return joinParts([
    {
      /* SQLite reads the tables of a cross join in their order. */
      text: `select ${requestColumns} from (${page}) as page cross join holdpoint_requests where request_id = page.id and state = 'open'`,
      values: [...wanted.values, ...scan.values],
    },
    end,
  ]);
}

/** The condition that the request of a row of `holdpoint_request_approvers` fulfils these. */
function makeRowCondition(conditions: readonly SqlPart[]): SqlPart {
  const isRow = {
    text: 'requests.request_id = holdpoint_request_approvers.request_id',
    values: [],
  };
  const { text, values } = joinConditions([isRow, ...conditions]);
  return { text: `exists (select 1 from holdpoint_requests as requests ${text})`, values };
}

/** A query that the indexes of approvers serve. */
type ApproverQuery = RequestQuery & {
  approver: readonly string[];
  order?: keyof typeof openOrders;
};

/** The indexes of open requests for an order. */
const openOrders = { oldest: 'time', newest: 'time', expires: 'expiry', risk: 'risk' } as const;

/** Closed requests have no row for each approver. A thread has few requests, which are read all. */
function hasApproverIndex<QUERY extends RequestQuery>(
  query: QUERY,
): query is QUERY & ApproverQuery {
  const { approver, state, threadId, order } = query;
  const isOpen = state === 'open' && order !== 'decided';
  return isOpen && approver !== undefined && threadId === undefined;
}

/* Only open requests are ordered by when they expire or by risk without being sorted. */
function chooseIndex({
  state,
  agent,
  tenant,
  threadId,
  order = 'oldest',
}: RequestQuery): string | undefined {
  if (threadId !== undefined) return requestIndexes.thread;
  if (order === 'decided') {
    if (state === undefined || state === 'open') return undefined;
    return agent === undefined ? requestIndexes.decision : requestIndexes.decisionOfAgent;
  }
  const { open, openOfTenant, creation } = requestIndexes;
  const column = openOrders[order];
  if (state === 'open') return (typeof tenant === 'string' ? openOfTenant : open)[column];
  return column === 'time' ? creation : undefined;
}

/* The state is written out, because the indexes are those of open or of closed rows. */
function listConditions(filter: RequestQuery, dialect: RequestDialect): SqlPart[] {
  const { state, kind, agent, tenant, approver, toolName, risk, requester, threadId } = filter;
  return [
    ...(threadId === undefined ? [] : [makeEqual('thread_id', threadId)]),
    ...listStateConditions(filter, dialect),
    ...(state === undefined || state === 'open' || state === 'decided'
      ? []
      : [makeEqual('state', state)]),
    ...(kind === undefined ? [] : [makeEqual('kind', kind)]),
    ...(agent === undefined ? [] : [makeEqual('agent', toAgentColumn(agent))]),
    ...(tenant === undefined ? [] : [makeTenantCondition(tenant)]),
    ...(toolName === undefined ? [] : [makeEqual('tool_name', toolName)]),
    ...(risk === undefined ? [] : [makeEqual('risk', toRiskColumn(risk))]),
    ...(requester === undefined ? [] : [makeRequesterCondition(requester, dialect)]),
    ...(approver === undefined ? [] : [makeApproverCondition(approver, dialect)]),
  ];
}

function makeEqual(column: string, value: string | number): SqlPart {
  return { text: `${column} = ?`, values: [value] };
}

function listStateConditions(filter: RequestQuery, dialect: RequestDialect): SqlPart[] {
  const { state } = filter;
  if (state === undefined) return [];
  if (state !== 'open') return [makeStateCondition(state)];
  return [makeStateCondition(state), makeUnexpiredCondition(filter, dialect)];
}

function makeStateCondition(state: NonNullable<RequestFilter['state']>): SqlPart {
  return { text: state === 'open' ? "state = 'open'" : "state <> 'open'", values: [] };
}

/* With `+`, no index serves it: of two lower limits SQLite takes this one, and a page would begin at the first row instead of at its place. */
function makeUnexpiredCondition(
  { at, order, after }: RequestQuery,
  dialect: RequestDialect,
): SqlPart {
  const { text, values } = at === undefined ? dialect.readClock() : { text: '?', values: [at] };
  const column = order === 'expires' && after !== undefined ? '+expires_at' : 'expires_at';
  return { text: `${column} > ${text}`, values };
}

function makeTenantCondition(tenant: string | null): SqlPart {
  if (tenant === null) return { text: 'tenant is null', values: [] };
  return { text: 'tenant = ?', values: [tenant] };
}

function makeRequesterCondition(requester: string, dialect: RequestDialect): SqlPart {
  const from = dialect.eachText('requesters', 'person');
  return { text: `exists (select 1 from ${from} where person.value = ?)`, values: [requester] };
}

function makeApproverCondition(approver: readonly string[], dialect: RequestDialect): SqlPart {
  const wanted = selectWanted(dialect);
  const isNamed = `exists (select 1 from ${dialect.eachText('approvers', 'person')} where person.value in (${wanted}))`;
  return { text: `(approvers = '[]' or ${isNamed})`, values: [toWantedText(approver)] };
}

function toWantedText(approver: readonly string[]): string {
  return JSON.stringify([...new Set([anyApprover, ...approver])]);
}

function readOrder({ order = 'oldest' }: RequestQuery): Order {
  return orders[order];
}

function reverse({ columns, isDescending, isIdDescending }: Order): Order {
  return { columns, isDescending: !isDescending, isIdDescending: !isIdDescending };
}

function renderOrder({ columns, isDescending, isIdDescending }: Order): string {
  const terms = columns.map((name) => (isDescending ? `${name} desc` : name));
  return `order by ${[...terms, isIdDescending ? 'request_id desc' : 'request_id'].join(', ')}`;
}

/** The condition that a row comes after a place in an order. */
function makeAfterCondition(order: Order, place: RequestPlace): SqlPart {
  const at = toPlaceColumns(place);
  const values = order.columns.map((name) => at[name]);
  const names = order.columns.join(', ');
  const marks = order.columns.map(() => '?').join(', ');
  const sign = order.isDescending ? '<' : '>';
  if (order.isDescending === order.isIdDescending) {
    const text = `(${names}, request_id) ${sign} (${marks}, ?)`;
    return { text, values: [...values, at.request_id] };
  }
  const idSign = order.isIdDescending ? '<' : '>';
  return {
    /* The first comparison is for the index. */
    text: `(${names}) ${sign}= (${marks}) and ((${names}) ${sign} (${marks}) or request_id ${idSign} ?)`,
    values: [...values, ...values, at.request_id],
  };
}

function joinConditions(conditions: readonly SqlPart[]): SqlPart {
  if (conditions.length === 0) return { text: '', values: [] };
  return {
    text: `where ${conditions.map(({ text }) => text).join(' and ')}`,
    values: conditions.flatMap(({ values }) => values),
  };
}

function joinParts(parts: readonly SqlPart[]): SqlPart {
  return {
    text: parts.map(({ text }) => text).join(' '),
    values: parts.flatMap(({ values }) => values),
  };
}
