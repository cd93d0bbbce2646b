import { z } from 'zod';
import { readErrorText } from '../../content/error-text.ts';
import { copyPlain } from '../../content/plain-copy.ts';
import type { QuestionRequestContent } from '../../content/question.ts';
import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { whyNotStrictJson } from '../../policy/strict-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  isExpired,
  isSamePlace,
  type OpenRequest,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import { makeCloseDuringEvents } from './close-requests.ts';
import { callOfId, refuseUnless } from '../../thread/thread-state.ts';
import type { RequestMaking } from './make-request.ts';
import { makeQuestion, type Question } from './question-call.ts';

/** What a tool asks during its call. */
export interface AskedDuringCall {
  toolCallId: string;
  question: Question;
  replyTo: unknown;
}

/**
 * Asks a question on behalf of a call. The same question again changes nothing; another replaces it, as a tool waits for one answer at a
 * time.
 */
export async function askDuringCall(
  log: ThreadLog,
  making: Omit<RequestMaking, 'threadId'>,
  { toolCallId, question, replyTo }: AskedDuringCall,
): Promise<QuestionRequestContent> {
  const { threadId } = log.state;
  const { requestedBy, requesters } = log.state.head;
  const asking = makeAsked({ ...making, threadId, requestedBy, requesters }, question, replyTo);
  let standing = asking.request;
  await log.commit((proposal) => {
    const at = making.now();
    const call = callOfId(proposal.state, toolCallId, at);
    refuseUnless(call, ['deferred', 'started', 'indeterminate'], 'a person can be asked');
    refuseOverdue(call, at);
    const open = findRequestDuring(proposal.head, call);
    const isOpen = open !== undefined && isSame(open, asking) && !isExpired(open.request, at);
    if (!isOpen) proposal.add(...askEvents(proposal.head, call, asking));
    standing = readQuestionRequest(findRequestDuring(proposal.head, call)) ?? standing;
  });
  return structuredClone(standing);
}

function findRequestDuring({ openRequests }: ThreadHead, call: CallPlace): OpenRequest | undefined {
  return openRequests.find(({ beside }) => isSamePlace(beside, call));
}

function readQuestionRequest(open: OpenRequest | undefined): QuestionRequestContent | undefined {
  return open?.request.type === 'question-request' ? open.request : undefined;
}

/* The next run ends it. */
function refuseOverdue({ toolCallId, expiresAt = Infinity }: ToolCallRecord, now: number): void {
  if (now < expiresAt) return;
  throw new HoldpointError(
    'not-allowed',
    `Call ${toolCallId} expired at ${new Date(expiresAt).toISOString()}; it can no longer ask.`,
  );
}

function askEvents(
  head: ThreadHead,
  { step, index, expiresAt = Infinity }: ToolCallRecord,
  { request: asked, replyTo }: OpenRequest,
): ThreadEvent[] {
  const { createdAt: at } = asked;
  /* An answer after the call's deadline could not be sent. */
  const until = Math.min(asked.expiresAt ?? Infinity, expiresAt);
  const request = until === Infinity ? asked : { ...asked, expiresAt: until };
  const reply = replyTo === undefined ? {} : { replyTo };
  const replaced = { reason: 'The tool has asked another question.', at };
  return [
    ...makeCloseDuringEvents(head, { step, index }, replaced),
    { type: 'request-opened', at, beside: { step, index }, ...reply, request },
  ];
}

function makeAsked(making: RequestMaking, question: Question, replyTo: unknown) {
  const fault = replyTo === undefined ? undefined : whyNotStrictJson(replyTo);
  if (fault !== undefined) throw makeQuestionError(`replyTo must be JSON: ${fault}.`);
  try {
    return { request: makeQuestion(making, question), replyTo: copyPlain(replyTo) };
  } catch (error) {
    throw makeQuestionError(
      error instanceof z.ZodError ? z.prettifyError(error) : readErrorText(error),
      error,
    );
  }
}

function makeQuestionError(why: string, cause?: unknown): HoldpointError {
  return new HoldpointError('invalid-input', `Invalid question: ${why}`, { cause });
}

function isSame(standing: OpenRequest, asking: OpenRequest): boolean {
  return isEqualJson(pickQuestionContent(standing), pickQuestionContent(asking));
}

/* The stored question has its call; ids and times are ours. */
function pickQuestionContent({ request, replyTo }: OpenRequest): unknown {
  const {
    requestId: _id,
    requestedBy: _asker,
    requesters: _askers,
    createdAt: _at,
    expiresAt: _until,
    toolCall: _call,
    ...content
  } = request;
  return { content, replyTo: replyTo ?? null };
}
