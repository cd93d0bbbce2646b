import type { ModelMessage, SystemModelMessage, UserModelMessage } from 'ai';
import type { UserInputResponseContent } from '../content/user-input.ts';
import { equalJson } from '../policy/digest.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { turnOfMessage, retractedMessages } from '../thread/app-messages.ts';
import { toJson } from '../thread/tagged-json.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { endsTurn } from '../thread/thread-state.ts';
import type { ProviderCall } from './provider-call.ts';
import type { SentAnswer } from './recorded-steps.ts';
import { answersInMessage } from './result-requests.ts';

type PromptMessage = ProviderCall['prompt'][number];
type NewMessage = UserModelMessage | SystemModelMessage;

/** What is read of a caller's prompt. The rest is history, which the thread knows better. */
export interface ReadPrompt {
  /** The system messages at its head. */
  instructions: SystemModelMessage[];
  /** What came after all that a model or a tool said, but for answers. */
  messages: NewMessage[];
  /** The answers that came with those, in messages of `answerMessage`, unchecked. */
  saidAnswers: unknown[];
  /** The answers in the tool message before those, as they were written. */
  answers: UserInputResponseContent[];
  /** Calls of the turn that the prompt ends with. The caller has them before their eyes; they are evidence of nothing. */
  shownCalls: ReadonlySet<string>;
}

/** Reads what is newest in a prompt. */
export function readPrompt(prompt: ProviderCall['prompt']): ReadPrompt {
  const head = prompt.findIndex(({ role }) => role !== 'system');
  const instructions = prompt.slice(0, head === -1 ? prompt.length : head).filter(isNew);
  const rest = prompt.slice(instructions.length);
  const last = rest.findLastIndex((message) => !isNew(message));
  const newest = rest.slice(last + 1).filter(isNew);
  const turn = rest.slice(rest.findLastIndex(({ role }) => role === 'user') + 1);
  return {
    instructions: instructions.filter((message) => message.role === 'system'),
    messages: newest.filter((message) => answersInMessage(message) === undefined),
    saidAnswers: newest.flatMap((message) => answersInMessage(message) ?? []),
    answers: answersIn(rest[last]),
    shownCalls: new Set(turn.flatMap(callIdsIn)),
  };
}

function isNew(message: PromptMessage): message is PromptMessage & NewMessage {
  return isFromOutside(message);
}

function isFromOutside({ role }: Pick<ModelMessage, 'role'>): boolean {
  return role === 'user' || role === 'system';
}

function answersIn(message: PromptMessage | undefined): UserInputResponseContent[] {
  if (message?.role !== 'tool') return [];
  return message.content
    .filter((part) => part.type === 'tool-approval-response')
    .map(({ approvalId: requestId, approved, reason }) => ({
      type: 'approval-response',
      requestId,
      /* Whatever was written here: the agent refuses what is not a boolean. */
      approved,
      ...(reason === undefined ? {} : { reason }),
    }));
}

function callIdsIn(message: PromptMessage): string[] {
  if (message.role !== 'assistant') return [];
  return message.content.filter((part) => part.type === 'tool-call').map((part) => part.toolCallId);
}

/** Whether an answer is a no. */
export function isRejection(answer: UserInputResponseContent): boolean {
  return answer.type === 'approval-response' && !answer.approved;
}

/** What a call brings beside its prompt. */
interface BesidePrompt {
  answers: readonly UserInputResponseContent[];
  /** The caller's id for the last message of the prompt, which has one. */
  messageId: string | undefined;
}

/**
 * What a call brings to its thread. A message whose turn is still under way (the run failed, people are asked, the reply was lost) is
 * the same message sent again, unless the caller's ids say otherwise; an answer before a new message is news only while its request is
 * open, and so is any answer beside a message that the thread has.
 */
export function inputOf(
  { messages, answers }: ReadPrompt,
  thread: AgentThread,
  beside: BesidePrompt,
): (NewMessage | UserInputResponseContent)[] {
  if (messages.length === 0) return [...answers, ...beside.answers];
  const open = new Set(thread.activeRequests.map(({ requestId }) => requestId));
  const isOpen = ({ requestId }: UserInputResponseContent): boolean => open.has(requestId);
  return [
    ...answers.filter(isOpen),
    ...newMessages(messages, thread, beside.messageId),
    ...(isKnown(thread, beside.messageId) ? beside.answers.filter(isOpen) : beside.answers),
  ];
}

/* By its id the agent itself knows the last one. */
function newMessages(
  messages: readonly NewMessage[],
  thread: AgentThread,
  messageId: string | undefined,
): readonly NewMessage[] {
  const unnamed = messageId === undefined ? messages : messages.slice(0, -1);
  return messages.slice(overlap(messagesOfOpenTurn(thread), unnamed));
}

/** What a call brings that the thread may have from before: answers, where the prompt ends with them, or the last message. */
export function broughtBy(
  { messages, answers }: ReadPrompt,
  thread: AgentThread,
  { answers: others, messageId }: BesidePrompt,
): SentAnswer {
  const newest = messages.length === 0 ? [...answers, ...others] : others;
  return {
    messageId,
    answered: new Set(newest.map(({ requestId }) => requestId)),
    isRepeated:
      messages.length > 0 && overlap(messagesOfOpenTurn(thread), messages) === messages.length,
  };
}

function isKnown({ events }: AgentThread, messageId: string | undefined): boolean {
  return messageId !== undefined && turnOfMessage(events, messageId) !== undefined;
}

/** The messages that began the thread's last turn; none when that is over. */
function messagesOfOpenTurn(thread: AgentThread): readonly ModelMessage[] {
  if (isTurnOver(thread)) return [];
  const { messages } = thread;
  const end = messages.findLastIndex(isFromOutside) + 1;
  const begin = messages.slice(0, end).findLastIndex((message) => !isFromOutside(message)) + 1;
  return messages.slice(begin, end);
}

/** Whether the model has spoken last, or a person has ended the turn. */
function isTurnOver({ status, events, calls }: AgentThread): boolean {
  const retracted = retractedMessages(events);
  const last = events.findLast((event) => isOfTurn(event) && !retracted.has(event));
  if (status !== 'idle' || last === undefined) return false;
  if (last.type === 'run-ended') return true;
  if (last.type !== 'call-ended') return last.type === 'step-finished';
  return calls.some((call) => call.step === last.step && endsTurn(call));
}

function isOfTurn(event: ThreadEvent): boolean {
  const { type } = event;
  if (type === 'run-ended') return event.stopped === true;
  return type === 'message-added' || type === 'step-finished' || type === 'call-ended';
}

/** How many of the first messages are the last of the recorded ones. */
function overlap(recorded: readonly ModelMessage[], messages: readonly NewMessage[]): number {
  const most = Math.min(recorded.length, messages.length);
  for (let count = most; count > 0; count -= 1) {
    const end = recorded.slice(recorded.length - count);
    if (equalJson(end.map(wordsOf), messages.slice(0, count).map(wordsOf))) return count;
  }
  return 0;
}

/* The id that a caller gave it is no part of what a message says. */
function wordsOf({ providerOptions, ...message }: ModelMessage): unknown {
  const { holdpoint: _ours, ...others } = providerOptions ?? {};
  return toJson({ ...message, others });
}
