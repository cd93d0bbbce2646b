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
   * The strings for which the person answers, such as their name, roles and teams: only requests that name one of them as approver, or none
   * at all. The store finds these fast. Without it, every request is read and only `mayAnswer` decides.
   */
  as?: readonly string[];
  /**
   * `answerable` (default for open requests): those that wait for this person. `all` (default for any other `state`): everything that the
   * query selects, each with the person's rights.
   */
  include?: 'answerable' | 'all';
}

/** A request as it is listed for one person. */
interface ListedRequest<CALL extends ToolCall = ToolCall> {
  /** The row as the store keeps it. It may be older than the thread by a moment, and decides nothing. */
  row: StoredRequest;
  /** The request of the row; absent for a lost call, a stuck thread, and a text that was erased or is damaged. */
  request?: UserInputRequestContent<CALL>;
  /** The person's rights to it now. */
  rights: RequestRights;
}

/** A page of requests for one person. */
export interface RequestList<CALL extends ToolCall = ToolCall> {
  /** In the order of the query. There may be fewer than `limit` although more follow: see `next`. */
  requests: ListedRequest<CALL>[];
  /**
   * The place where the list continues: `after` of the next query, or `before` for a query with `before`. Absent at its end. It is the
   * place of the last request of this page, so it reveals nothing of others, and may be sent to a client: what comes back is read as a
   * place, and anything else is refused with `invalid-input`.
   */
  next?: RequestPlace;
}

/** The fields of a row that decide what one person may do with its request. */
export type RequestRow = Pick<StoredRequest, 'requestId' | 'threadId' | 'kind' | 'state' | 'text'>;

/** A row with what one person may do with its request, and whether they could answer it if it were still open. */
export interface SeenRequest<ROW extends RequestRow = StoredRequest> extends Pick<
  ListedRequest,
  'request' | 'rights'
> {
  row: ROW;
  /** True if their answer has counted, or would count if the request were still open. They may then see the decisions of others. */
  couldAnswer: boolean;
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

/*
 * The number of pages of rows that are read to fill one page for a person. More are read only to find a first request: a cursor may name no
 * other.
 */
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

/** Makes the query that continues after a row. */
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

/** Picks the place from a row. */
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

/** Finds the rights of one person to rows of the agent's threads, as `Agent.requests` does. */
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
      /* Only the sub-agent knew who could answer its request, as long as it was open. */
      const isKnown = isOver && request.path === undefined;
      const asked = isKnown ? await findPastRights(context, request, by) : rights;
      return { ...listed, couldAnswer: isAnswerer(asked) };
    }),
  );
}

/** Finds what a person could do with a request if it had not ended. */
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

/** Parses the request of a row: bytes from outside, which may have been changed. `undefined` if they are not the row's request. */
function parseRow({ kind, requestId, threadId, text }: RequestRow): UserInputRequest | undefined {
  if (text === null || (kind !== 'approval' && kind !== 'question')) return undefined;
  const { data } = userInputRequestSchema.safeParse(parseJson(text));
  const isSame =
    data?.type === `${kind}-request` && data.requestId === requestId && data.threadId === threadId;
  return isSame ? data : undefined;
}

/**
 * Checks whether the rights can't be derived from the request alone: a sub-agent decides about its own, and the answer to a question may
 * need a tool that is not here.
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

/* The request has all parts of its thread that decide who may answer. */
function makeThread({ threadId }: UserInputRequest) {
  return { threadId, head: { calls: [] } };
}

/** Parses the places of a query, which may come from a client. Throws `invalid-input` for an invalid one. */
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
