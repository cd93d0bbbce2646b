import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { pickPlace, type SeenRequest } from '../../agent.ts';
import { risks } from '../../content/approval-terms.ts';
import { parseBase64url, toBase64url } from '../../json/base64.ts';
import { parseJson } from '../../json/json-value.ts';
import { HoldpointError } from '../../errors.ts';
import { toStoredName } from '../../thread/stored-requests.ts';
import type {
  RequestPlace,
  RequestQuery,
  StoredRequest,
} from '../../thread/thread-store-requests.ts';
import {
  type InboxCounts,
  type InboxEntry,
  type InboxList,
  inboxLists,
  type InboxPage,
} from './inbox-api.ts';
import { seeInboxRows, syncClock } from './inbox-agents.ts';
import {
  hasNoNul,
  type InboxContext,
  type InboxUser,
  isTrouble,
  maySeeRequest,
} from './inbox-context.ts';
import { describeEntry } from './shown-entry.ts';
import { shortenEntries } from './shorten-lists.ts';

/*
 * The number of pages of rows to read to fill one for a person, whose rights the store doesn't know. More are read only to find a first row
 * that they see: `next` may name no other.
 */
const mostReads = 10;

/* The number of rows to read at once to find it. */
const searchedRows = 200;

/* A higher count tells a person nothing more. */
const highestCount = 100;

/** The query of a page: its list, its filters, and its start. */
type ListQuery = z.infer<typeof querySchema>;

const filterSchema = (longest: number) =>
  z.string().max(longest).refine(hasNoNul, 'must not have a NUL').optional();

