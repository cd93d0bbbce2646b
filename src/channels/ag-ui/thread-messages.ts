import type { AgentThread } from '../../thread/agent-thread.ts';
import { messageIdOf, retractedMessages } from '../../thread/app-messages.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { AgUiMessage } from './ag-ui-event.ts';
import { resultMessage, resultOf } from './call-result.ts';
import { KnownCalls } from './known-calls.ts';
import type { ClientMessage } from './run-agent-input.ts';
import { type CallResult, stepContent, type StepContent } from './step-content.ts';
import type { TellingOptions } from './telling-options.ts';
import { clientContent } from './user-content.ts';

/** How a thread is shown. */
export interface ShowOptions extends TellingOptions {
  /** What the client has: of results that it brought itself it keeps its own ids. */
  held: readonly ClientMessage[];
}

/**
 * The whole conversation as AG-UI has it. What an answer says to the model is not in it: its call and result are. Results stand below
 * the message that made their calls, in the order in which they came, as a client that was told of them has them.
 */
export function threadMessages(thread: AgentThread, options: ShowOptions): AgUiMessage[] {
  const { id, events } = thread;
  const { steps, results } = gather(thread, options);
  const retracted = retractedMessages(events);
  const held = options.held.filter(({ role }) => role === 'tool');
  const heldIds = new Map(held.map((message) => [message.toolCallId, message.id]));
  return events.flatMap((event, index): AgUiMessage[] => {
    if (retracted.has(event)) return [];
    if (event.type === 'message-added') return userMessage(id, events, index);
    const content = steps.get(index);
    if (content === undefined) return [];
    const ended = results.get(content.messageId) ?? [];
    return [
      ...stepMessages(content),
      ...ended.map((result) => resultMessage(id, result, heldIds.get(result.toolCallId))),
    ];
  });
}

interface Gathered {
  /** By the index of their events. */
  steps: Map<number, StepContent>;
  /** By the message that made the calls. */
  results: Map<string | undefined, CallResult[]>;
}

function gather({ id, events, calls }: AgentThread, options: TellingOptions): Gathered {
  const known = new KnownCalls();
  const records = new Map(calls.map((call) => [`${call.step}.${call.index}`, call]));
  const steps: Gathered['steps'] = new Map();
  const results = [...events.entries()].flatMap(([index, event]) => {
    if (event.type === 'step-finished') {
      const content = stepContent(id, event, options);
      steps.set(index, { ...content, calls: known.newCalls(content) });
      return known.newResults(content.results);
    }
    const call =
      event.type === 'call-ended' ? records.get(`${event.step}.${event.index}`) : undefined;
    return call === undefined ? [] : known.newResults(resultOf(call, options));
  });
  return { steps, results: Map.groupBy(results, ({ toolCallId }) => known.callerOf(toolCallId)) };
}

/** A user's message, as its client called it; nothing for what is no user's. */
export function userMessage(
  threadId: string,
  events: readonly ThreadEvent[],
  index: number,
): Extract<AgUiMessage, { role: 'user' }>[] {
  const event = events[index];
  if (event?.type !== 'message-added' || event.place !== undefined) return [];
  const { message } = event;
  if (message.role !== 'user') return [];
  const id = messageIdOf(message) ?? `${threadId}:user:${index + 1}`;
  return [{ id, role: 'user', content: clientContent(message.content) }];
}

/** The ids of the messages that were withdrawn: a client may still have them in its list. */
export function retractedIds({ id, events }: AgentThread): Set<string> {
  const retracted = retractedMessages(events);
  const messages = events.flatMap((event, index) =>
    retracted.has(event) ? userMessage(id, events, index) : [],
  );
  return new Set(messages.map((message) => message.id));
}

function stepMessages({ messageId: id, texts, calls }: StepContent): AgUiMessage[] {
  const content = texts.find(({ type }) => type === 'text')?.text;
  const thoughts = texts.filter(({ type }) => type === 'reasoning');
  const says = content !== undefined || calls.length > 0;
  return [
    ...thoughts.map(({ messageId, text }): AgUiMessage => ({
      id: messageId,
      role: 'reasoning',
      content: text,
    })),
    ...(says
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

/** Whether a client shows these messages, and nothing else beside thoughts and what is its own to show. */
export function showsAll(
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

/* Parts of a user's message are written otherwise by each side; they are the user's own. */
function isSame(shown: ClientMessage | undefined, stored: AgUiMessage): boolean {
  if (shown?.id !== stored.id || shown.role !== stored.role) return false;
  if (stored.role === 'user' && typeof stored.content !== 'string') return true;
  const calls = stored.role === 'assistant' ? (stored.toolCalls ?? []) : [];
  const shownCalls = shown.toolCalls ?? [];
  return (
    (shown.content ?? '') === (stored.content ?? '') &&
    shownCalls.length === calls.length &&
    calls.every(({ id }, index) => shownCalls[index]?.id === id)
  );
}
