import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { listAssistantParts } from '../proposed-calls.ts';
import { always, by, placeFields } from './fields.ts';
import { type HeadDraft, makeTamperedError } from './head-draft.ts';

/* Messages from the app. */

/**
 * A message of the AI SDK. Only its outline is validated here: before it was written, a message from outside was validated with the AI
 * SDK's own schema, and any other was made by the AI SDK itself.
 */
export const messageSchema = z.custom<ModelMessage>((value) => {
  if (typeof value !== 'object' || value === null) return false;
  if (!('role' in value && 'content' in value)) return false;
  const { role, content } = value;
  if (role !== 'user' && role !== 'assistant' && role !== 'system') return false;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPart));
});

/** A message of an imported conversation. Only there are tool messages recorded: those of the thread are derived from its calls. */
const importedMessageSchema = z.custom<ModelMessage>((value) => {
  if (messageSchema.safeParse(value).success) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (!('role' in value && 'content' in value) || value.role !== 'tool') return false;
  return Array.isArray(value.content) && value.content.every(isPart);
});

function isPart(part: unknown): boolean {
  return (
    typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string'
  );
}

/**
 * The thread begins with a conversation from elsewhere; appended together with `thread-created`. Its tool calls, results and approvals
 * are history, and not calls and requests of the thread.
 */
const messagesImported = z.strictObject({
  type: z.literal('messages-imported'),
  ...always,
  messages: z.array(importedMessageSchema).min(1),
  ...by,
});

/** Applies a conversation from elsewhere. Its calls are history, but a later call must not have the id of one. */
export function applyMessagesImported(
  { messages }: z.infer<typeof messagesImported>,
  { head }: HeadDraft,
): void {
  const { newlyPast } = head;
  for (const message of messages) {
    newlyPast.messages.push(message);
    for (const part of listAssistantParts(message)) {
      if (part.type === 'tool-call') newlyPast.toolCallIds.push(part.toolCallId);
    }
  }
  const last = messages.at(-1)?.role;
  head.modelIsNext = last === 'user' || last === 'tool';
  /* The importer of messages did not write them, and the author is not known. */
  head.requesters = [null];
  head.isAnswered = !head.modelIsNext;
}

/**
 * A message from the app, and who sent it; or, with the `place` of a call, the message to the model that an answer to the call's question
 * results in. While calls are open, the message waits until all of them have ended. In a child thread, `requesters` has everybody for whom
 * the delegated call was made, unless that is only the sender.
 */
const messageAdded = z.strictObject({
  type: z.literal('message-added'),
  ...always,
  message: messageSchema,
  place: z.strictObject(placeFields).optional(),
  requesters: z.array(z.unknown()).min(1).optional(),
  ...by,
});

export function applyMessageAdded(
  { message, place, principal, requesters = [principal ?? null] }: z.infer<typeof messageAdded>,
  { head }: HeadDraft,
): void {
  const { calls, queuedMessages, newlyPast } = head;
  if (calls.length > 0) queuedMessages.push(message);
  else newlyPast.messages.push(message);
  if (calls.length === 0 && place === undefined) {
    const { modelIsNext, isStopped, requestedBy, requesters: earlier, isAnswered } = head;
    const before = { modelIsNext, isStopped, requestedBy, requesters: earlier, isAnswered };
    head.unanswered = [...head.unanswered, before];
  }
  head.modelIsNext = true;
  if (place !== undefined) return;
  head.requestedBy = principal;
  head.requesters = omitRepetitions([...(head.isAnswered ? [] : head.requesters), ...requesters]);
  head.isAnswered = false;
  head.isStopped = false;
  head.failure = undefined;
}

function omitRepetitions(principals: readonly unknown[]): readonly unknown[] {
  if (principals.length < 2) return principals;
  return [...new Map(principals.map((each) => [JSON.stringify(each), each])).values()];
}

/** The last message from the app was retracted before the model had replied to it, and left the history. */
const messageRetracted = z.strictObject({ type: z.literal('message-retracted'), ...always, ...by });

/** Retracts the last message from the history: the thread is again as it was before it. */
export function applyMessageRetracted(
  event: z.infer<typeof messageRetracted>,
  { head }: HeadDraft,
): void {
  const { unanswered, newlyPast } = head;
  const before = unanswered.at(-1);
  if (before === undefined) throw makeTamperedError(event, 'no message is without a reply');
  if (newlyPast.messages.pop() === undefined) newlyPast.retracted += 1;
  head.unanswered = unanswered.slice(0, -1);
  head.modelIsNext = before.modelIsNext;
  head.isStopped = before.isStopped;
  head.requestedBy = before.requestedBy;
  head.requesters = before.requesters;
  head.isAnswered = before.isAnswered;
  head.failure = undefined;
}

export const messageSchemas = [messagesImported, messageAdded, messageRetracted] as const;
