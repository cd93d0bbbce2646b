import type { UserModelMessage } from 'ai';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { CallsByPlace } from '../../thread/calls-by-place.ts';
import {
  listImportedMessages,
  readMessageId,
  readShownId,
  findRetractedMessages,
} from '../../thread/app-messages.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { AgUiEvent, AgUiMessage, AgUiPart } from './ag-ui-event.ts';
import {
  readCallResults,
  type CallResult,
  KnownCalls,
  makeClientResultMessage,
  readPartResults,
} from './call-results.ts';
import type { ClientMessage } from './run-agent-input.ts';
import { mapDecisions, readItem } from '../../view/thread-items.ts';
import { PresentInputs } from './present-inputs.ts';
import { makeStepMessages, type StepMessages } from './step-events.ts';
import type { AgUiViewOptions } from './ag-ui-handler-options.ts';
import { toShownFile } from '../../content/message-file.ts';

type UserMessage = Extract<AgUiMessage, { role: 'user' }>;

/** The options of a snapshot. */
interface SnapshotOptions extends AgUiViewOptions {
  /** The messages that the client has: results that it sent itself keep its ids. */
  held: readonly ClientMessage[];
}

/**
 * The whole conversation as messages of AG-UI, its calls with the inputs that they have now. Messages that answers added for the model are
 * left out, because their calls and results are in it. Results follow the message that made their calls, in the order in which they came,
 * as on a client that has followed the run.
 */
export function listThreadMessages(thread: AgentThread, options: SnapshotOptions): AgUiMessage[] {
  const { id, events } = thread;
  const retracted = findRetractedMessages(events);
  const heldIds = new Map(
    options.held.filter(({ role }) => role === 'tool').map((held) => [held.toolCallId, held.id]),
  );
  const known = new KnownCalls();
  const records = new CallsByPlace(thread.calls);
  const inputs = new PresentInputs(records);
  inputs.update(thread);
  const decisions = mapDecisions(events);
  /** The messages of each step, by the id of the one that makes its calls. */
  const steps = new Map<string | undefined, AgUiMessage[]>();
  const addResults = (results: readonly CallResult[]): void => {
    for (const result of known.addResults(results)) {
      const message = makeClientResultMessage(id, result, heldIds.get(result.toolCallId));
      steps.get(known.findCaller(result.toolCallId))?.push(message);
    }
  };
  const messages = events.map((event, index): AgUiMessage[] => {
    if (retracted.has(event)) return [];
    if (event.type === 'messages-imported') return convertImported(id, events, options);
    const item = readItem(event, records);
    if (item?.type === 'message') return readUserMessage(id, events, index);
    if (item?.type === 'call-ended') addResults(readCallResults(item, decisions, options));
    if (item?.type !== 'step') return [];
    const content = makeStepMessages(id, inputs.apply(item.event), options);
    const ofStep = toStepMessages({ ...content, calls: known.addCalls(content) });
    steps.set(content.messageId, ofStep);
    addResults(content.results);
    return ofStep;
  });
  return messages.flat();
}

function convertImported(
  threadId: string,
  events: readonly ThreadEvent[],
  options: AgUiViewOptions,
): AgUiMessage[] {
  return listImportedMessages(events).flatMap((message, index): AgUiMessage[] => {
    if (message.role === 'user') return [toImportedUser(threadId, message, index)];
    const results = message.role === 'tool' ? message.content : [];
    const id = `${threadId}:imported:${index}`;
    const content = makeStepMessages(threadId, { step: 0, message }, options, id);
    const ended = [
      ...content.results,
      ...results.flatMap((part) => readPartResults(part, options)),
    ];
    return [
      ...toStepMessages(content),
      ...ended.map((result) => makeClientResultMessage(threadId, result)),
    ];
  });
}

function toImportedUser(threadId: string, message: UserModelMessage, index: number): UserMessage {
  const id = readMessageId(message) ?? `${threadId}:imported:${index}`;
  return { id, role: 'user', content: toClientContent(message.content) };
}

/** The user's messages in the conversation with which the thread began. */
export function listImportedUsers({ id, events }: AgentThread): UserMessage[] {
  return listImportedMessages(events).flatMap((message, index) =>
    message.role === 'user' ? [toImportedUser(id, message, index)] : [],
  );
}

