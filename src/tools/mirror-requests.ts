import {
  type Agent,
  closeEvents,
  type DelegatedCall,
  type DelegatedWork,
  type ShownRequests,
  type Reporting,
  type ChildThread,
} from '../agent.ts';
import { type ApprovalRequest, readStartWithinMs, restoreOpened } from '../content/approval.ts';
import type { CallPlace } from '../content/tool-call.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import { editDigest, isEqualJson, requestDigest } from '../policy/digest.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { Proposal } from '../thread/proposal.ts';
import { findEventRequestId, isRequestEvent, readRequestId } from '../thread/request-events.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import { HoldpointError } from '../errors.ts';
import { findOpenRequest } from '../thread/open-requests.ts';

/*
 * A sub-agent decides about its requests. The thread of the delegated call shows them, and repeats the records of the sub-agent's thread.
 */

/** An event about a request after it was opened. */
type Decision = ThreadEventOf<
  'request-voted' | 'vote-withdrawn' | 'request-reassigned' | 'request-answered' | 'request-closed'
>;

/** A sub-agent's request, as the thread of the call shows it. */
interface Mirrored {
  request: UserInputRequest;
  isOpen: boolean;
  /** The events of the sub-agent's thread about it, oldest first, up to its end. */
  decisions: readonly Decision[];
}

/** A delegated call, and the requests that its thread shows. */
interface MirroringCall {
  call: DelegatedCall;
  agent: string;
  shown: ShownRequests;
}

/** Reads the requests of a sub-agent's thread. The result makes the events by which the thread of the call repeats what is new. */
export async function readMirroredRequests(
  thread: AgentThread,
  { call, agent, shown: { place, requests } }: MirroringCall,
): Promise<Reporting> {
  const active = thread.activeRequests.map((request) => ({ ...request }));
  const isOpen = new Set(active.map(({ requestId }) => requestId));
  const ended = requests.filter(({ requestId }) => !isOpen.has(requestId));
  const { id: threadId, events } = thread;
  const mirrored = await Promise.all([
    ...active.map(async (own) =>
      readMirroredRequest(events, await passRequestOn(own, call, agent), true),
    ),
    ...ended.map(async (request) => readMirroredRequest(events, omitVotes(request), false)),
  ]);
  return (proposal, at) =>
    mirrored.flatMap((each) => repeatNewEvents(proposal, each, { place, threadId, at }));
}

/* The events that change the requests of an agent: what is repeated, and its opening. */
const reportedTypes = {
  'request-opened': 'request-opened',
  'request-voted': 'request-voted',
  'vote-withdrawn': 'vote-withdrawn',
  'request-reassigned': 'request-reassigned',
  'request-answered': 'request-answered',
  'request-closed': 'request-closed',
} as const satisfies { [TYPE in 'request-opened' | Decision['type']]: TYPE };

/* The interval of checks of requests that another process has opened, in milliseconds: the run of the agent reads them. */
const reportMs = 1_000;

/** Reports an agent's open requests, whenever they change, to the thread of the call on which it works, until the work ends. */
export async function reportDuring<RESULT>(
  agent: Agent<never>,
  child: ChildThread,
  report: () => Promise<void>,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  const { thread } = child;
  let isOver = false;
  let last = '[]';
  const check = async (): Promise<void> => {
    const requests = JSON.stringify(thread.activeRequests);
    if (isOver || requests === last) return;
    last = requests;
    await report();
  };
  let checking = check();
  const checkNext = (read?: () => Promise<void>): void => {
    /* A thread that can't be read now is reported at the next check, or with the result. */
    checking = checking.then(async () => read?.()).then(check, () => {});
  };
  const unsubscribe = Object.values(reportedTypes).map((type) =>
    agent.on(type, ({ threadId }) => {
      if (threadId === thread.id) checkNext(async () => child.update());
    }),
  );
  const timer = setInterval(() => checkNext(), reportMs);
  try {
    return await work();
  } finally {
    isOver = true;
    clearInterval(timer);
    for (const end of unsubscribe) end();
  }
}

async function readMirroredRequest(
  events: readonly ThreadEvent[],
  request: UserInputRequest,
  isOpen: boolean,
): Promise<Mirrored> {
  return { request, isOpen, decisions: await readDecisions(events, request) };
}

