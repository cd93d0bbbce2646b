import type { ModelMessage, UIMessage, UIMessageChunk } from 'ai';
import { z } from 'zod';
import { toShownFile } from '../../../content/message-file.ts';
import { readMessageId, readMetadata } from '../../../thread/app-messages.ts';

type UserContent = Extract<ModelMessage, { role: 'user' }>['content'];
type UserPart = Exclude<UserContent, string>[number];
type UIPart = UIMessage['parts'][number];

/** Converts a user's message to the form of a page; `undefined` for a message of another role. */
export function toUserUIMessage(message: ModelMessage, id: string): UIMessage | undefined {
  if (message.role !== 'user') return undefined;
  const metadata = readMetadata(message);
  const parts = toUIParts(message.content);
  return { id, role: 'user', ...(metadata === undefined ? {} : { metadata }), parts };
}

/** Makes the id of an imported message: its own, or a generated one. */
export function makeImportedId(threadId: string, message: ModelMessage, index: number): string {
  return readMessageId(message) ?? `${threadId}:imported:${index}`;
}

const interactionSchema = z.strictObject({ interaction_response: z.looseObject({}) });

/**
 * Makes the chunk of the message that an answer added for the model, in addition to its call's result: as the data part of an interaction,
 * or else unchanged.
 */
export function answerMessageChunk(message: ModelMessage): UIMessageChunk[] {
  if (message.role !== 'user') return [];
  const parts = toUIParts(message.content);
  const [first, ...more] = parts;
  const text = first?.type === 'text' && more.length === 0 ? first.text : '';
  const { data } = interactionSchema.safeParse(parseJson(text));
  if (data === undefined) return [{ type: 'data-user-message', data: { parts } }];
  return [{ type: 'data-interaction_response', data: data.interaction_response }];
}

function toUIParts(content: UserContent): UIPart[] {
  return typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : content.flatMap(toUIPart);
}

function toUIPart(part: UserPart): UIPart[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text }];
  const file = toShownFile(part);
  return file === undefined ? [] : [{ type: 'file', ...file }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
