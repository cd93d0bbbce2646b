import type { Tool } from 'ai';
import { closeEvents } from '../agent/calls/close-requests.ts';
import type { DelegatedCall, Delegation, ReportedEvents } from '../agent/calls/delegation.ts';
import { type Execution, failed, successOf } from '../agent/calls/execute-call.ts';
import type { CallPlace, ToolCallRecord, WorkingAgent } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import { asOpened } from '../content/approval.ts';
import { equalJson, requestDigest } from '../policy/digest.ts';
import { callAt } from '../thread/find-call.ts';
import type { Proposal } from '../thread/proposal.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { isSamePlace, type ThreadHead, type ThreadState } from '../thread/thread-state.ts';

/* How often a sub-agent is checked that another process runs, or whose request has ended in the parent thread only, in milliseconds. */
export const busyMs = 5_000;

/** The execution of a delegated call: how it ended, or what it waits for. */
export async function executionOf(
  delegation: Pick<Delegation, 'agent'> & { expiresAfterMs: number | undefined },
  { call, delegated, tool }: { call: ToolCallRecord; delegated: DelegatedCall; tool: Tool },
  result: DelegatedResult,
): Promise<Execution> {
  if (result.status === 'failed') return failed(result.error);
  if (result.status === 'succeeded')
    return { type: 'ended', outcome: await successOf(tool, call, result.output) };
  const { agent: name, expiresAfterMs = Infinity } = delegation;
  const { lostCalls } = result;
  const expiresAt = call.expiresAt ?? (call.startedAt ?? 0) + expiresAfterMs;
  const wait: DelegatedWait = {
    agent: { name, threadId: result.threadId, ...(lostCalls.length > 0 ? { lostCalls } : {}) },
    requests: await Promise.all(
      result.requests.map(async (request) => passedOn(request, delegated, name)),
    ),
    resumeAfterMs: result.resumeAfterMs,
    expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
  };
  return { type: 'delegated', events: (proposal, at) => waitEvents(proposal, call, wait, at) };
}

/** The state of the work on a delegated call. */
export type DelegatedResult =
  | { status: 'succeeded'; output: unknown }
  | { status: 'failed'; error: string }
  /** The sub-agent waits for people or for `resumeAfterMs`, 0 to be resumed immediately. A duration, because its clock may differ. */
  | {
      status: 'waiting';
      threadId: string;
      lostCalls: NonNullable<WorkingAgent['lostCalls']>;
      requests: readonly UserInputRequest[];
      resumeAfterMs: number | undefined;
    };

/** What a delegated call waits for. */
interface DelegatedWait {
  agent: WorkingAgent;
  /** The requests of the agent's thread, as the thread of the call passes them on. */
  requests: readonly UserInputRequest[];
  resumeAfterMs: number | undefined;
  expiresAt: number | undefined;
}

/**
 * A sub-agent's request as it is mirrored in the parent thread: with the path to the sub-agent, and a digest that covers all that is shown
 * and the digest of the original request.
 */
async function passedOn(
  request: UserInputRequest,
  { threadId, toolCallId, toolName }: DelegatedCall,
  agent: string,
): Promise<UserInputRequest> {
  const path = [{ agent, toolCallId, toolName }, ...(request.path ?? [])];
  if (request.type === 'question-request') return { ...request, threadId, path };
  const opened = asOpened(request);
  const passed = { ...opened, threadId, path };
  return { ...passed, digest: await requestDigest(passed, undefined, opened.digest) };
}

/** Whether a request in the parent thread is the mirror of the sub-agent's `own` request, unchanged. */
export async function isPassedOn(
  own: UserInputRequest,
  passed: UserInputRequest,
  call: DelegatedCall,
  agent: string,
): Promise<boolean> {
  const opened = passed.type === 'approval-request' ? asOpened(passed) : passed;
  return equalJson(await passedOn(own, call, agent), opened);
}