/**
 * A sub-agent's request as it is mirrored in the parent thread: with the path to the sub-agent, the deadline of the call, and a digest
 * that covers all that is shown and the digest of the original request.
 */
export async function passRequestOn(
  request: UserInputRequest,
  { threadId, toolCallId, toolName, expiresAt }: DelegatedCall,
  agent: string,
): Promise<UserInputRequest> {
  const path = [{ agent, toolCallId, toolName }, ...(request.path ?? [])];
  const until = Math.min(request.expiresAt ?? Infinity, expiresAt ?? Infinity);
  const mirrored = { threadId, path, ...(until === Infinity ? {} : { expiresAt: until }) };
  if (request.type === 'question-request') return { ...request, ...mirrored };
  const { onExpiry, ...opened } = restoreOpened(request);
  /* A call that ends first ends the request too: it is not asked again, or escalated. */
  const follows = onExpiry !== undefined && until === request.expiresAt ? { onExpiry } : {};
  const startWithinMs = readStartWithinMs(request);
  const isShorter = readStartWithinMs({ ...opened, ...mirrored }) !== startWithinMs;
  /* The deadline of the call does not limit the time in which the sub-agent may start. */
  const starts = isShorter ? { startWithinMs } : {};
  const passed = { ...opened, ...mirrored, ...follows, ...starts };
  return { ...passed, digest: await requestDigest(passed, undefined, opened.digest) };
}

/** Asks the threads above about the answers behind a standing approval of a sub-agent, as they would show its request. */
export function mayStandAbove(
  mayStand: DelegatedWork['mayStand'],
  call: DelegatedCall,
  agent: string,
): DelegatedWork['mayStand'] {
  if (mayStand === undefined) return undefined;
  return async ({ request, ...standing }) => {
    const shown = await passRequestOn(request, call, agent);
    return shown.type === 'approval-request' && mayStand({ request: shown, ...standing });
  };
}

/** Checks whether a request in the parent thread is the mirror of the sub-agent's `own` request, unchanged. */
export async function isPassedOn(
  own: UserInputRequest,
  passed: UserInputRequest,
  call: DelegatedCall,
  agent: string,
): Promise<boolean> {
  const { expiresAt } = passed;
  return isEqualJson(await passRequestOn(own, { ...call, expiresAt }, agent), omitVotes(passed));
}

function omitVotes(request: UserInputRequest): UserInputRequest {
  return request.type === 'approval-request' ? restoreOpened(request) : request;
}

/** Reads the events of a sub-agent's thread about a request, up to its end. */
async function readDecisions(
  events: readonly ThreadEvent[],
  request: UserInputRequest,
): Promise<Decision[]> {
  const opened = request.type === 'approval-request' ? request.digest : '';
  const digests = { opened, ownOpened: '', own: '', shown: opened, text: request.text };
  const decisions: Decision[] = [];
  for (const [index, event] of events.entries()) {
    if (findEventRequestId(event) !== request.requestId) continue;
    if (event.type === 'request-opened' && event.request.type === 'approval-request') {
      digests.ownOpened = event.request.digest;
      digests.own = digests.ownOpened;
    }
    const decision = await readDecision(event, digests);
    if (decision !== undefined) decisions.push({ ...decision, mirrors: index + 1 });
    if (endsRequest(event, request)) break;
  }
  return decisions;
}

/** The digests of a request: of the mirrored one and of the sub-agent's own as they were opened, and as they are now. */
interface Digests {
  readonly opened: string;
  ownOpened: string;
  own: string;
  shown: string;
  /** The text as it was opened. */
  readonly text: string;
}

async function readDecision(event: ThreadEvent, digests: Digests): Promise<Decision | undefined> {
  if (!('requestId' in event || 'response' in event)) return undefined;
  switch (event.type) {
    case 'request-voted':
      return withDigests(event, digests);
    case 'request-answered':
      return { ...(await withDigests(event, digests)), traceparent: undefined };
    case 'vote-withdrawn':
      if (event.endsEdit === true) {
        digests.own = digests.ownOpened;
        digests.shown = digests.opened;
      }
      return event;
    case 'request-reassigned':
    case 'request-closed':
      return event;
    case 'request-reminded':
    case 'answer-delivered':
    case 'grant-used':
      return undefined;
  }
}

