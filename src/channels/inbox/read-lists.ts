import { z } from 'zod';
import type { SeenRequest } from '../../agent/list-requests.ts';
import { risks } from '../../content/approval-terms.ts';
import { parseBase64url, toBase64url } from '../../content/base64.ts';
import { parseJson } from '../../content/json-value.ts';
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
import { type InboxContext, type InboxUser, isTrouble, maySeeRequest } from './inbox-context.ts';
import { describeEntry } from './describe-entry.ts';
import { shortenEntries } from './shorten-lists.ts';

/* So many pages of rows are read at most to fill one for a person, whose rights the store doesn't know. */
const mostReads = 10;

/* A higher count says nothing more to a person. */
const highestCount = 100;

/** A page of a list: which one, of what, and from where. */
type ListQuery = z.infer<typeof querySchema>;

const querySchema = z.strictObject({
  list: z.enum(inboxLists).default('mine'),
  agent: z.string().max(100).optional(),
  tool: z.string().max(1_000).optional(),
  risk: z.enum(risks).optional(),
  requester: z.string().max(1_000).optional(),
  text: z.string().max(1_000).optional(),
  order: z.enum(['risk', 'expires', 'oldest', 'newest']).default('risk'),
  after: z.string().max(10_000).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** The query of a list. Throws `invalid-input`, also for a name that no query has. */
export function parseListQuery(parameters: URLSearchParams): ListQuery {
  const { data, error } = querySchema.safeParse(Object.fromEntries(parameters));
  if (error === undefined) return data;
  throw new HoldpointError('invalid-input', `The query is not valid: ${z.prettifyError(error)}`);
}

/** A page of a list for a person. */
export async function readPage(
  inbox: InboxContext,
  user: InboxUser,
  query: ListQuery,
): Promise<InboxPage> {
  /* Read before the rows: what changes meanwhile is told again. */
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
  const { found, next } = await readRows(inbox, user, query, async (seen) => {
    const entry = await describeEntry(inbox, user, seen);
    return wanted === undefined || hasText(entry, wanted) ? entry : undefined;
  });
  return { entries: shortenEntries(found), ...(next === undefined ? {} : { next }) };
}

/* In what the person is shown: a search in what is masked would tell it letter by letter. */
function hasText(entry: InboxEntry, wanted: string): boolean {
  const { toolName, agent, requesters, request, lostCall, stuck, details } = entry;
  const { text, reason } =
    request?.type === 'approval-request' ? request : { ...request, reason: '' };
  const shown = [toolName, agent, ...requesters, text, reason, stuck?.error, lostCall?.error];
  const values = [request?.toolCall?.input, lostCall?.input, details];
  const all = [...shown, ...values.map((value) => JSON.stringify(value))];
  return all.some((each) => each?.toLowerCase().includes(wanted) === true);
}

/** How many there are of each list that is counted, up to a hundred. */
export async function countLists(inbox: InboxContext, user: InboxUser): Promise<InboxCounts> {
  await syncClock(inbox.agents);
  const count = async (list: InboxList) => {
    const query = { list, order: 'oldest', limit: highestCount } as const;
    const { found, next } = await readRows(inbox, user, query, async () => true);
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
      /* They are few among many, and the store has no index for them. */
      if (options.maySettle === undefined && options.maySee === undefined) return [];
      return [
        { state: 'open', order, kind: 'lost-call' },
        { state: 'open', order, kind: 'stuck-thread' },
      ];
  }
}

/** Whether a row belongs to a list. Lost calls and stuck threads have one of their own. */
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

/**
 * What `make` makes of the rows of a list that a person may see, a page of it; `undefined` leaves one out. Reads at most ten pages of rows for it, so that
 * a page may be short, or empty, and still have a `next`.
 */
async function readRows<MADE>(
  inbox: InboxContext,
  user: InboxUser,
  query: ListQuery,
  make: (seen: SeenRequest) => Promise<MADE | undefined>,
): Promise<{ found: MADE[]; next?: string }> {
  const { agents } = inbox;
  const sections = listSections(inbox, user, query);
  const { limit } = query;
  const at = agents.host.now();
  const found: MADE[] = [];
  let { section, place } = parsePlace(query.after);
  for (let read = 0; section < sections.length; read += 1) {
    if (read === mostReads) return { found, next: formatPlace(section, place) };
    const filter = { ...selectRows(query, agents.only), ...sections[section], at, limit };
    const rows = await agents.requests.list({ ...filter, ...(place && { after: place }) });
    const made = await makeAll(inbox, user, { rows, query, make });
    const isEnd = rows.length < limit;
    for (const [index, row] of rows.entries()) {
      place = row;
      const each = made.get(row.requestId);
      if (each === undefined) continue;
      found.push(each);
      if (found.length < limit || (isEnd && index === rows.length - 1)) continue;
      return { found, next: formatPlace(section, place) };
    }
    if (!isEnd) continue;
    section += 1;
    place = undefined;
    if (found.length < limit || section === sections.length) continue;
    return { found, next: formatPlace(section, place) };
  }
  return { found };
}

/** What is made of rows, by request, together: the app's functions may take their time. */
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
    make: (seen: SeenRequest) => Promise<MADE | undefined>;
  },
): Promise<Map<string, MADE>> {
  const seen = await seeInboxRows(inbox.agents, rows, user.by);
  const made = await Promise.all(
    seen.map(async (each): Promise<[string, MADE][]> => {
      const result = (await isListed(inbox, user, query, each)) ? await make(each) : undefined;
      return result === undefined ? [] : [[each.row.requestId, result]];
    }),
  );
  return new Map(made.flat());
}

function selectRows(
  { agent, tool, risk, requester }: ListQuery,
  only: string | null | undefined,
): RequestQuery {
  /* An agent without a name has the empty one in a query. */
  const named = agent === undefined ? only : agent || null;
  return {
    ...(named === undefined ? {} : { agent: named }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(risk === undefined ? {} : { risk }),
    ...(requester === undefined ? {} : { requester }),
  };
}

/** The next place of a list as a client sends it back: which section, and after which row. */
function formatPlace(section: number, row: StoredRequest | RequestPlace | undefined): string {
  const { requestId, createdAt, expiresAt, risk, decidedAt } = row ?? {};
  const place =
    row === undefined ? {} : { place: { requestId, createdAt, expiresAt, risk, decidedAt } };
  return toBase64url(new TextEncoder().encode(JSON.stringify({ section, ...place })));
}

const placeSchema: z.ZodType<{ section: number; place?: RequestPlace | undefined }> = z.object({
  section: z.int().min(0).max(1),
  place: z
    .object({
      requestId: z.string(),
      createdAt: z.number(),
      expiresAt: z.number().optional(),
      risk: z.enum(risks).nullable(),
      decidedAt: z.number().optional(),
    })
    .optional(),
});

function parsePlace(text: string | undefined): {
  section: number;
  place?: RequestPlace | undefined;
} {
  if (text === undefined) return { section: 0 };
  const bytes = parseBase64url(text);
  const { data } = placeSchema.safeParse(bytes && parseJson(new TextDecoder().decode(bytes)));
  if (data !== undefined) return data;
  throw new HoldpointError('invalid-input', 'after must be the `next` of a page.');
}
