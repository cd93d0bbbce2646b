import type { ModelMessage } from 'ai';
import type { UserInputResponseContent } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { isEqualJson } from '../policy/digest.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import {
  listImportedMessages,
  isAppMessage,
  isForHoldPoint,
  findRetractedMessages,
  turnOfMessage,
} from '../thread/app-messages.ts';
import { toJson } from '../json/tagged-json.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { endsTurn } from '../thread/thread-head.ts';
import { isFromOutside, type OutsideMessage, type ReadPrompt } from './read-prompt.ts';
import type { FinishedStepEvent } from '../view/thread-items.ts';

/** The input of a model call that is the sender's own, independent of the history in its prompt. */
interface SideInput {
  /** The answers in `providerOptions.holdpoint`, and at the very end of the prompt. */
  answers: readonly UserInputResponseContent[];
  /** The caller's id for the last message of the prompt. */
  messageId: string | undefined;
  /** Checks whether the sender is this principal. */
  isSender: (principal: unknown) => boolean;
}

/**
 * Lists the input of a model call that is new to its thread. A message that equals the one of the thread's open turn (the run failed,
 * people are being asked, or the reply was lost) counts as sent again, unless the caller's ids differ; so does one before the last that the
 * thread has from an earlier turn. After a stop, the same words are a new message, if their author sends them. An answer that is sent with
 * a message that the thread already has counts only while its request is open.
 */
export function listNewInput(
  prompt: ReadPrompt,
  thread: AgentThread,
  side: SideInput,
): (OutsideMessage | UserInputResponseContent)[] {
  if (prompt.messages.length === 0) return [...side.answers];
  const open = new Set(thread.activeRequests.map(({ requestId }) => requestId));
  return [
    ...listNewPromptMessages(prompt, thread, side),
    ...(isKnown(thread, side.messageId)
      ? side.answers.filter(({ requestId }) => open.has(requestId))
      : side.answers),
  ];
}

/* The agent itself recognizes the last message if it has an id. */
function listNewPromptMessages(
  { earlier: history, messages }: ReadPrompt,
  thread: AgentThread,
  { answers, messageId, isSender }: SideInput,
): readonly OutsideMessage[] {
  /* Nobody has said the texts of `answerMessage` and `resumeMessage`. */
  const earlier = history.filter((message) => !isForHoldPoint(message));
  const withoutId = messageId === undefined ? messages : messages.slice(0, -1);
  const count = countOverlap(listOpenTurnMessages(thread, isSender), withoutId);
  const rest = messages.slice(count);
  const before = messages.slice(0, count);
  const added = rest.length < 2 ? rest : omitRecorded(rest, thread, [...earlier, ...before]);
  const ofOthers = listUnansweredOfOthers(thread, isSender);
  const own = added.filter((message, index) => {
    const isNamed = messageId !== undefined && index === added.length - 1;
    return isNamed || !isAmong(ofOthers, message, messages);
  });
  if (messageId !== undefined || (answers.length === 0 && !isShared(thread, isSender))) return own;
  const authors = listAuthorsOfLast([...earlier, ...messages], own, thread);
  /* Everybody who answers sends the history as they have it. */
  if (answers.length > 0) return authors.length > 0 ? own.slice(0, -1) : own;
  if (authors.every((author) => author === undefined || isSender(author))) return own;
  throw new HoldpointError(
    'invalid-input',
    `Thread ${thread.id} already has the prompt’s last message, from another person. Send providerOptions.holdpoint.messageId: the id of that message if it is sent again, an id of its own if it is a new message.`,
  );
}

/**
 * Lists the authors of the prompt's last message in the thread, if the thread has it at least as often as the prompt. The reply may have
 * come on another channel, and the message may have been retracted: only an id distinguishes a prompt that is sent again from a person who
 * repeats another's words.
 */