/** An answer with the digests of the mirrored request instead of those of the sub-agent's own. */
async function withDigests<EVENT extends ThreadEventOf<'request-voted' | 'request-answered'>>(
  event: EVENT,
  digests: Digests,
): Promise<EVENT> {
  const { response, edit } = event;
  const isRepeated = response.type === 'approval-response' && response.digest === digests.own;
  const digest = isRepeated ? digests.shown : undefined;
  const shown = response.type === 'approval-response' ? { ...response, digest } : response;
  if (edit === undefined) return { ...event, response: shown };
  digests.own = edit.digest;
  const { input, text = digests.text, patches } = edit;
  digests.shown =
    patches.length === 0 ? digests.opened : await editDigest(digests.opened, { input, text });
  return { ...event, response: shown, edit: { ...edit, digest: digests.shown } };
}

/** Makes the events with which the thread of the call repeats the records that it lacks. */
function repeatNewEvents(
  proposal: Proposal,
  { request, isOpen, decisions }: Mirrored,
  { place, threadId, at }: { place: CallPlace; threadId: string; at: number },
): ThreadEvent[] {
  const { requestId } = request;
  const shown = findOpenRequest(proposal.head, requestId);
  if (shown === undefined && (!isOpen || isEnded(proposal, request))) return [];
  const opening: ThreadEvent[] =
    shown === undefined
      ? [{ type: 'request-opened', at, beside: place, replyTo: { threadId }, request }]
      : [];
  const last = findLastMirrored(proposal, requestId);
  const fresh = decisions.filter(({ mirrors = 0 }) => mirrors > (last ?? 0));
  const isOver = isOpen || fresh.some((event) => endsRequest(event, request));
  const gone = { cause: 'cancelled' as const, reason: 'The agent no longer asks this.', at };
  const closed = isOver ? [] : closeEvents(requestId, undefined, gone);
  return [...opening, ...fresh.map((event) => ({ ...event, at })), ...closed];
}

/** Finds the revision of the sub-agent's thread up to which the thread of the call has repeated the records about a request. */
function findLastMirrored({ events, state }: Proposal, requestId: string): number | undefined {
  const isMirrored = (event: ThreadEvent): event is Decision =>
    findEventRequestId(event) === requestId && 'mirrors' in event && event.mirrors !== undefined;
  return (events.findLast(isMirrored) ?? state.events.findLast(isMirrored))?.mirrors;
}

/** Checks whether an event ends a request. */
export function endsRequest(event: ThreadEvent, { requestId }: UserInputRequest): boolean {
  return isRequestEvent(event, 'ends') && readRequestId(event) === requestId;
}

/** Checks whether a request that was open in a thread has ended. */
export function isEnded({ head, state }: Proposal, { requestId }: UserInputRequest): boolean {
  return state.endedRequests.has(requestId) || head.newlyPast.requests.has(requestId);
}

/**
 * Makes an answer to a mirrored request the answer to the sub-agent's `own` request: with its digest if the answer repeats the shown
 * digest. Throws `answer-mismatch` for the approval of another input than the sub-agent would run.
 */
export function toOwnAnswer(
  response: UserInputResponseContent,
  shown: UserInputRequest,
  own: UserInputRequest | undefined,
): UserInputResponseContent {
  if (response.type !== 'approval-response' || shown.type !== 'approval-request') return response;
  const { digest, toolCall: _shown, ...answer } = response;
  const isPlainYes = answer.approved && answer.input === undefined;
  if (own?.type !== 'approval-request') {
    return isPlainYes && shown.edit !== undefined
      ? { input: shown.toolCall?.input, ...answer }
      : answer;
  }
  const isSameInput = isEqualJson(listEditedInputs(own), listEditedInputs(shown));
  if (isSameInput) return digest === shown.digest ? { digest: own.digest, ...answer } : answer;
  if (!isPlainYes) return answer;
  throw new HoldpointError(
    'answer-mismatch',
    `Request ${own.requestId} was edited since it was shown. Show the stored request again.`,
    { requestId: own.requestId },
  );
}

function listEditedInputs({ edit, toolCall }: ApprovalRequest): unknown[] {
  return edit === undefined ? [] : [toolCall?.input];
}
