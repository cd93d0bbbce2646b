import type { UserInputRequest, UserInputResponseContent } from '../../../content/user-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { findRequest } from '../output/interaction-events.ts';
import { approvalAnswer } from './approval-schema.ts';
import { questionAnswer } from './question-schema.ts';
import type { ResumeEntry } from './run-agent-input.ts';

/**
 * The answers in `resume`, which the agent then checks. A cancelled question is dismissed, if it may be; a cancelled approval gives no
 * answer and stays open. Throws `not-found` and `invalid-answer`.
 */
export function resumeAnswers(
  resume: readonly ResumeEntry[],
  thread: AgentThread,
): UserInputResponseContent[] {
  const ids = resume.map(({ interruptId }) => interruptId);
  const repeated = resume.find(({ interruptId }, index) => ids.indexOf(interruptId) < index);
  if (repeated !== undefined) {
    throw new HoldpointError(
      'invalid-answer',
      `resume names interrupt ${JSON.stringify(repeated.interruptId)} twice; send one entry.`,
    );
  }
  const { events } = thread;
  const open = openIds(thread);
  return resume.flatMap(({ interruptId, status, payload }) => {
    const request = findRequest(events, interruptId);
    if (request === undefined) {
      throw new HoldpointError(
        'not-found',
        `This thread has no interrupt ${JSON.stringify(interruptId)}; resume with the ids of its interrupts.`,
      );
    }
    if (status === 'resolved') return [answerOf(request, payload)];
    /* A closed request can't be dismissed; ignoring it lets the client continue. */
    return open.has(interruptId) ? dismissal(request) : [];
  });
}

/** The ids of a thread's open requests. */
export function openIds({ activeRequests }: AgentThread): Set<string> {
  return new Set(activeRequests.map(({ requestId }) => requestId));
}

/** Throws `requests-open` if an input answers some open requests and leaves out others. */
export function refuseIncomplete(named: ReadonlySet<string>, thread: AgentThread): void {
  const open = [...openIds(thread)];
  const left = open.filter((id) => !named.has(id));
  if (left.length === 0 || left.length === open.length) return;
  throw new HoldpointError(
    'requests-open',
    `resume must name every open interrupt; it leaves out ${left.join(', ')}.`,
  );
}

function answerOf(request: UserInputRequest, payload: unknown): UserInputResponseContent {
  if (request.type === 'question-request') return questionAnswer(request, payload);
  return approvalAnswer(request, payload);
}

function dismissal(request: UserInputRequest): UserInputResponseContent[] {
  if (request.type !== 'question-request' || !request.allowDismiss) return [];
  const { requestId } = request;
  return [{ type: 'question-response', requestId, status: 'dismissed' }];
}