const querySchema = z.strictObject({
  list: z.enum(inboxLists).default('mine'),
  agent: filterSchema(100),
  tool: filterSchema(1_000),
  risk: z.enum(risks).optional(),
  requester: filterSchema(1_000),
  text: filterSchema(1_000),
  order: z.enum(['risk', 'expires', 'oldest', 'newest']).default('risk'),
  after: z.string().max(10_000).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** Parses the query of a list. Throws `invalid-input`, also for an unknown name. */
export function parseListQuery(parameters: URLSearchParams): ListQuery {
  const { data, error } = querySchema.safeParse(Object.fromEntries(parameters));
  if (error === undefined) return data;
  throw new HoldpointError('invalid-input', `The query is not valid: ${renderSchemaError(error)}`);
}

/** Reads a page of a list for a person. */
export async function readPage(
  inbox: InboxContext,
  user: InboxUser,
  query: ListQuery,
): Promise<InboxPage> {
  /* Read before the rows: changes in between are sent again. */
  const position = await inbox.feed.findEnd();
  await syncClock(inbox.agents);
  const { entries, next } = await readEntries(inbox, user, query);
  const { viewer } = user;
  const at = inbox.agents.host.now();
  return { entries, ...(next === undefined ? {} : { next }), viewer, at, position };
}

async function readEntries(
  inbox: InboxContext,
  user: InboxUser,
  query: ListQuery,
): Promise<{ entries: InboxEntry[]; next?: string }> {
  const wanted = query.text?.toLowerCase();
  const make = async (seen: SeenRequest): Promise<InboxEntry | undefined> => {
    const entry = await describeEntry(inbox, user, seen);
    return wanted === undefined || hasText(entry, wanted) ? entry : undefined;
  };
  const { found, next } = await readRows(inbox, user, query, { make, goesOn: true });
  return {
    entries: shortenEntries(found),
    ...(next === undefined ? {} : { next: formatPlace(next) }),
  };
}

/* Searches only shown text: a search in masked text would reveal it letter by letter. */
function hasText(entry: InboxEntry, wanted: string): boolean {
  const { toolName, agent, requesters, request, lostCall, stuck, details } = entry;
  const { text, reason } =
    request?.type === 'approval-request' ? request : { ...request, reason: '' };
  const shown = [toolName, agent, ...requesters, text, reason, stuck?.error, lostCall?.error];
  const values = [request?.toolCall?.input, lostCall?.input, details];
  const all = [...shown, ...values.map((value) => JSON.stringify(value))];
  return all.some((each) => each?.toLowerCase().includes(wanted) === true);
}

/** Counts the entries of each counted list, up to a hundred. */
export async function countLists(inbox: InboxContext, user: InboxUser): Promise<InboxCounts> {
  await syncClock(inbox.agents);
  const count = async (list: InboxList) => {
    const query = { list, order: 'oldest', limit: highestCount } as const;
    const { found, next } = await readRows(inbox, user, query, countedRows);
    return { count: found.length, hasMore: next !== undefined };
  };
  const [mine, all, unsettled] = [
    await count('mine'),
    await count('all'),
    await count('unsettled'),
  ];
  return { mine, all, unsettled, viewer: user.viewer, at: inbox.agents.host.now() };
}

/** One part of a list, whose rows the store has in one order. */
type Section = Pick<RequestQuery, 'state' | 'order' | 'kind' | 'approver'>;

function listSections(
  { options }: InboxContext,
  { as }: InboxUser,
  { list, order }: ListQuery,
): readonly Section[] {
  switch (list) {
    case 'mine':
      return [
        { state: 'open', order, ...(as === undefined ? {} : { approver: as.map(toStoredName) }) },
      ];
    case 'all':
      return [{ state: 'open', order }];
    case 'decided':
      return [{ state: 'decided', order: 'decided' }];
    case 'unsettled':
      /* They are rare, and the store has no index for them. */
      if (options.maySettle === undefined && options.maySee === undefined) return [];
      return [
        { state: 'open', order, kind: 'lost-call' },
        { state: 'open', order, kind: 'stuck-thread' },
      ];
  }
}

/** Checks whether a row belongs to a list. Lost calls and stuck threads have one of their own. */
async function isListed(
  inbox: InboxContext,
  user: InboxUser,
  { list }: ListQuery,
  seen: SeenRequest,
): Promise<boolean> {
  if (list === 'mine' && !seen.rights.mayAnswer) return false;
  if ((list === 'mine' || list === 'all') && isTrouble(seen.row)) return false;
  return maySeeRequest(inbox, user, seen);
}

/** The conversion of a list's rows. */
interface Reading<MADE> {
  /** Converts a row that the person sees; `undefined` leaves it out. */
  make: (seen: SeenRequest) => Promise<MADE | undefined>;
  /** True if the client may continue after its end. */
  goesOn: boolean;
}

/* A count is not continued. */
const countedRows: Reading<true> = { make: async () => true, goesOn: false };

/** The place at which a list continues: the section, and the row before it. */
interface ListPlace {
  section: number;
  row?: RequestPlace | undefined;
}

/**
 * Reads a page of a list's rows that a person sees, converted. It may be short or empty and still have a `next`, after ten pages of rows.
 * If the client may continue there, `next` is the beginning of a section or a row that the person sees: it reveals nothing of other rows.
 */
async function readRows<MADE>(
  inbox: InboxContext,
  user: InboxUser,
  query: ListQuery,
  { make, goesOn }: Reading<MADE>,
): Promise<{ found: MADE[]; next?: ListPlace }> {
  const { agents } = inbox;
  const sections = listSections(inbox, user, query);
  const at = agents.host.now();
  const found: MADE[] = [];
  let { section, row: last } = parsePlace(query.after);
  let seen: ListPlace | undefined;
  for (let read = 0; section < sections.length; read += 1) {
    const isLong = read >= mostReads;
    if (isLong && seen !== undefined) return { found, next: seen };
    if (isLong && !goesOn) return { found, next: { section, row: last } };
    const limit = isLong ? Math.max(query.limit, searchedRows) : query.limit;
    const filter = { ...selectRows(query, agents.only), ...sections[section], at, limit };
    const rows = await agents.requests.list({ ...filter, ...(last && { after: last }) });
    const listed = await makeAll(inbox, user, { rows, query, make });
    const isEnd = rows.length < limit;
    for (const [index, row] of rows.entries()) {
      last = row;
      const each = listed.get(row.requestId);
      if (each === undefined) continue;
      seen = { section, row };
      if (each.made === undefined) continue;
      found.push(each.made);
      if (found.length < query.limit || (isEnd && index === rows.length - 1)) continue;
      return { found, next: seen };
    }
    if (!isEnd) continue;
    section += 1;
    last = undefined;
    seen = { section };
    if (found.length < query.limit || section === sections.length) continue;
    return { found, next: seen };
  }
  return { found };
}

/** Converts the rows that the person sees in parallel, by request: the app's functions may be slow. */
async function makeAll<MADE>(
  inbox: InboxContext,
  user: InboxUser,
  {
    rows,
    query,
    make,
  }: {
    rows: readonly StoredRequest[];
    query: ListQuery;
    make: Reading<MADE>['make'];
  },
): Promise<Map<string, { made: MADE | undefined }>> {
  const seen = await seeInboxRows(inbox.agents, rows, user.by);
  const made = await Promise.all(
    seen.map(async (each): Promise<[string, { made: MADE | undefined }][]> =>
      (await isListed(inbox, user, query, each))
        ? [[each.row.requestId, { made: await make(each) }]]
        : [],
    ),
  );
  return new Map(made.flat());
}

function selectRows(
  { agent, tool, risk, requester }: ListQuery,
  only: string | null | undefined,
): RequestQuery {
  /* An agent without a name has an empty name in a query. */
  const named = agent === undefined ? only : agent || null;
  return {
    ...(named === undefined ? {} : { agent: named }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(risk === undefined ? {} : { risk }),
    ...(requester === undefined ? {} : { requester }),
  };
}

/** Formats a place for a client to send back. */
function formatPlace({ section, row }: ListPlace): string {
  const place = row === undefined ? {} : { row: pickPlace(row) };
  return toBase64url(new TextEncoder().encode(JSON.stringify({ section, ...place })));
}

const placeSchema: z.ZodType<ListPlace> = z.object({
  section: z.int().min(0).max(1),
  row: z
    .object({
      requestId: z.string().refine(hasNoNul),
      createdAt: z.number(),
      expiresAt: z.number().optional(),
      risk: z.enum(risks).nullable(),
      decidedAt: z.number().optional(),
    })
    .optional(),
});

function parsePlace(text: string | undefined): ListPlace {
  if (text === undefined) return { section: 0 };
  const bytes = parseBase64url(text);
  const { data } = placeSchema.safeParse(bytes && parseJson(new TextDecoder().decode(bytes)));
  if (data !== undefined) return data;
  throw new HoldpointError('invalid-input', 'after must be the `next` of a page.');
}
