import type { LanguageModelUsage, ModelMessage } from 'ai';
import type { ApprovalRequestContent } from '../content/approval.ts';
import type { UserInputRequestContent } from '../content/user-input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { deepFreeze } from '../thread/deep-freeze.ts';
import type { RunEnd } from './run-end.ts';

/** What a run came to. */
export interface AgentResponse {
  /**
   * `completed`: the model has spoken last. `waiting`: people are asked. `running`: another run is at work on the
   * thread; what was answered is recorded. `indeterminate`: a call was started and its outcome is unknown. `cancelled`: open
   * requests were cancelled, or a person ended the turn. `max-steps`: the run took all its steps; `run([], thread)` goes on.
   */
  status: RunEnd['status'];
  /** What the model said last, in this run or before it. */
  text: string;
  /** The approvals that the thread waits for. The app loops while there are any. */
  approvalRequests: readonly ApprovalRequestContent[];
  /** All that the thread waits for: approvals and questions. */
  userInputRequests: readonly UserInputRequestContent[];
  /** The messages that this run added to the thread. */
  messages: readonly ModelMessage[];
  /** The sum over the run's model steps; `undefined` when there was none. */
  usage: LanguageModelUsage | undefined;
  /** Of the run's last model step. */
  finishReason: string | undefined;
  thread: AgentThread;
}

/** The response of a run that began when the thread had `messagesBefore` messages. */
export function makeResponse(
  thread: AgentThread,
  { messages, messagesBefore }: { messages: readonly ModelMessage[]; messagesBefore: number },
  end: Omit<RunEnd, 'status'> & { status: AgentResponse['status'] },
): AgentResponse {
  const requests = thread.activeRequests;
  return {
    ...end,
    text: lastText(messages),
    approvalRequests: requests.filter((request) => request.type === 'approval-request'),
    userInputRequests: requests,
    messages: deepFreeze(messages.slice(messagesBefore)),
    thread,
  };
}

function lastText(messages: readonly ModelMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
