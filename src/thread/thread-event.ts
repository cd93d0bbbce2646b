import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { toolCallOutcomeSchema } from '../content/tool-call.ts';
import { userInputRequestSchema, userInputResponseSchema } from '../content/user-input.ts';
import { traceparentSchema } from './traceparent.ts';

/**
 * A message of the AI SDK. Only its outline is looked at: the message was checked by the AI SDK's own schema when it came
 * from outside, or was made by the AI SDK itself, before it was written.
 */
const messageSchema = z.custom<ModelMessage>((value) => {
  if (typeof value !== 'object' || value === null) return false;
  if (!('role' in value && 'content' in value)) return false;
  const { role, content } = value;
  if (role !== 'user' && role !== 'assistant' && role !== 'system') return false;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPart));
});

function isPart(part: unknown): boolean {
  return (
    typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string'
  );
}
const usageSchema = z.strictObject({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
});
/* The hash stands last in the text of an event; it is over the hash of the event before and all of the text before it. */
const always = { at: z.number(), hash: z.string() };
const place = { step: z.int(), index: z.int() };

/**
 * What can happen in a thread. Events are facts and never change; `at` is milliseconds since 1970, and `hash` ties the event
 * to all that came before it. A call is named by its place, step and index, and never by the model's id.
 */
export const threadEventSchema = z.discriminatedUnion('type', [
  /** The first event of every thread. */
  z.strictObject({ type: z.literal('thread-created'), ...always, threadId: z.string() }),
  /** A message from the app. While calls are open it waits until their results are in. */
  z.strictObject({ type: z.literal('message-added'), ...always, message: messageSchema }),
  /** A runner holds the thread until `leaseUntil`. */
  z.strictObject({
    type: z.literal('run-started'),
    ...always,
    runId: z.string(),
    leaseUntil: z.number(),
  }),
  z.strictObject({
    type: z.literal('run-renewed'),
    ...always,
    runId: z.string(),
    leaseUntil: z.number(),
  }),
  /** `error` says why, when the provider or the app's signal ended it. */
  z.strictObject({ type: z.literal('run-ended'), ...always, error: z.string().optional() }),
  /**
   * The model answered. The calls it proposed are the tool-call parts of `message` that no provider ran, and those that a
   * `tool-approval-request` part there is about, in order; their inputs stand there and nowhere else.
   */
  z.strictObject({
    type: z.literal('step-finished'),
    ...always,
    step: z.int(),
    message: messageSchema.optional(),
    finishReason: z.string(),
    usage: usageSchema.optional(),
  }),
  /**
   * A person is asked: about the call at `place`, for the one at `beside`, which goes on meanwhile, or about no call; `request` does not
   * repeat the call. `replyTo` is what the call's tool is reached by with the answer, and nobody is shown it. `traceparent` is the span
   * of the request, or of the answer, where somebody traces: what follows, days later, is linked to it.
   */
  z.strictObject({
    type: z.literal('request-opened'),
    ...always,
    place: z.strictObject(place).optional(),
    beside: z.strictObject(place).optional(),
    replyTo: z.unknown().optional(),
    request: userInputRequestSchema,
    traceparent: traceparentSchema.optional(),
  }),
  /** The first answer. `principal` is who gave it, and `channel` through what, as the app says. */
  z.strictObject({
    type: z.literal('request-answered'),
    ...always,
    response: userInputResponseSchema,
    principal: z.unknown().optional(),
    channel: z.string().optional(),
    traceparent: traceparentSchema.optional(),
  }),
  /** The tool that asked beside its call has the answer; or `error` says why it will not get it. */
  z.strictObject({
    type: z.literal('answer-delivered'),
    ...always,
    requestId: z.string(),
    error: z.string().optional(),
  }),
  /** The request ended without an answer, or an answered one no longer holds (`invalidated`). */
  z.strictObject({
    type: z.literal('request-closed'),
    ...always,
    requestId: z.string(),
    cause: z.enum(['expired', 'cancelled', 'invalidated']),
    reason: z.string().optional(),
  }),
  /** Durable before `execute` is called. A second one for a place is a new attempt of a tool that is idempotent. */
  z.strictObject({ type: z.literal('call-started'), ...always, ...place }),
  /** The call goes on outside, and its result will be delivered, before `expiresAt` where that is said. */
  z.strictObject({
    type: z.literal('call-deferred'),
    ...always,
    ...place,
    expiresAt: z.number().optional(),
  }),
  /** A person gave up on a started call whose outcome is unknown, to have it asked about anew. */
  z.strictObject({ type: z.literal('call-abandoned'), ...always, ...place }),
  /**
   * The one result of the call. `source` says who knows it when the run that started it does not: who settled it by
   * hand, the tool's own `reconcile`, or who delivered it.
   */
  z.strictObject({
    type: z.literal('call-ended'),
    ...always,
    ...place,
    outcome: toolCallOutcomeSchema,
    source: z.enum(['settled', 'reconciled', 'delivered']).optional(),
    principal: z.unknown().optional(),
    channel: z.string().optional(),
  }),
]);

/** What can happen in a thread. */
export type ThreadEvent = z.infer<typeof threadEventSchema>;
/** An event that is not in a log yet, and has no hash. */
export type NewThreadEvent = WithoutHash<ThreadEvent>;
type WithoutHash<EVENT> = EVENT extends ThreadEvent ? Omit<EVENT, 'hash'> : never;
/** The names of what can happen, which are also the names of the agent's events. */
export type ThreadEventType = ThreadEvent['type'];
/** The event of a name. */
export type ThreadEventOf<TYPE extends ThreadEventType> = Extract<ThreadEvent, { type: TYPE }>;
/** The new event of a name. */
export type NewThreadEventOf<TYPE extends ThreadEventType> = Extract<
  NewThreadEvent,
  { type: TYPE }
>;