function listAuthorsOfLast(
  prompt: readonly ModelMessage[],
  own: readonly OutsideMessage[],
  { events }: AgentThread,
): unknown[] {
  const last = own.at(-1);
  if (last === undefined || last !== prompt.at(-1)) return [];
  const content = toComparableContent(last);
  const isSame = (message: ModelMessage): boolean =>
    isEqualJson(toComparableContent(message), content);
  const imported = listImportedMessages(events).filter(isSame);
  const added = events.filter(isAppMessage).filter(({ message }) => isSame(message));
  const authors = [...imported.map(() => undefined), ...added.map(({ principal }) => principal)];
  return authors.slice(prompt.filter(isSame).length - 1);
}

/**
 * Checks whether another person than the sender has written in the thread. Comparing messages takes long, and most threads are one
 * person's.
 */
function isShared({ events }: AgentThread, isSender: SideInput['isSender']): boolean {
  return events.some(
    (event) => isAppMessage(event) && event.principal !== undefined && !isSender(event.principal),
  );
}

/** Lists the messages of others than the sender in the open turn, also in one that was stopped. */
function listUnansweredOfOthers(
  thread: AgentThread,
  isSender: SideInput['isSender'],
): readonly ModelMessage[] {
  const unanswered = listOpenTurnMessages(thread, () => false);
  if (unanswered.length === 0) return [];
  const { events } = thread;
  const retracted = findRetractedMessages(events);
  return unanswered.filter((message) => !isSender(findSender(events, retracted, message)));
}

/** Finds the last person who sent this message. */
function findSender(
  events: readonly ThreadEvent[],
  retracted: ReadonlySet<ThreadEvent>,
  message: ModelMessage,
): unknown {
  const said = events.findLast(
    (event) =>
      isAppMessage(event) &&
      !retracted.has(event) &&
      isEqualJson(toComparableContent(event.message), toComparableContent(message)),
  );
  return said?.type === 'message-added' ? said.principal : undefined;
}

/**
 * Checks whether these are another person's words that wait for a reply, with others said since on another channel: the prompt has them no
 * more often.
 */
function isAmong(
  ofOthers: readonly ModelMessage[],
  message: OutsideMessage,
  prompt: readonly OutsideMessage[],
): boolean {
  const isSame = (other: ModelMessage): boolean =>
    isEqualJson(toComparableContent(other), toComparableContent(message));
  const recorded = ofOthers.filter(isSame).length;
  return recorded > 0 && prompt.filter(isSame).length <= recorded;
}

/**
 * Omits the messages before the last that the thread already has, as often as the prompt does. Another person may have sent them, and the
 * reply came elsewhere: they must not become the words of this prompt's sender.
 */
function omitRecorded(
  messages: readonly OutsideMessage[],
  thread: AgentThread,
  earlier: readonly ModelMessage[],
): readonly OutsideMessage[] {
  const recorded = thread.messages.filter(isFromOutside).map(toComparableContent);
  const prompt = [...earlier, ...messages].filter(isFromOutside).map(toComparableContent);
  const begin = prompt.length - messages.length;
  return messages.filter((_, index) => {
    const place = begin + index;
    const isSame = (other: unknown): boolean => isEqualJson(other, prompt[place]);
    const isLast = index === messages.length - 1;
    return (
      isLast || prompt.slice(0, place + 1).filter(isSame).length > recorded.filter(isSame).length
    );
  });
}

/** The key of the reply to a model call, in a thread that may already have it. */
export interface ReplyKey {
  /** The caller's id for the last message of the prompt. */
  messageId: string | undefined;
  /** True if the content of that message equals the message of the thread's open turn, or the call resumes the thread without one. */
  isRepeated: boolean;
  /** The requests that the model call answers. */
  answered: ReadonlySet<string>;
}

/** Makes the key of the reply if the thread already has the input of the model call. */
export function makeReplyKey(
  { messages, isResumed }: ReadPrompt,
  thread: AgentThread,
  { answered, messageId, isSender }: Omit<SideInput, 'answers'> & { answered: readonly string[] },
): ReplyKey {
  return {
    messageId,
    answered: new Set(answered),
    isRepeated:
      isResumed ||
      (messages.length > 0 &&
        countOverlap(listOpenTurnMessages(thread, isSender), messages) === messages.length),
  };
}

