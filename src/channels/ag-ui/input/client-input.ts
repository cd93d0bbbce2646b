import type { InputItem } from '../../../agent/input/run-input.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { interactionAnswer, type InteractionRefusal } from './interaction-response.ts';
import { newMessages, unrecordedMessages } from './new-messages.ts';
import { openIds, refuseIncomplete, resumeAnswers } from './resume-answers.ts';
import type { RunAgentInput } from './run-agent-input.ts';

/** The input of a run from a client's `RunAgentInput`. */
export interface ClientInput {
  items: InputItem[];
  whilePending: 'refuse' | 'cancel';
}

/** The input of a run, or why its interaction response is refused. Answers that are already recorded are left to the agent to recognize. */
export function clientInput(
  input: RunAgentInput,
  thread: AgentThread,
): ClientInput | InteractionRefusal {
  const messages = newMessages(input.messages, thread);
  const answers: UserInputResponseContent[] = resumeAnswers(input.resume, thread);
  const named = new Set(input.resume.map(({ interruptId }) => interruptId));
  if (input.interactionResponse !== undefined) {
    const answer = interactionAnswer(input.interactionResponse, thread);
    if ('code' in answer) return answer;
    answers.push(answer);
    named.add(answer.requestId);
  }
  const items = [...answers, ...unrecordedMessages(messages, thread)];
  /* The message cancels the requests that are not answered. */
  if (input.whilePending === 'cancel' && messages.length > 0) {
    return { items, whilePending: 'cancel' };
  }
  refuseIncomplete(named, thread);
  return { items, whilePending: whilePending(named, thread) };
}

/* If the input covers every open request, a new message may cancel those that it leaves unanswered. */
function whilePending(named: ReadonlySet<string>, thread: AgentThread): 'refuse' | 'cancel' {
  const open = [...openIds(thread)];
  const waitsElsewhere = thread.calls.some(({ status }) => status === 'deferred');
  return open.length > 0 && !waitsElsewhere && open.every((id) => named.has(id))
    ? 'cancel'
    : 'refuse';
}
