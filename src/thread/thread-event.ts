import type { JSONValue, ModelMessage } from 'ai';
import { z } from 'zod';
import { toolCallOutcomeSchema } from '../content/tool-call.ts';
import { userInputRequestSchema, userInputResponseSchema } from '../content/user-input.ts';

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

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The W3C Trace Context (version 00) of a span; never all zeros. */
export const traceparentSchema = z
  .string()
  .regex(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/);

const usageSchema = z.strictObject({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
});
const always = { at: z.number() };
const place = { step: z.int(), index: z.int() };
/* What a provider adds, by provider: the AI SDK's `ProviderMetadata`. */
type Notes = Record<string, { [name: string]: JSONValue | undefined }>;
/* Who did it, as the app authenticated them, and through which channel. */
const by = { principal: z.unknown().optional(), channel: z.string().optional() };
const providerMetadataSchema = z.custom<Notes>(isObject);

/** What a provider returned with a step beside the assistant message, which is all that the model is given back. */
const stepMetadataSchema = z.strictObject({
  /** The provider's own id for the answer, and which model gave it. */
  response: z
    .strictObject({ id: z.string().optional(), modelId: z.string().optional() })
    .optional(),
  providerMetadata: providerMetadataSchema.optional(),
  /** What the model cited. */
  sources: z.array(z.custom<Source>(isObject)).optional(),
});

/**
 * What can happen in a thread. Events are facts and never change; `at` is milliseconds since 1970. A call is named by its place,
 * step and index, and never by the model's id.
 */
export const threadEventSchema = z.discriminatedUnion('type', [
  /** The first event of every thread. `agent` is the name of the agent that it belongs to. */
  z.strictObject({
    type: z.literal('thread-created'),
    ...always,
    threadId: z.string(),
    agent: z.string().optional(),
  }),
  /** The thread belongs to the agent of this name from now on; without one, to agents without a name. */
  z.strictObject({ type: z.literal('agent-changed'), ...always, agent: z.string().optional() }),
  /**
   * A message from the app, and who sent it; or, with the `place` of a call, what the answer to its question says to the model. While
   * calls are open it waits until their results are in.
   */
  z.strictObject({
    type: z.literal('message-added'),
    ...always,
    message: messageSchema,
    place: z.strictObject(place).optional(),
    ...by,
  }),
  /** The last message from the app, which the model has not replied to, is withdrawn: it is not in the history. */
  z.strictObject({ type: z.literal('message-retracted'), ...always, ...by }),
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
  /** Somebody wants the run to end, whichever process it is in. */
  z.strictObject({ type: z.literal('stop-requested'), ...always, runId: z.string(), ...by }),
  /**
   * `error` says why, when something else than the end of the work ended it. With `aborted` that was the app's signal. Without, the run
   * failed, and is tried again at `retryAt`; or, without that either, not before a person or the app runs it. With `stopped`, a person
   * ended the turn: the model is not asked before the next message or answer.
   */
  z.strictObject({
    type: z.literal('run-ended'),
    ...always,
    error: z.string().optional(),
    aborted: z.literal(true).optional(),
    stopped: z.literal(true).optional(),
    retryAt: z.number().optional(),
  }),
  /**
   * The model answered. The calls it proposed are the tool-call parts of `message` that no provider ran, and those that a
   * `tool-approval-request` part there is about, in order; their inputs stand there and nowhere else. Of a step that a person stopped
   * (`interrupted`), the message is the text that had been streamed.
   */
  z.strictObject({
    type: z.literal('step-finished'),
    ...always,
    step: z.int(),
    message: messageSchema.optional(),
    finishReason: z.string(),
    usage: usageSchema.optional(),
    metadata: stepMetadataSchema.optional(),
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
  /** The first answer, who gave it, and through which channel. */
  z.strictObject({
    type: z.literal('request-answered'),
    ...always,
    response: userInputResponseSchema,
    ...by,
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
  /**
   * The run that started the call is gone, and nobody knows the outcome: the call is indeterminate. At `recoverAt` its tool is asked,
   * or it is started again where its tool is idempotent; without that time, it waits for a person.
   */
  z.strictObject({
    type: z.literal('call-lost'),
    ...always,
    ...place,
    recoverAt: z.number().optional(),
  }),
  /** The tool was asked about a lost call and could not tell. It is asked again at `recoverAt`, or no more. */
  z.strictObject({
    type: z.literal('recovery-failed'),
    ...always,
    ...place,
    recoverAt: z.number().optional(),
  }),
  /** A person gave up on a call whose outcome is unknown, to have it asked about anew. */
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
    ...by,
  }),
  /**
   * What an attempt came to after its call had ended otherwise, or after a later attempt had begun. It changes nothing; it is there
   * for the person who has to find out what really happened.
   */
  z.strictObject({
    type: z.literal('late-result'),
    ...always,
    ...place,
    attempt: z.int(),
    outcome: toolCallOutcomeSchema,
  }),
]);

/** What can happen in a thread. */
export type ThreadEvent = z.infer<typeof threadEventSchema>;
/** The names of what can happen, which are also the names of the agent's events. */
export type ThreadEventType = ThreadEvent['type'];
/** The event of a name. */
export type ThreadEventOf<TYPE extends ThreadEventType> = Extract<ThreadEvent, { type: TYPE }>;
/** What a provider returned with a step beside the assistant message. */
export type StepMetadata = z.infer<typeof stepMetadataSchema>;
/** Something that a model cited: the AI SDK's source. */
export type Source =
  | {
      type: 'source';
      sourceType: 'url';
      id: string;
      url: string;
      title?: string;
      providerMetadata?: Notes;
    }
  | {
      type: 'source';
      sourceType: 'document';
      id: string;
      mediaType: string;
      title: string;
      filename?: string;
      providerMetadata?: Notes;
    };
