import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { makeAnswerable } from '../content/answerable.ts';
import { risks } from '../content/approval-terms.ts';
import { refuseUnknown } from '../content/check-settings.ts';
import { parseJson } from '../json/json-value.ts';
import type { RequestRights } from '../content/request-rights.ts';
import type { ToolCall } from '../content/tool-call.ts';
import {
  type UserInputRequest,
  type UserInputRequestContent,
  userInputRequestSchema,
} from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { toStoredName } from '../thread/stored-requests.ts';
import type {
  RequestPlace,
  RequestQuery,
  StoredRequest,
  ThreadStoreRequests,
} from '../thread/thread-store-requests.ts';
import { makeNoRights } from '../content/no-rights.ts';
import { findRights } from './acts/request-rights.ts';
import { type AnswerOptions, parseAnswerer } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { findThreadRights } from './thread-rights.ts';
import type { ThreadHandles } from './thread-handles.ts';

/** Selects a page of the requests of an agent, for one person. */
export interface RequestListQuery
  extends Omit<RequestQuery, 'agent' | 'approver' | 'at'>, AnswerOptions {
  /**
   * The strings for which the person answers, such as their name, roles and teams: only requests that name one of them as approver, or
   * nobody. The store finds these fast. Without it, every request is read and `mayAnswer` alone decides.
   */
  as?: readonly string[];
  /**
   * `answerable` (default for open requests): those that wait for this person. `all` (default for any other `state`): everything that the
   * query selects, each with the person's rights.
   */
  include?: 'answerable' | 'all';
}

/** A request as it is listed for one person. */
export interface ListedRequest<CALL extends ToolCall = ToolCall> {
  /** The row as the store keeps it. It may be older than the thread by a moment, and decides nothing. */
  row: StoredRequest;
  /** The request of the row; absent for a lost call, a stuck thread, and a text that was erased or is damaged. */
  request?: UserInputRequestContent<CALL>;
  /** What the person may do with it now. */
  rights: RequestRights;
}

/** A page of requests for one person. */
export interface RequestList<CALL extends ToolCall = ToolCall> {
  /** In the order of the query. There may be fewer than `limit` although more follow: see `next`. */
  requests: ListedRequest<CALL>[];
  /**
   * Where the list continues: `after` of the next query, or `before` for a query with `before`. Absent at its end. It is the place of the last
   * request of this page, so that it says nothing of others, and may be sent to a client: of what comes back, the place is read, and anything
   * else is refused with `invalid-input`.
   */
  next?: RequestPlace;
}

/** What says of a row what one person may do with its request. */
export type RequestRow = Pick<StoredRequest, 'requestId' | 'threadId' | 'kind' | 'state' | 'text'>;

/** A row with what one person may do with its request, and whether they could answer it if it were still open. */
export interface SeenRequest<ROW extends RequestRow = StoredRequest> extends Pick<
  ListedRequest,
  'request' | 'rights'
> {
  row: ROW;
  /** Whether an answer of theirs would count, or has counted, if the request were still open. Says who may see what others have decided. */
  couldAnswer: boolean;
}

/** An agent that says what a person may do with rows, without a query. */
interface ListingAgent {
  [seenRequests]<ROW extends RequestRow>(
    rows: readonly ROW[],
    by: AnswerOptions,
  ): Promise<SeenRequest<ROW>[]>;
}

/** The key of the method that says it, for channels that have rows. A registered symbol, so that it works across two copies of the package. */
export const seenRequests: unique symbol = Symbol.for('holdpoint.seen-requests');

/** Whether an answer of a person to a request that is over would count, or has counted, if it were still open. Nobody's for an agent that can't say. */
export async function couldAnswer(
  agent: object,
  request: UserInputRequest,
  by: AnswerOptions,
): Promise<boolean> {
  if (!isListing(agent)) return false;
  const { requestId, threadId } = request;
  const kind = request.type === 'approval-request' ? 'approval' : 'question';
  const row = {
    requestId,
    threadId,
    kind,
    state: 'settled',
    text: JSON.stringify(request),
  } as const;
  const [seen] = await agent[seenRequests]([row], by);
  return seen?.couldAnswer === true;
}

