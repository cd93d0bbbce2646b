import type { InputItem } from '../../../agent/input/run-input.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { interactionAnswer, type InteractionRefusal } from './interaction-response.ts';
import { newMessages } from './new-messages.ts';
import { openIds, refuseIncomplete, resumeAnswers } from './resume-answers.ts';
import type { RunAgentInput } from './run-agent-input.ts';

/** What a client's input brings to a run. */
export interface ClientInput {
  items: InputItem[];
  whilePending: 'refuse' | 'cancel';
}

/** What a client's input brings, or why it brings nothing; what the thread has already is left for the agent to see. */
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
  const items = [...answers, ...messages];
  /* The message cancels what is left out. */
  if (input.whilePending === 'cancel' && messages.length > 0) {
    return { items, whilePending: 'cancel' };
  }
  refuseIncomplete(named, thread);
  return { items, whilePending: whilePending(named, thread) };
}

/* Whoever gives up on all that is open, or answers it, and says something else, goes on without the rest. */
function whilePending(named: ReadonlySet<string>, thread: AgentThread): 'refuse' | 'cancel' {
  const open = [...openIds(thread)];
  const waitsElsewhere = thread.calls.some(({ status }) => status === 'deferred');
  return open.length > 0 && !waitsElsewhere && open.every((id) => named.has(id))
    ? 'cancel'
    : 'refuse';
}
