import type { LanguageModelUsage, ModelMessage, ProviderMetadata } from 'ai';
import type { ApprovalRequestContent } from '../content/approval.ts';
import type { ToolCall } from '../content/tool-call.ts';
import type { UserInputRequestContent, RequestDecision } from '../content/user-input.ts';
import { type AgentThread, listDecisions } from '../thread/agent-thread.ts';
import { isAppMessage, readMessageId, turnOfMessage } from '../thread/app-messages.ts';
import { replayEvents } from '../thread/apply-events.ts';
import { freezeDeep } from '../json/json-value.ts';
import type { Source, StepMetadata } from '../thread/events.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { RunEnd } from './run/run-end.ts';

/** The result of a run. */
export interface AgentResponse<CALL extends ToolCall = ToolCall, OUTPUT = unknown> {
  /**
   * `completed`: the model has replied. `waiting`: for answers, for deferred results, or after failed runs for the time of the next attempt
   * (`nextDeadline`). `running`: another run is at work on the thread; the answers are recorded. `indeterminate`: a call was started and
   * its outcome is unknown. `cancelled`: open requests were cancelled, or a person ended the turn. `max-steps`: the run used all its steps,
   * or `stopWhen` ended it; `run([], thread)` continues. `stuck`: too many runs in a row have failed.
   */
  status: RunEnd['status'];
  /** The model's latest text, from this run or an earlier one. */
  text: string;
  /**
   * The model's reply in the form of the agent's `output`; `undefined` for an agent without one. Parsed from the recorded text. As in the
   * AI SDK, reading it throws a `NoOutputGeneratedError` if the run ended without a reply, and for example a `NoObjectGeneratedError` if
   * the text does not match.
   */
  readonly output: OUTPUT;
  /** The approvals that the thread is waiting for. The app loops while there are any. */
  approvalRequests: readonly ApprovalRequestContent<CALL>[];
  /** All requests that the thread is waiting for: approvals and questions. */
  userInputRequests: readonly UserInputRequestContent<CALL>[];
  /** The decisions of this turn: of the requests that ended since the app's latest message. */
  readonly decisions: readonly RequestDecision[];
  /** The messages that this run added to the thread. */
  messages: readonly ModelMessage[];
  /** Token usage, summed over the run's steps; `undefined` without a step. */
  usage: LanguageModelUsage | undefined;
  /** The finish reason of the run's last step. */
  finishReason: string | undefined;
  /** The sources cited in the run's last step. */
  sources: readonly Source[];
  /** Provider metadata of the run's last step, by provider. */
  providerMetadata: ProviderMetadata | undefined;
  /** The provider's response id and model of the run's last step. */
  response: Readonly<NonNullable<StepMetadata['response']>> | undefined;
  /** The time when the thread needs a run, in milliseconds since 1970, 0 for immediately: `thread.nextDeadline`. */
  nextDeadline: number | undefined;
  /** The thread of the run, up to date. */
  thread: AgentThread<CALL>;
}

/** The part of a thread that a response covers. */
interface ResponseScope {
  messages: readonly ModelMessage[];
  /** The index of the first message that the run added, or that replies to a repeated message. */
  messagesBefore: number;
  /** True if the reply belongs to an earlier turn: open requests belong to a later one. */
  isPast?: boolean;
  decisions: () => readonly RequestDecision[];
}

/** The response of a run, or the recorded response to a repeated message. */
export function makeResponse(
  thread: AgentThread,
  { messages, messagesBefore, isPast = false, decisions }: ResponseScope,
  { metadata, ...end }: RunEnd,
): AgentResponse {
  const requests = isPast ? [] : thread.activeRequests;
  const added = messages.slice(messagesBefore);
  const { sources = [], providerMetadata, response } = freezeDeep(metadata) ?? {};
  return {
    ...end,
    output: undefined,
    get decisions() {
      return decisions();
    },
    sources,
    providerMetadata,
    response,
    nextDeadline: thread.nextDeadline,
    text: readLastText(isPast ? added : messages),
    approvalRequests: requests.filter((request) => request.type === 'approval-request'),
    userInputRequests: requests,
    messages: freezeDeep(added),
    thread,
  };
}

function readLastText(messages: readonly ModelMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The messages of a thread that reply to one of its messages. */
interface RecordedReply {
  begin: number;
  end: number;
  events: readonly ThreadEvent[];
  /** The last step of the reply. */
  step: ThreadEventOf<'step-finished'> | undefined;
  /** True if a later message has arrived, so that no run adds to this reply. */
  isOver: boolean;
}

/** The reply to the message with this id; `undefined` if the thread does not have that message. */
export function findRecordedReply(
  state: Readonly<ThreadState>,
  messageId: string,
): RecordedReply | undefined {
  const isMeant = (message: ModelMessage): boolean => readMessageId(message) === messageId;
  /* Checked first, because it doesn't need events that are behind a snapshot. */
  if (!state.messages.some(isMeant) && !state.head.queuedMessages.some(isMeant)) return undefined;
  const events = state.events.slice();
  const turn = turnOfMessage(events, messageId);
  if (turn === undefined) return undefined;
  const { message, next } = turn;
  const { newlyPast, queuedMessages } = replayEvents(events);
  const { messages } = newlyPast;
  const isOver = next !== undefined && !queuedMessages.includes(next);
  return {
    begin: messages.indexOf(message) + 1,
    end: isOver ? messages.indexOf(next) : messages.length,
    events: turn.events,
    step: turn.events.findLast((event) => event.type === 'step-finished'),
    isOver,
  };
}

/** The end of a request that ran nothing; for a recorded reply, with its last step. */
export function makeIdleEnd(status: RunEnd['status'], step?: RecordedReply['step']): RunEnd {
  const { finishReason, metadata } = step ?? {};
  return { status, usage: undefined, finishReason, metadata };
}

/** Lists the decisions of the requests that have ended in a thread's latest turn. */
export function listLatestDecisions(
  state: Readonly<ThreadState>,
): () => readonly RequestDecision[] {
  const { events } = state;
  const end = events.length;
  return () => listDecisions(state, events.slice(events.findLastIndex(isAppMessage, end) + 1, end));
}
