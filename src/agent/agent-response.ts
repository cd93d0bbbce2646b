import type { LanguageModelUsage, ModelMessage, ProviderMetadata } from 'ai';
import type { ApprovalRequestContent } from '../content/approval.ts';
import type { UserInputRequestContent } from '../content/user-input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { deepFreeze } from '../thread/deep-freeze.ts';
import { turnOfMessage } from '../thread/message-turn.ts';
import type { Source, StepMetadata, ThreadEventOf } from '../thread/thread-event.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { RunEnd } from './run/run-end.ts';

/** What a run came to. */
export interface AgentResponse {
  /**
   * `completed`: the model has spoken last. `waiting`: people are asked. `running`: another run is at work on the
   * thread; what was answered is recorded. `indeterminate`: a call was started and its outcome is unknown. `cancelled`: open
   * requests were cancelled, or a person ended the turn (`agent.stop`, or an answer that does). `max-steps`: the run took all its steps; `run([], thread)` goes on.
   * `failing`: earlier runs failed and the next attempt is not due (`onlyWhenDue`). `stuck`: too many runs in a row have failed.
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
  /** What the run's last model step cited. */
  sources: readonly Source[];
  /** What the provider adds to the run's last model step, by provider. */
  providerMetadata: ProviderMetadata | undefined;
  /** The provider's id for the answer of the run's last model step, and which model gave it. */
  response: Readonly<NonNullable<StepMetadata['response']>> | undefined;
  /** When the thread needs a run, in milliseconds since 1970, 0 for at once: `thread.resumeAt`. */
  resumeAt: number | undefined;
  thread: AgentThread;
}

/** What of a thread a response is about. */
interface ResponseScope {
  messages: readonly ModelMessage[];
  /** Where the messages begin that the run added, or that reply to a message which came again. */
  messagesBefore: number;
  /** Whether the reply is of a turn that is over: what the thread waits for now is of a later one. */
  isPast?: boolean;
}

/** The response of a run, or the recorded one to a message that came again. */
export function makeResponse(
  thread: AgentThread,
  { messages, messagesBefore, isPast = false }: ResponseScope,
  { metadata, ...end }: RunEnd,
): AgentResponse {
  const requests = isPast ? [] : thread.activeRequests;
  const added = messages.slice(messagesBefore);
  const { sources = [], providerMetadata, response } = deepFreeze(metadata) ?? {};
  return {
    ...end,
    sources,
    providerMetadata,
    response,
    resumeAt: thread.resumeAt,
    text: lastText(isPast ? added : messages),
    approvalRequests: requests.filter((request) => request.type === 'approval-request'),
    userInputRequests: requests,
    messages: deepFreeze(added),
    thread,
  };
}

function lastText(messages: readonly ModelMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The part of a thread's messages that replies to one of them. */
export interface RecordedReply {
  begin: number;
  end: number;
  /** The last step that the model took for it. */
  step: ThreadEventOf<'step-finished'> | undefined;
  /** Whether another message from the app has come since, so that no run adds to the reply any more. */
  isOver: boolean;
}

/** The reply to the message with this id; `undefined` where the thread does not have that message. */
export function recordedReply(
  { events, messages, head }: Readonly<ThreadState>,
  messageId: string,
): RecordedReply | undefined {
  const turn = turnOfMessage(events, messageId);
  if (turn === undefined) return undefined;
  const { message, next } = turn;
  const isOver = next !== undefined && !head.queuedMessages.includes(next);
  return {
    begin: messages.indexOf(message) + 1,
    end: isOver ? messages.indexOf(next) : messages.length,
    step: turn.events.findLast((event) => event.type === 'step-finished'),
    isOver,
  };
}

/** The end of what runs nothing now; of a recorded reply, with its last step. */
export function nothingRun(status: RunEnd['status'], step?: RecordedReply['step']): RunEnd {
  const { finishReason, metadata } = step ?? {};
  return { status, usage: undefined, finishReason, metadata };
}