/** The user's message of the event at `index`, with its client's id; empty for any other event. */
export function readUserMessage(
  threadId: string,
  events: readonly ThreadEvent[],
  index: number,
): UserMessage[] {
  const event = events[index];
  if (event?.type !== 'message-added' || event.place !== undefined) return [];
  const { message } = event;
  if (message.role !== 'user') return [];
  const id = readShownId(threadId, message) ?? `${threadId}:user:${index + 1}`;
  return [{ id, role: 'user', content: toClientContent(message.content) }];
}

/** The content of a user's message as a client shows it. */
function toClientContent(content: UserModelMessage['content']): string | AgUiPart[] {
  if (typeof content === 'string') return content;
  return content.flatMap((part): AgUiPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    const file = toShownFile(part);
    if (file === undefined) return [];
    const { mediaType: mimeType, url: value } = file;
    return [{ type: classifyMediaType(mimeType), source: { type: 'url', value, mimeType } }];
  });
}

function classifyMediaType(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/');
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

/** The ids of the retracted messages: a client may still have them in its list. */
export function listRetractedIds({ id, events }: AgentThread): Set<string> {
  const retracted = findRetractedMessages(events);
  const messages = events.flatMap((event, index) =>
    retracted.has(event) ? readUserMessage(id, events, index) : [],
  );
  return new Set(messages.map((message) => message.id));
}

function toStepMessages({ messageId: id, texts, calls }: StepMessages): AgUiMessage[] {
  const content = texts.find(({ type }) => type === 'text')?.text;
  const thoughts = texts.filter(({ type }) => type === 'reasoning');
  const hasMessage = content !== undefined || calls.length > 0;
  return [
    ...thoughts.map((thought): AgUiMessage => ({
      id: thought.id,
      role: 'reasoning',
      content: thought.text,
    })),
    ...(hasMessage
      ? [
          {
            id,
            role: 'assistant' as const,
            ...(content === undefined ? {} : { content }),
            ...(calls.length === 0 ? {} : { toolCalls: calls }),
          },
        ]
      : []),
  ];
}

/**
 * Makes the snapshots after which a client that has `held` shows these messages in this order. Clients keep known messages in place and
 * append new ones, so messages after a new one are removed from the client first.
 */
export function orderSnapshots(
  messages: readonly AgUiMessage[],
  held: readonly ClientMessage[],
): AgUiEvent[] {
  const places = new Map(held.map(({ id }, place) => [id, place]));
  const findPlace = (index: number): number => places.get(messages[index]?.id ?? '') ?? -1;
  let kept = 0;
  while (findPlace(kept) >= 0 && (kept === 0 || findPlace(kept) > findPlace(kept - 1))) kept += 1;
  const rest = messages.slice(kept);
  const isMoved = rest.some(({ id }) => places.has(id));
  return [
    ...(isMoved ? [{ type: 'MESSAGES_SNAPSHOT' as const, messages: messages.slice(0, kept) }] : []),
    { type: 'MESSAGES_SNAPSHOT', messages: [...messages] },
  ];
}

/** Checks whether a client shows exactly these messages, apart from thoughts and its own activity messages. */
export function showsExactly(
  held: readonly ClientMessage[],
  messages: readonly AgUiMessage[],
): boolean {
  const shown = held.filter(({ role }) => role !== 'reasoning' && role !== 'activity');
  const stored = messages.filter(({ role }) => role !== 'reasoning');
  return (
    shown.length === stored.length &&
    stored.every((message, index) => isSame(shown[index], message))
  );
}

/* Client and server write the parts of a user's message differently, so they are not compared. */
function isSame(shown: ClientMessage | undefined, stored: AgUiMessage): boolean {
  if (shown?.id !== stored.id || shown.role !== stored.role) return false;
  if (stored.role === 'user' && typeof stored.content !== 'string') return true;
  const calls = stored.role === 'assistant' ? (stored.toolCalls ?? []) : [];
  const shownCalls = shown.toolCalls ?? [];
  return (
    (shown.content ?? '') === (stored.content ?? '') &&
    shownCalls.length === calls.length &&
    calls.every(({ id, function: called }, index) => {
      const shownCall = shownCalls[index];
      return shownCall?.id === id && shownCall.function?.arguments === called.arguments;
    })
  );
}