/** The recorded steps that reply to a model call, up to the next message; `undefined` if its input is new to the thread. */
export function findReplySteps(
  { events, calls }: AgentThread,
  { messageId, isRepeated, answered }: ReplyKey,
): readonly FinishedStepEvent[] | undefined {
  if (messageId !== undefined) return turnOfMessage(events, messageId)?.events.filter(isStep);
  if (isRepeated) return listStepsAfter(events, events.findLastIndex(isAppMessage));
  const requested = calls.filter(({ requestId = '' }) => answered.has(requestId));
  if (requested.length === 0 || requested.some(({ outcome }) => outcome === undefined))
    return undefined;
  const last = Math.max(...requested.map(({ step }) => step));
  return listStepsAfter(
    events,
    events.findIndex((event) => isStep(event) && event.step === last),
  );
}

/** The steps after the event at an index, up to the next message. */
function listStepsAfter(
  events: readonly ThreadEvent[],
  index: number,
): readonly FinishedStepEvent[] {
  const later = events.slice(index + 1);
  const end = later.findIndex(isAppMessage);
  return later.slice(0, end === -1 ? later.length : end).filter(isStep);
}

function isStep(event: ThreadEvent): event is FinishedStepEvent {
  return event.type === 'step-finished';
}

function isKnown({ events }: AgentThread, messageId: string | undefined): boolean {
  return messageId !== undefined && turnOfMessage(events, messageId) !== undefined;
}

/** The messages that began the thread's last turn; none if that turn has ended. */
function listOpenTurnMessages(
  thread: AgentThread,
  isSender: SideInput['isSender'],
): readonly ModelMessage[] {
  if (isTurnOver(thread, isSender)) return [];
  const { messages } = thread;
  const end = messages.findLastIndex(isFromOutside) + 1;
  const begin = messages.slice(0, end).findLastIndex((message) => !isFromOutside(message)) + 1;
  return messages.slice(begin, end);
}

/**
 * Checks whether the model has replied or a person has ended the turn. A turn that was stopped before its reply is over only for its
 * sender.
 */
function isTurnOver(
  { status, events, calls, messages }: AgentThread,
  isSender: SideInput['isSender'],
): boolean {
  const retracted = findRetractedMessages(events);
  const last = events.findLast((event) => isOfTurn(event) && !retracted.has(event));
  if (status !== 'idle') return false;
  /* An imported conversation may end with a reply. */
  if (last === undefined) return messages.at(-1)?.role === 'assistant';
  if (last.type === 'run-ended') {
    const begin = events.findLast(
      (event) => event.type === 'step-finished' || (isAppMessage(event) && !retracted.has(event)),
    );
    return begin?.type !== 'message-added' || isSender(begin.principal);
  }
  if (last.type !== 'call-ended') return last.type === 'step-finished';
  return calls.some((call) => call.step === last.step && endsTurn(call));
}

function isOfTurn(event: ThreadEvent): boolean {
  const { type } = event;
  if (type === 'run-ended') return event.stopped === true;
  return type === 'message-added' || type === 'step-finished' || type === 'call-ended';
}

/** Counts the messages at the start of `messages` that equal the last recorded ones. */
function countOverlap(
  recorded: readonly ModelMessage[],
  messages: readonly OutsideMessage[],
): number {
  const most = Math.min(recorded.length, messages.length);
  for (let count = most; count > 0; count -= 1) {
    const end = recorded.slice(recorded.length - count);
    if (
      isEqualJson(end.map(toComparableContent), messages.slice(0, count).map(toComparableContent))
    )
      return count;
  }
  return 0;
}

/* Without holdpoint's provider options: the caller's message id is not content. A text is the same as its only part, as prompts have it. */
function toComparableContent({ providerOptions, ...message }: ModelMessage): unknown {
  const { holdpoint: _ours, ...others } = providerOptions ?? {};
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return toJson({ ...message, content: parts, others });
}