/** Whether an agent can say what a person may do with rows: an app's own object around an agent can't. */
export function isListing(agent: object): agent is ListingAgent {
  return seenRequests in agent;
}

const settings = {
  as: true,
  include: true,
  principal: true,
  channel: true,
  state: true,
  kind: true,
  tenant: true,
  toolName: true,
  risk: true,
  requester: true,
  threadId: true,
  order: true,
  after: true,
  before: true,
  limit: true,
} satisfies Record<keyof RequestListQuery, true>;

/* So many pages of rows are read to fill one page for a person, and more only to find a first request: a place to go on may name no other. */
const mostReads = 10;

/** Lists requests of the agent's threads for a person: see `Agent.requests`. */
export async function listRequests(
  context: AgentContext,
  threads: ThreadHandles,
  query: RequestListQuery,
): Promise<RequestList> {
  refuseUnknown('agent.requests', query, settings);
  const {
    as: approver,
    include,
    principal,
    channel,
    ...selected
  } = { ...query, ...parsePlaces(query) };
  const by = parseAnswerer({
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
  });
  const store = requireRequests(context);
  const limit = checkPageSize(selected.limit);
  const { state = 'open', before } = selected;
  const isMine = (include ?? (state === 'open' ? 'answerable' : 'all')) === 'answerable';
  const filter = {
    ...selected,
    state,
    at: context.now(),
    agent: context.name ?? null,
    ...(approver === undefined ? {} : { approver: approver.map(toStoredName) }),
    limit,
  };
  const found: ListedRequest[] = [];
  let last: StoredRequest | undefined;
  for (let read = 0; read < mostReads || found.length === 0; read += 1) {
    const rows = await store.list(
      last === undefined ? filter : { ...filter, ...follow(query, last) },
    );
    /* Rows before a place are read from it backwards. */
    const ordered = before === undefined ? rows : rows.toReversed();
    const listed = await Promise.all(
      ordered.map(async (row) => listRow(context, threads, row, by)),
    );
    for (const [index, each] of listed.entries()) {
      if (!isMine || each.rights.mayAnswer) found.push(each);
      if (found.length < limit) continue;
      const isEnd = rows.length < limit && index === listed.length - 1;
      return makePage(query, found, !isEnd);
    }
    if (rows.length < limit) return makePage(query, found, false);
    last = ordered.at(-1);
  }
  return makePage(query, found, true);
}

/** What continues a query behind a row. */
function follow({ before }: RequestListQuery, row: StoredRequest): Partial<RequestQuery> {
  return before === undefined ? { after: row } : { before: row };
}

function makePage(
  { before }: RequestListQuery,
  found: readonly ListedRequest[],
  hasMore: boolean,
): RequestList {
  const requests = before === undefined ? [...found] : found.toReversed();
  const last = hasMore ? found.at(-1) : undefined;
  return { requests, ...(last === undefined ? {} : { next: pickPlace(last.row) }) };
}

/** The place of a row, which has more. */
export function pickPlace({
  requestId,
  createdAt,
  expiresAt,
  risk,
  decidedAt,
}: RequestPlace): RequestPlace {
  return {
    requestId,
    createdAt,
    risk,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(decidedAt === undefined ? {} : { decidedAt }),
  };
}

/** Rows of the agent's threads as one person sees them, found out as `Agent.requests` does it. */
export async function seeRows<ROW extends RequestRow>(
  context: AgentContext,
  threads: ThreadHandles,
  rows: readonly ROW[],
  by: AnswerOptions,
): Promise<SeenRequest<ROW>[]> {
  return Promise.all(
    rows.map(async (row) => {
      const listed = await listRow(context, threads, row, by);
      const { request, rights } = listed;
      const isOver = request !== undefined && rights.refusal === 'closed';
      /* Who could answer a sub-agent's request, only that agent knew, as long as it was open. */
      const isKnown = isOver && request.path === undefined;
      const asked = isKnown ? await findPastRights(context, request, by) : rights;
      return { ...listed, couldAnswer: isAnswerer(asked) };
    }),
  );
}

