import type { DeliveredOutcome } from '../../../agent/input.ts';
import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { readMessageId, withMessageId } from '../../../thread/app-messages.ts';
import type { ClientMessage } from './run-agent-input.ts';
import { listImportedUsers, listRetractedIds, readUserMessage } from '../output/thread-messages.ts';
import { parseUserContent } from './user-content.ts';
import { z } from 'zod';

/**
 * The user's messages in a client's list that may be new: those below the agent's last message, with the client's ids, by which the thread
 * recognizes recorded ones. Retracted messages are not added again, and the rest of the list is ignored. Throws `invalid-input` for an
 * invalid message, and for an id that two different messages have.
 */
export function listNewUserMessages(
  messages: readonly ClientMessage[],
  thread: AgentThread,
): ModelMessage[] {
  const sent = listLatestMessages(messages).filter(({ role }) => role === 'user');
  refuseSharedIds(sent);
  const generated = listGeneratedIds(sent, thread);
  const retracted = listRetractedIds(thread);
  return sent
    .filter(({ id }) => !generated.has(id) && !retracted.has(id))
    .map(({ id, content }) => {
      const parsed = parseUserContent(content);
      if (parsed !== undefined && isId(id, thread.id)) {
        return withMessageId({ role: 'user', content: parsed }, id);
      }
      throw new HoldpointError(
        'invalid-input',
        `The user message ${JSON.stringify(id)} is not a valid AG-UI message, or its id is not allowed.`,
      );
    });
}

/**
 * The messages that the thread does not have as they are, for the agent to record or to refuse. A client's list has the messages of everybody
 * in the thread: those that it repeats are history, and not the sender's.
 */
export function listUnrecordedMessages(
  messages: readonly ModelMessage[],
  { events }: AgentThread,
): ModelMessage[] {
  const recorded = events.flatMap((event) =>
    event.type === 'message-added' ? [event.message] : [],
  );
  return messages.filter((message) => {
    const id = readMessageId(message);
    const before = recorded.findLast((each) => id !== undefined && readMessageId(each) === id);
    return (
      before === undefined || JSON.stringify(before.content) !== JSON.stringify(message.content)
    );
  });
}

/** The messages in a client's list below the agent's last one: the user's, and also the client's own notes and results. */
export function listLatestMessages(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function refuseSharedIds(sent: readonly ClientMessage[]): void {
  const contents = new Map<string, string | undefined>();
  for (const { id, content } of sent) {
    const text = JSON.stringify(content);
    if (contents.has(id) && contents.get(id) !== text) {
      throw new HoldpointError(
        'invalid-input',
        `Two messages have the id ${JSON.stringify(id)}; give each its own.`,
      );
    }
    contents.set(id, text);
  }
}

/** The ids that were generated for messages without a client's id. */
function listGeneratedIds(sent: readonly ClientMessage[], thread: AgentThread): Set<string> {
  const { id, events } = thread;
  if (!sent.some((message) => isGenerated(message.id, id))) return new Set();
  const shown = [...events.keys()].flatMap((index) => readUserMessage(id, events, index));
  shown.push(...listImportedUsers(thread));
  return new Set(shown.map((message) => message.id).filter((each) => isGenerated(each, id)));
}

/* Ids of this form are generated here. */
function isGenerated(id: string, threadId: string): boolean {
  return id.startsWith(`${threadId}:`);
}

/** Whether a client's id for a message can be kept. */
export function isId(id: string, threadId: string): boolean {
  return id.length > 0 && id.length <= 256 && id.isWellFormed() && !isGenerated(id, threadId);
}

/** The result of a call that the client ran. */
export interface ClientResult {
  toolCallId: string;
  outcome: DeliveredOutcome;
}

/**
 * The results in a client's list that are new: those of deferred calls of `clientTools`. Others are history, or forged, and are ignored.
 * Throws `invalid-input` for a result that is not text, because a recorded result can't be corrected.
 */
export function listClientResults(
  messages: readonly ClientMessage[],
  thread: AgentThread,
  clientTools: readonly string[],
): ClientResult[] {
  const waiting = new Set(
    thread.calls
      .filter(({ status, toolName }) => status === 'deferred' && clientTools.includes(toolName))
      .map(({ toolCallId }) => toolCallId),
  );
  return messages.flatMap(({ role, toolCallId, content, error }): ClientResult[] => {
    if (role !== 'tool' || toolCallId === undefined || !waiting.delete(toolCallId)) return [];
    const outcome: DeliveredOutcome =
      error === undefined
        ? { status: 'succeeded', output: parseResultText(content, toolCallId) }
        : { status: 'failed', error };
    return [{ toolCallId, outcome }];
  });
}

const contentSchema = z.union([
  z.string(),
  z.array(z.unknown()).transform((parts) => parts.map(readPartText).join('')),
]);
const textPartSchema = z.object({ type: z.literal('text'), text: z.string() });

/* A result is text here; other parts are dropped. */
function parseResultText(content: unknown, toolCallId: string): string {
  const parsed = contentSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-input',
    `The result of call ${toolCallId} is not text; send its content as a string or as text parts.`,
  );
}

function readPartText(part: unknown): string {
  return textPartSchema.safeParse(part).data?.text ?? '';
}
