import { z } from 'zod';
import type { UserInputRequest, UserInputResponseContent } from '../../../content/user-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { findRequest } from '../output/interaction-events.ts';
import { questionAnswer } from './question-schema.ts';
import type { ResumeEntry } from './run-agent-input.ts';

/**
 * The answers in a resume, for the agent to judge. Who gives up on a question dismisses it, where that may be; on an approval, says
 * nothing: it stays open. Throws `unknown-request` and `invalid-answer`.
 */
export function resumeAnswers(
  resume: readonly ResumeEntry[],
  thread: AgentThread,
): UserInputResponseContent[] {
  if (new Set(resume.map(({ interruptId }) => interruptId)).size < resume.length) {
    throw new HoldpointError('invalid-answer', 'The resume names an interrupt twice.');
  }
  const { events } = thread;
  const open = openIds(thread);
  return resume.flatMap(({ interruptId, status, payload }) => {
    const request = findRequest(events, interruptId);
    if (request === undefined) {
      throw new HoldpointError(
        'unknown-request',
        `This thread has no interrupt ${JSON.stringify(interruptId)}.`,
      );
    }
    if (status === 'resolved') return [answerOf(request, payload)];
    /* Of what has ended nothing can be given up: this is how a client gets past it. */
    return open.has(interruptId) ? dismissal(request) : [];
  });
}

/** The ids of what a thread waits for. */
export function openIds({ activeRequests }: AgentThread): Set<string> {
  return new Set(activeRequests.map(({ requestId }) => requestId));
}

/** Throws `requests-open` where an input is about some of what is open, and not about all of it. */
export function refuseIncomplete(named: ReadonlySet<string>, thread: AgentThread): void {
  const open = [...openIds(thread)];
  const left = open.filter((id) => !named.has(id));
  if (left.length === 0 || left.length === open.length) return;
  throw new HoldpointError(
    'requests-open',
    `A resume must be about every open interrupt; this one leaves out ${left.join(', ')}.`,
  );
}

const approvalSchema = z.strictObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  digest: z.string().optional(),
});

function answerOf(request: UserInputRequest, payload: unknown): UserInputResponseContent {
  if (request.type === 'question-request') return questionAnswer(request, payload);
  const { requestId } = request;
  const parsed = approvalSchema.safeParse(payload);
  if (parsed.success) return { type: 'approval-response', requestId, ...parsed.data };
  throw new HoldpointError(
    'invalid-answer',
    `This is no answer to approval ${requestId}: ${z.prettifyError(parsed.error)}`,
  );
}

function dismissal(request: UserInputRequest): UserInputResponseContent[] {
  if (request.type !== 'question-request' || !request.allowDismiss) return [];
  const { requestId } = request;
  return [{ type: 'question-response', requestId, status: 'dismissed' }];
}
