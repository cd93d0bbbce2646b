import { z } from 'zod';
import type { InputItem } from '../../agent.ts';
import type { QuestionResponseContent } from '../../content/question.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { fromInteractionResponse, hasInteractionId } from '../../tools/interaction.ts';
import { listNewUserMessages, listUnrecordedMessages } from './client-messages.ts';
import type { ResumeEntry, RunAgentInput } from './run-agent-input.ts';
import { HoldpointError } from '../../errors.ts';
import { mapRequests } from './interrupts.ts';
import { parseRequestAnswer, expandNames } from './answer-format.ts';

/** The input of a run from a client's `RunAgentInput`. */
interface ClientInput {
  items: InputItem[];
  whilePending: 'refuse' | 'cancel';
}

/** Reads the input of a run, or the refusal of its interaction response. The agent recognizes answers that are already recorded. */
export function readClientInput(
  input: RunAgentInput,
  thread: AgentThread,
): ClientInput | InteractionRefusal {
  const messages = listNewUserMessages(input.messages, thread);
  const answers: UserInputResponseContent[] = readResumeAnswers(input.resume, thread);
  const named = new Set(input.resume.map(({ interruptId }) => interruptId));
  if (input.interactionResponse !== undefined) {
    const answer = parseInteractionAnswer(input.interactionResponse, thread);
    if ('code' in answer) return answer;
    answers.push(answer);
    named.add(answer.requestId);
  }
  const items = [...answers, ...listUnrecordedMessages(messages, thread)];
  /* The message cancels the requests that are not answered. */
  if (input.whilePending === 'cancel' && messages.length > 0) {
    return { items, whilePending: 'cancel' };
  }
  return { items, whilePending: chooseWhilePending(named, thread) };
}

/**
 * If the input covers every open request, a new message may cancel those that it leaves unanswered. Throws `requests-open` if it answers
 * some open requests and leaves out others.
 */
function chooseWhilePending(
  named: ReadonlySet<string>,
  { activeRequests, calls }: AgentThread,
): 'refuse' | 'cancel' {
  const open = activeRequests.map(({ requestId }) => requestId);
  const left = open.filter((id) => !named.has(id));
  if (left.length > 0 && left.length < open.length) {
    throw new HoldpointError(
      'requests-open',
      `resume must name every open interrupt; it leaves out ${left.join(', ')}.`,
    );
  }
  const waitsElsewhere = calls.some(({ status }) => status === 'deferred');
  return open.length > 0 && left.length === 0 && !waitsElsewhere ? 'cancel' : 'refuse';
}

/** The refusal of an `interactionResponse`, with codes that its front ends know. */
interface InteractionRefusal {
  code: 'MISSING_INTERACTION_ID' | 'NO_PENDING_INTERACTION' | 'INTERACTION_MISMATCH';
  message: string;
}

const namedSchema = z.looseObject({
  interactionId: z.string().min(1).optional(),
  interaction_id: z.string().min(1).optional(),
});

/**
 * Parses the answer in an `interactionResponse`, or explains why it fits no question of this thread. It answers only questions, so it never
 * approves. Throws `invalid-answer` if it contradicts itself.
 */
function parseInteractionAnswer(
  response: unknown,
  { events, activeRequests }: AgentThread,
): QuestionResponseContent | InteractionRefusal {
  const { interactionId, interaction_id = interactionId } =
    namedSchema.safeParse(response).data ?? {};
  if (interaction_id === undefined) {
    return {
      code: 'MISSING_INTERACTION_ID',
      message: 'interactionResponse must include interactionId',
    };
  }
  const request = events
    .flatMap((event) => (event.type === 'request-opened' ? [event.request] : []))
    .findLast((each) => hasInteractionId(each, interaction_id));
  if (request?.type === 'question-request') {
    return fromInteractionResponse(request, expandNames(response));
  }
  return activeRequests.some(({ type }) => type === 'question-request')
    ? {
        code: 'INTERACTION_MISMATCH',
        message:
          'interactionResponse interactionId does not match the pending interaction for this thread',
      }
    : {
        code: 'NO_PENDING_INTERACTION',
        message: 'interactionResponse does not match any pending interaction for this thread',
      };
}

/**
 * Reads the answers in `resume`, which the agent then checks. A cancelled question is dismissed, if it may be; a cancelled approval gives
 * no answer and stays open. Throws `not-found` and `invalid-answer`.
 */
function readResumeAnswers(
  resume: readonly ResumeEntry[],
  { events, activeRequests }: AgentThread,
): UserInputResponseContent[] {
  const requests = mapRequests(events);
  const open = new Set(activeRequests.map(({ requestId }) => requestId));
  const named = new Set<string>();
  return resume.flatMap(({ interruptId, status, payload }) => {
    if (named.has(interruptId)) {
      throw new HoldpointError(
        'invalid-answer',
        `resume names interrupt ${JSON.stringify(interruptId)} twice; send one entry.`,
      );
    }
    named.add(interruptId);
    const request = requests.get(interruptId);
    if (request === undefined) {
      throw new HoldpointError(
        'not-found',
        `This thread has no interrupt ${JSON.stringify(interruptId)}; resume with the ids of its interrupts.`,
      );
    }
    if (status === 'resolved') return [parseRequestAnswer(request, payload)];
    /* A closed request can't be dismissed; ignoring it lets the client continue. */
    return open.has(interruptId) ? dismissRequest(request) : [];
  });
}

function dismissRequest(request: UserInputRequest): UserInputResponseContent[] {
  if (request.type !== 'question-request' || !request.allowDismiss) return [];
  const { requestId } = request;
  return [{ type: 'question-response', requestId, status: 'dismissed' }];
}
