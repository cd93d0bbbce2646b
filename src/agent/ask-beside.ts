import { z } from 'zod';
import type { QuestionRequestContent } from '../content/question.ts';
import { HoldpointError } from '../errors.ts';
import { equalJson } from '../policy/digest.ts';
import { whyNotStrictJson } from '../policy/strict-json.ts';
import type { NewThreadEvent } from '../thread/thread-event.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { isSamePlace, type OpenRequest } from '../thread/thread-state.ts';
import { closeBeside } from './close-requests.ts';
import type { RequestMaking } from './make-request.ts';
import { messageOf } from './model-step.ts';
import { callNamed, refuseUnless } from './named-call.ts';
import { makeQuestion, type Question } from './question-call.ts';

/** What a tool asks beside its call. */
export interface AskedBeside {
  toolCallId: string;
  question: Question;
  replyTo: unknown;
}

/**
 * Asks a person for a call that goes on. The same again while it is open is the same question; another replaces it, as the tool waits
 * for one answer at a time.
 */
export async function askBeside(
  log: ThreadLog,
  making: Omit<RequestMaking, 'threadId'>,
  { toolCallId, question, replyTo }: AskedBeside,
): Promise<QuestionRequestContent> {
  const { threadId } = log.state;
  const request = asked({ ...making, threadId }, question, replyTo);
  const requestOf = (open: OpenRequest): boolean => open.request.requestId === request.requestId;
  let standing: OpenRequest | undefined;
  await log.commit((proposal) => {
    const at = making.now();
    const call = callNamed(proposal.state, toolCallId, at);
    refuseUnless(call, ['deferred', 'started', 'indeterminate'], 'a person can be asked');
    const { step, index } = call;
    standing = proposal.head.openRequests.find(({ beside }) => isSamePlace(beside, call));
    if (standing !== undefined && isSame(standing, { request, replyTo })) return;
    const opened: NewThreadEvent = {
      type: 'request-opened',
      at: request.createdAt,
      beside: { step, index },
      ...(replyTo === undefined ? {} : { replyTo }),
      request,
    };
    const replaced = { reason: 'The tool asks something else by now.', at };
    proposal.add(...closeBeside(proposal.head, call, replaced), opened);
    standing = proposal.head.openRequests.find(requestOf);
  });
  if (standing?.request.type !== 'question-request') throw new TypeError('Nothing was asked.');
  return structuredClone(standing.request);
}

function asked(making: RequestMaking, question: Question, replyTo: unknown) {
  const fault = replyTo === undefined ? undefined : whyNotStrictJson(replyTo);
  if (fault !== undefined) throw refused(`replyTo can't be kept as JSON: ${fault}.`);
  try {
    return makeQuestion(making, question);
  } catch (error) {
    throw refused(error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error), error);
  }
}

function refused(why: string, cause?: unknown): HoldpointError {
  return new HoldpointError('invalid-input', `This can't be asked: ${why}`, { cause });
}

function isSame(standing: OpenRequest, asking: OpenRequest): boolean {
  return equalJson(contentOf(standing), contentOf(asking));
}

/* What stands in the log has the call beside it; ids and times are ours. */
function contentOf({ request, replyTo }: OpenRequest): unknown {
  const {
    requestId: _id,
    createdAt: _at,
    expiresAt: _until,
    toolCall: _call,
    ...content
  } = request;
  return { content, replyTo: replyTo ?? null };
}