/** The requests of an agent at work, as the thread of the call passes them on: `events` records which are new and which no longer asked. */
export async function reported(
  call: ToolCallRecord,
  delegated: DelegatedCall,
  { agent, threadId, requests }: { agent: string; threadId: string; requests: UserInputRequest[] },
): Promise<ReportedEvents> {
  const passed = await Promise.all(
    requests.map(async (request) => passedOn(request, delegated, agent)),
  );
  return ({ head, state }, at) => {
    const { status } = callAt(head, call) ?? {};
    if (status !== 'started') return [];
    return askedEvents({ head, state }, call, { threadId, requests: passed }, at);
  };
}

/** The events for the requests of an agent: which are new, and which it no longer asks. */
function askedEvents(
  proposal: Pick<Proposal, 'head' | 'state'>,
  { step, index }: ToolCallRecord,
  { threadId, requests }: { threadId: string; requests: readonly UserInputRequest[] },
  at: number,
): ThreadEvent[] {
  const place = { step, index };
  const asked = new Set(requests.map(({ requestId }) => requestId));
  const open = proposal.head.openRequests.filter(({ beside }) => isSamePlace(beside, place));
  const known = new Set(open.map(({ request }) => request.requestId));
  const reason = 'The agent no longer asks this.';
  return [
    ...open
      .filter(({ request }) => !asked.has(request.requestId))
      .flatMap(({ request }) =>
        closeEvents(request.requestId, undefined, { cause: 'cancelled', reason, at }),
      ),
    ...requests
      .filter((request) => !known.has(request.requestId) && !isEnded(proposal, request))
      .map((request) => ({
        type: 'request-opened' as const,
        at,
        beside: place,
        replyTo: { threadId },
        request,
      })),
  ];
}

function isEnded(
  { head, state }: Pick<Proposal, 'head' | 'state'>,
  { requestId }: UserInputRequest,
): boolean {
  return (
    state.endedRequests.has(requestId) ||
    head.newlyPast.requests.some(({ request }) => request.requestId === requestId)
  );
}

/** The events of a delegated call that waits: what its agent asks, and when it is resumed. */
function waitEvents(
  proposal: Proposal,
  call: ToolCallRecord,
  { agent, requests, resumeAfterMs, expiresAt }: DelegatedWait,
  at: number,
): ThreadEvent[] {
  const { head, state } = proposal;
  const place = { step: call.step, index: call.index };
  /* The request ended while the agent stopped to wait: its answer was sent, or it was cancelled. */
  const isNews = requests.some(
    (request) =>
      isEnded(proposal, request) && !isUnsent(head, request) && endedSince(state, place, request),
  );
  const isStale = requests.length > 0 && requests.every((request) => isEnded(proposal, request));
  const after = isNews ? 0 : Math.min(resumeAfterMs ?? Infinity, isStale ? busyMs : Infinity);
  return [
    ...askedEvents(proposal, call, { threadId: agent.threadId, requests }, at),
    {
      type: 'call-deferred',
      at,
      ...place,
      agent,
      ...(after === Infinity ? {} : { resumeAt: after === 0 ? 0 : at + after }),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    },
  ];
}

/** Whether a request ended after the call was last started: its answer was sent, or it was closed. */
function endedSince(
  { events }: Readonly<ThreadState>,
  place: CallPlace,
  { requestId }: UserInputRequest,
): boolean {
  const started = events.findLastIndex(
    (event) => event.type === 'call-started' && isSamePlace(event, place),
  );
  const ended = events.findLastIndex(
    (event) =>
      (event.type === 'answer-delivered' || event.type === 'request-closed') &&
      event.requestId === requestId,
  );
  return ended > started;
}

function isUnsent({ unsentAnswers }: ThreadHead, { requestId }: UserInputRequest): boolean {
  return unsentAnswers.some(({ request }) => request.requestId === requestId);
}