/** What a person could do with a request if it had not ended. */
async function findPastRights(
  context: AgentContext,
  request: UserInputRequest,
  by: AnswerOptions,
): Promise<RequestRights> {
  const { expiresAt: _over, ...open } = request;
  return findRights(context, makeThread(request), { request: open }, by);
}

function isAnswerer({ mayAnswer, mayReject, mayWithdraw, refusal }: RequestRights): boolean {
  /* Another process has the tool. */
  const isAdmitted = refusal === 'already-voted' || refusal === 'missing-tool';
  return mayAnswer || mayReject || mayWithdraw || isAdmitted;
}

/** A row with what a person may do with its request. */
async function listRow<ROW extends RequestRow>(
  context: AgentContext,
  threads: ThreadHandles,
  row: ROW,
  by: AnswerOptions,
): Promise<Omit<SeenRequest<ROW>, 'couldAnswer'>> {
  const request = parseRow(row);
  if (request === undefined) return { row, rights: makeNoRights(row, 'no-request') };
  const shown = makeAnswerable(request);
  if (row.state !== 'open') return { row, request: shown, rights: makeNoRights(row, 'closed') };
  const rights = needsThread(request, await context.definedTools())
    ? await findThreadRights(context, threads, row, by)
    : await findRights(context, makeThread(request), { request }, by);
  return { row, request: shown, rights };
}

/** The request of a row: bytes from outside, which somebody may have changed. `undefined` if they are not the row's request. */
function parseRow({ kind, requestId, threadId, text }: RequestRow): UserInputRequest | undefined {
  if (text === null || (kind !== 'approval' && kind !== 'question')) return undefined;
  const { data } = userInputRequestSchema.safeParse(parseJson(text));
  const isSame =
    data?.type === `${kind}-request` && data.requestId === requestId && data.threadId === threadId;
  return isSame ? data : undefined;
}

/**
 * Whether the request alone does not say who may answer it: a sub-agent decides about its own, and the answer to a question may need a
 * tool that is not here.
 */
function needsThread(
  request: UserInputRequest,
  tools: Pick<ReadonlyMap<string, unknown>, 'has'>,
): boolean {
  if (request.path !== undefined) return true;
  if (request.type !== 'question-request') return false;
  const { toolCall } = request;
  return toolCall !== undefined && !tools.has(toolCall.toolName);
}

/* All of its thread that decides who may answer is in the request. */
function makeThread({ threadId }: UserInputRequest) {
  return { threadId, head: { calls: [] } };
}

/** The places of a query, which may come from a client. Throws `invalid-input` for one that is none. */
function parsePlaces({ after, before }: RequestListQuery): Pick<RequestQuery, 'after' | 'before'> {
  return {
    ...(after === undefined ? {} : { after: parsePlace('after', after) }),
    ...(before === undefined ? {} : { before: parsePlace('before', before) }),
  };
}

function parsePlace(name: 'after' | 'before', place: unknown): RequestPlace {
  /* Made here: at the top of the file it would be in the bundle of everything that runs threads. Numbers are finite, as in JSON. */
  const schema: z.ZodType<RequestPlace> = z.object({
    requestId: z.string(),
    createdAt: z.number(),
    expiresAt: z.number().optional(),
    risk: z.enum(risks).nullable(),
    decidedAt: z.number().optional(),
  });
  const { success, data, error } = schema.safeParse(place);
  if (success) return data;
  const wanted = `${name} must be the \`next\` of a page, or a row`;
  throw new HoldpointError('invalid-input', `${wanted}: ${renderSchemaError(error)}`);
}

function requireRequests({ requests }: AgentContext): ThreadStoreRequests {
  if (requests !== undefined) return requests;
  throw new TypeError(
    "agent.requests needs a store that keeps requests: this agent's store has no `requests`, or they are switched off.",
  );
}

function checkPageSize(limit = 100): number {
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new TypeError(`limit must be a whole number of 1 or more; got ${limit}.`);
}
