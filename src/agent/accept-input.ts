import type { ApprovalResponseContent } from '../content/approval.ts';
import type { CallPlace, ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';
import type { UserInputResponseContent } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { equalJson } from '../policy/digest.ts';
import type { Proposal } from '../thread/proposal.ts';
import type { NewThreadEvent } from '../thread/thread-event.ts';
import {
  type EndedRequest,
  isRunning,
  type OpenRequest,
  statusOf,
  type ThreadHead,
  type ThreadState,
} from '../thread/thread-state.ts';
import type { AnswerOptions } from './agent-options.ts';
import type { ParsedInput } from './parse-input.ts';

/** How a thread takes what comes in. */
export interface AcceptOptions {
  now: number;
  whilePending: 'refuse' | 'cancel';
}

/**
 * Proposes what records an input: answers, what expired meanwhile, and messages. Throws where the input can't stand;
 * nothing is appended then, so that bad input changes nothing.
 */
export function acceptInput(
  proposal: Proposal,
  input: ParsedInput,
  { now, whilePending }: AcceptOptions,
): void {
  const { state } = proposal;
  const answers = newAnswers(state, input.answers, now);
  const open = new Map(state.head.openRequests.map((other) => [other.request.requestId, other]));
  proposal.add(
    ...answers.flatMap((answer) =>
      answerEvents(answer, callAt(state.head, open.get(answer.requestId)?.place), input.by, now),
    ),
    ...expiryEvents(state.head, answers, now),
  );
  if (input.messages.length === 0) return;
  refuseMessage(state.threadId, proposal.head, whilePending, now);
  proposal.add(
    ...cancelOpenEvents(proposal.head, 'The user went on without answering.', now),
    ...input.messages.map((message): NewThreadEvent => ({
      type: 'message-added',
      at: now,
      message,
    })),
  );
}

/** The answers that are news; the same answer again is none. Throws for the first that can't stand. */
function newAnswers(
  state: Readonly<ThreadState>,
  answers: readonly UserInputResponseContent[],
  now: number,
): UserInputResponseContent[] {
  const fresh = new Map<string, UserInputResponseContent>();
  const requests = new Map(state.head.openRequests.map((open) => [open.request.requestId, open]));
  for (const answer of answers) {
    const twin = fresh.get(answer.requestId);
    if (twin !== undefined && !sameDecision(twin, answer)) {
      throw new HoldpointError(
        'invalid-answer',
        `The input answers request ${answer.requestId} in two ways; send one.`,
      );
    }
    const open = requests.get(answer.requestId);
    if (open === undefined) {
      checkRepeated(state.endedRequests.get(answer.requestId), answer);
    } else {
      checkAnswer(open, answer, now);
      fresh.set(answer.requestId, answer);
    }
  }
  return [...fresh.values()];
}

function checkRepeated(ended: EndedRequest | undefined, answer: UserInputResponseContent): void {
  const { requestId } = answer;
  if (ended === undefined) {
    throw new HoldpointError(
      'unknown-request',
      `This thread has no request ${requestId}. What it waits for is in thread.activeRequests.`,
    );
  }
  if (ended.cause !== undefined) throw closed(requestId, ended.cause);
  if (ended.response === undefined || !sameDecision(ended.response, answer)) {
    throw new HoldpointError(
      'already-answered',
      `Request ${requestId} was answered otherwise before, and the first answer stands.`,
    );
  }
  if (answer.type === 'approval-response') refuseMismatch(ended, answer);
}

function checkAnswer(
  { request }: OpenRequest,
  answer: UserInputResponseContent,
  now: number,
): void {
  const { requestId } = request;
  if ((request.expiresAt ?? Infinity) <= now) throw closed(requestId, 'expired');
  if (request.type !== 'approval-request' || answer.type !== 'approval-response') {
    if (request.type === 'question-request' && answer.type === 'question-response') return;
    throw new HoldpointError(
      'invalid-answer',
      `Request ${requestId} is an ${request.type}; a ${answer.type} can't answer it.`,
    );
  }
  refuseMismatch({ request }, answer);
}

/** An answer may repeat what was shown; what it repeats must be what is stored (design, rule 1). */
function refuseMismatch({ request }: OpenRequest, answer: ApprovalResponseContent): void {
  const { requestId, toolCall } = request;
  const stored = request.type === 'approval-request' ? request.digest : undefined;
  const sameDigest = answer.digest === undefined || answer.digest === stored;
  const sameCall = answer.toolCall === undefined || equalJson(answer.toolCall, toolCall);
  if (sameDigest && sameCall) return;
  throw new HoldpointError(
    'answer-mismatch',
    `The answer to request ${requestId} is about another ${sameDigest ? 'call' : 'digest'} than the one stored. ` +
      'Show the stored request again; a call is never changed by its answer.',
  );
}

function closed(requestId: string, cause: NonNullable<EndedRequest['cause']>): HoldpointError {
  return new HoldpointError(
    'request-closed',
    `Request ${requestId} is closed (${cause}). Go on with run([], thread) and see what is asked now.`,
  );
}

function sameDecision(one: UserInputResponseContent, other: UserInputResponseContent): boolean {
  if (one.type === 'approval-response' && other.type === 'approval-response') {
    return one.approved === other.approved;
  }
  return equalJson(one, other);
}

function answerEvents(
  response: UserInputResponseContent,
  call: ToolCallRecord | undefined,
  by: AnswerOptions,
  at: number,
): NewThreadEvent[] {
  const answered: NewThreadEvent = {
    type: 'request-answered',
    at,
    response: withoutCall(response),
    ...by,
  };
  if (response.type !== 'approval-response' || response.approved || call === undefined) {
    return [answered];
  }
  const reason = response.reason?.trim() === '' ? undefined : response.reason;
  const { step, index } = call;
  const outcome = outcomeUnstarted(call, reason);
  return [answered, { type: 'call-ended', at, step, index, outcome }];
}

/* The call was compared with the stored one, which stays its only copy. */
function withoutCall(response: UserInputResponseContent): UserInputResponseContent {
  if (response.type !== 'approval-response') return response;
  const { toolCall: _compared, ...recorded } = response;
  return recorded;
}

function expiryEvents(
  head: ThreadHead,
  answers: readonly UserInputResponseContent[],
  now: number,
): NewThreadEvent[] {
  const answered = new Set(answers.map(({ requestId }) => requestId));
  return head.openRequests
    .filter(({ request }) => (request.expiresAt ?? Infinity) <= now)
    .filter(({ request }) => !answered.has(request.requestId))
    .flatMap(({ request, place }) =>
      closeEvents(request.requestId, callAt(head, place), {
        cause: 'expired',
        reason: 'The request for approval expired unanswered.',
        at: now,
      }),
    );
}

/** The events that cancel every open request, every deferred call, and every approved call that has not begun. */
export function cancelEvents(head: ThreadHead, reason: string, now: number): NewThreadEvent[] {
  return [
    ...cancelOpenEvents(head, reason, now),
    ...head.calls
      .filter((call) => call.status === 'approved')
      .flatMap((call) =>
        closeEvents(call.requestId, call, { cause: 'cancelled', reason, at: now }),
      ),
  ];
}

function cancelOpenEvents(head: ThreadHead, reason: string, now: number): NewThreadEvent[] {
  const requests = head.openRequests.flatMap(({ request, place }) =>
    closeEvents(request.requestId, callAt(head, place), { cause: 'cancelled', reason, at: now }),
  );
  const deferred = head.calls
    .filter((call) => call.status === 'deferred')
    .map(({ step, index }): NewThreadEvent => {
      const error = `${reason} It goes on elsewhere, and its outcome is not known here.`;
      return { type: 'call-ended', at: now, step, index, outcome: { status: 'failed', error } };
    });
  return [...requests, ...deferred];
}

/** The events that close a request, and end its call, if it has one. */
export function closeEvents(
  requestId: string | undefined,
  call: ToolCallRecord | undefined,
  { cause, reason, at }: { cause: 'expired' | 'cancelled'; reason: string; at: number },
): NewThreadEvent[] {
  const events: NewThreadEvent[] = [];
  if (requestId !== undefined)
    events.push({ type: 'request-closed', at, requestId, cause, reason });
  if (call !== undefined) {
    const { step, index } = call;
    const outcome = outcomeUnstarted(call, reason);
    events.push({ type: 'call-ended', at, step, index, outcome });
  }
  return events;
}

/** The outcome of a call that is not started (any more): denied, unless an attempt that was given up may have had its effect. */
export function outcomeUnstarted(
  { attempts }: ToolCallRecord,
  reason: string | undefined,
): ToolCallOutcome {
  if (attempts === 0) return { status: 'denied', reason };
  const unknown = 'It was started before, and whether that took effect is not known.';
  return { status: 'failed', error: `Not started again. ${reason ?? ''} ${unknown}` };
}

function callAt({ calls }: ThreadHead, place: CallPlace | undefined): ToolCallRecord | undefined {
  return calls.find(({ step, index }) => step === place?.step && index === place.index);
}

function refuseMessage(
  threadId: string,
  head: ThreadHead,
  whilePending: 'refuse' | 'cancel',
  now: number,
): void {
  if (isRunning(head, now)) {
    throw new HoldpointError(
      'thread-busy',
      `Thread ${threadId} is being run; send the message when that run has ended.`,
    );
  }
  if (statusOf(head, now) === 'indeterminate') {
    throw new HoldpointError(
      'thread-indeterminate',
      `A call of thread ${threadId} was started and its outcome is unknown; see thread.calls. It must be settled first.`,
    );
  }
  const deferred = head.calls.filter((call) => call.status === 'deferred');
  const awaited = head.openRequests.length + deferred.length;
  if (awaited > 0 && whilePending === 'refuse') {
    throw new HoldpointError(
      'requests-open',
      `Thread ${threadId} waits for ${awaited} answer(s) or deferred result(s). ` +
        "Bring them, or run with whilePending: 'cancel'.",
    );
  }
}
