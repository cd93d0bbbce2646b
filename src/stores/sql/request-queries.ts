import type {
  RequestFilter,
  RequestQuery,
  ThreadStoreRequests,
} from '../../thread/thread-store-requests.ts';
import { anyApprover } from '../rows/table.ts';
import { listRequestConditions, makeRequestPage } from '../rows/tables.ts';
import { approverColumns, requestIndexes, requestTable } from './request-rows.ts';
import {
  joinConditions,
  joinParts,
  makePageLimits,
  type SqlPart,
  writeCondition,
} from './sql-parts.ts';

/* Pages and counts of requests in SQL. */

/** The SQL in which databases differ. */
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
      const page = isOfFew ? makePageOfFew(query, dialect) : selectPage(query, dialect);
      const rows = (await read(page)).map(requestTable.parse);
      return query.before === undefined ? rows : rows.toReversed();
    },

    async count(filter) {
      return readCount(await read(makeRequestCount(filter, dialect)));
    },

    async get(requestId) {
      const text = `select ${requestTable.columns} from holdpoint_requests where request_id = ?`;
      const [row] = await read({ text, values: [requestId] });
      return row === undefined ? undefined : requestTable.parse(row);
    },
  };
}

function readCount([row]: readonly unknown[]): number {
  return Number(Object.values(row ?? {})[0]);
}

/** The query for a page of rows; with `before`, the last row of the page comes first. */
function selectPage(query: RequestQuery, dialect: RequestDialect): SqlPart {
  if (hasApproverIndex(query)) return makeApproverPage(query, dialect);
  return makePlainPage(query, chooseIndex(query), dialect);
}

/** The query for a page of rows that one scan of an index finds. */
function makePlainPage(
  query: RequestQuery,
  index: string | undefined,
  dialect: RequestDialect,
): SqlPart {
  const { isAfter, end } = makePageLimits(requestTable, makeRequestPage(query));
  return joinParts([
    { text: `select ${requestTable.columns} from holdpoint_requests`, values: [] },
    { text: index === undefined ? '' : dialect.useIndex(index), values: [] },
    joinConditions([...listConditions(query, dialect), ...isAfter]),
    end,
  ]);
}

/*
 * A scan in the order of a page finds an agent's few rows among those of all others. So up to this many rows are all read and sorted
 * instead, which takes as long as skipping some ten thousand entries of an index.
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

/** Makes the query for the number of an agent's requests, open or decided, counted to one more than few. */
function makeFewCount({ agent, state }: AgentQuery, dialect: RequestDialect): SqlPart {
  const all: AgentQuery = { agent, state: state === 'open' ? 'open' : 'decided' };
  const conditions = listRequestConditions(all, 0).filter(({ column }) => column !== 'expiresAt');
  const { text, values } = joinConditions(
    conditions.map((condition) => writeRequestCondition(condition, all, dialect)),
  );
  return {
    text: `select count(*) as requests from (
      select 1 from holdpoint_requests ${dialect.useIndex(chooseAgentIndex(state))} ${text} limit ${fewRows + 1}) as few`,
    values,
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

const columnsOfApprovers = approverColumns.split(', ');

/* One scan for each name and one for requests without approvers. Each ends at the limit, so that a page does not read all open requests. */
function makeApproverPage(query: ApproverQuery, dialect: RequestDialect): SqlPart {
  const { isAfter, end } = makePageLimits(requestTable, makeRequestPage(query));
  const { tenant, approver, order = 'oldest' } = query;
  const wanted = { text: dialect.eachText('?', 'wanted'), values: [toWantedText(approver)] };
  const { named, namedOfTenant } = requestIndexes;
  const index = (typeof tenant === 'string' ? namedOfTenant : named)[openOrders[order]];
  const own: SqlPart[] = [];
  const others: SqlPart[] = [];
  for (const condition of listRequestConditions(query, dialect.readClock())) {
    const { column } = condition;
    /* All rows of approvers are those of open requests. */
    if (column === 'approvers' || column === 'state') continue;
    const isOwn = columnsOfApprovers.includes(requestTable.nameOf(column));
    (isOwn ? own : others).push(writeRequestCondition(condition, query, dialect));
  }
  const scan = joinParts([
    {
      text: `select request_id from holdpoint_request_approvers ${dialect.useIndex(index)}`,
      values: [],
    },
    joinConditions([
      { text: 'approver = wanted.value', values: [] },
      ...own,
      ...isAfter,
      ...(others.length === 0 ? [] : [makeRowCondition(others)]),
    ]),
    end,
  ]);
  const page = `select distinct found.value as id from ${wanted.text} cross join ${dialect.eachRow(scan.text, 'found')}`;
  return joinParts([
    {
      /* SQLite reads the tables of a cross join in their order. */
      text: `select ${requestTable.columns} from (${page}) as page cross join holdpoint_requests where request_id = page.id and state = 'open'`,
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

/** Closed requests have no row for each approver. A thread has few requests, which are all read. */
function hasApproverIndex<QUERY extends RequestQuery>(
  query: QUERY,
): query is QUERY & ApproverQuery {
  const { approver, state, threadId, order } = query;
  const isOpen = state === 'open' && order !== 'decided';
  return isOpen && approver !== undefined && threadId === undefined;
}

/* Only open requests have an index in the order of expiry or of risk. */
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

type Condition = ReturnType<typeof listRequestConditions<SqlPart>>[number];

function listConditions(query: RequestQuery, dialect: RequestDialect): SqlPart[] {
  return listRequestConditions(query, dialect.readClock()).map((condition) =>
    writeRequestCondition(condition, query, dialect),
  );
}

function writeRequestCondition(
  condition: Condition,
  { order, after }: RequestQuery,
  dialect: RequestDialect,
): SqlPart {
  const { column } = condition;
  if (column === 'state') return writeStateCondition(condition);
  if ('above' in condition) {
    const { above } = condition;
    const { text, values } = typeof above === 'number' ? { text: '?', values: [above] } : above;
    /*
     * With `+`, no index serves it: of two lower limits SQLite takes this one, and a page would begin at the first row instead of at its
     * place.
     */
    return {
      text: `${order === 'expires' && after !== undefined ? '+' : ''}expires_at > ${text}`,
      values,
    };
  }
  const kind = requestTable.fields.get(column)?.kind;
  if ('oneOf' in condition && (kind === 'texts' || kind === 'approvers')) {
    const isEmpty = kind === 'approvers' ? `${column} = '[]' or ` : '';
    const person = dialect.eachText(column, 'person');
    /* One value, as some databases limit their number. */
    return {
      text: `(${isEmpty}exists (select 1 from ${person} where person.value in (${selectWanted(dialect)})))`,
      values: [JSON.stringify(condition.oneOf)],
    };
  }
  return writeCondition(requestTable, condition);
}

/* Written out, because the indexes are those of open or of closed rows. */
function writeStateCondition(condition: Condition): SqlPart {
  if (!('oneOf' in condition)) return { text: "state <> 'open'", values: [] };
  if (condition.oneOf.includes('open')) return { text: "state = 'open'", values: [] };
  return { text: "state <> 'open' and state = ?", values: [...condition.oneOf] };
}

function toWantedText(approver: readonly string[]): string {
  return JSON.stringify([...new Set([anyApprover, ...approver])]);
}
