import { z } from 'zod';
import { toolCallOutcomeSchema, workingAgentSchema } from '../content/tool-call.ts';
import { always, by, editSchema, mirrored, namedBy, place, voter } from './event-fields.ts';
import { importedMessageSchema, messageSchema } from './message-schema.ts';
import { policyEvents } from './policy-events.ts';
import { userInputRequestSchema, userInputResponseSchema } from '../content/user-input.ts';
import type { PreparedRecord } from './prepared-record.ts';
import { isObject, stepMetadataSchema } from './step-metadata.ts';

/** The W3C Trace Context (version 00) of a span; never all zeros. */
export const traceparentSchema = z
  .string()
  .regex(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/);

const usageSchema = z.strictObject({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
});
const parentSchema = z.strictObject({
  /** The parent thread. */
  threadId: z.string(),
  toolCallId: z.string(),
  /** The names of the agents in the path, outermost first; `null` for an agent without a name. */
  agents: z.array(z.string().nullable()),
});
/**
 * Everything that can happen in a thread. Events are facts and never change. `at` is the time, in milliseconds since 1970. A call is
 * identified by its place, `step` and `index`, because models repeat tool call ids.
 */
export const threadEventSchema = z.discriminatedUnion('type', [
  /**
   * The first event of every thread. `agent` is the name of the agent that the thread belongs to. `parent` is set for a child
   * thread: it is the delegated call that the agent works on.
   */
  z.strictObject({
    type: z.literal('thread-created'),
    ...always,
    threadId: z.string(),
    agent: z.string().optional(),
    parent: parentSchema.optional(),
  }),
  /**
   * The thread begins with a conversation from elsewhere; appended together with `thread-created`. Its tool calls, results and approvals
   * are history, and not calls and requests of the thread.
   */
  z.strictObject({
    type: z.literal('messages-imported'),
    ...always,
    messages: z.array(importedMessageSchema).min(1),
    ...by,
  }),
  /** From now on the thread belongs to the agent with this name; if absent, to agents without a name. */
  z.strictObject({ type: z.literal('agent-changed'), ...always, agent: z.string().optional() }),
  /**
   * A message from the app, and who sent it; or, with the `place` of a call, the message to the model that an answer to the call's
   * question results in. While calls are open, the message waits until all of them have ended. In a child thread, `requesters` has everybody
   * for whom the delegated call was made, unless that is the sender alone.
   */
  z.strictObject({
    type: z.literal('message-added'),
    ...always,
    message: messageSchema,
    place: z.strictObject(place).optional(),
    requesters: z.array(z.unknown()).min(1).optional(),
    ...by,
  }),
  /** The last message from the app was retracted before the model had replied to it, and left the history. */
  z.strictObject({ type: z.literal('message-retracted'), ...always, ...by }),
  /**
   * A run holds the thread until `leaseUntil`, in milliseconds since 1970. The `principal` is who caused it, in a child thread who caused
   * the parent's run; absent in a worker. With `resumesStopped`, this person resumed a turn that had been stopped before its reply.
   */
  z.strictObject({
    type: z.literal('run-started'),
    ...always,
    runId: z.string(),
    leaseUntil: z.number(),
    resumesStopped: z.literal(true).optional(),
    ...by,
  }),
  /** The run holds the thread for longer. */
  z.strictObject({
    type: z.literal('run-renewed'),
    ...always,
    runId: z.string(),
    leaseUntil: z.number(),
  }),
  /** Somebody asked the run to stop, from this process or another. */
  z.strictObject({ type: z.literal('stop-requested'), ...always, runId: z.string(), ...by }),
  /**
   * The run no longer holds the thread. `error` is set if the run did not finish its work. With `aborted`, the app's signal ended it.
   * Otherwise the run failed, and is retried at `retryAt`, in milliseconds since 1970, or, without that, only when the app runs it. With
   * `stopped`, a person ended the turn, and the model is not called before the next message or answer.
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
   * The model replied. The calls of the step are, in order, the tool-call parts of `message` that the provider doesn't run, and those
   * that a `tool-approval-request` part refers to. Their inputs are recorded only there. If a person stopped the step (`finishReason` is
   * `interrupted`), the message is the text that had been streamed. With `prepared`, the model was sent something other than the thread's
   * messages and the agent's own settings: `sentMessages` has the messages. In a thread of a custom agent, `progress` is what its function
   * returned to be kept, and with `continues` the function is called again at once.
   */
  z.strictObject({
    type: z.literal('step-finished'),
    ...always,
    step: z.int(),
    message: messageSchema.optional(),
    finishReason: z.string(),
    usage: usageSchema.optional(),
    metadata: stepMetadataSchema.optional(),
    prepared: z.custom<PreparedRecord>(isObject).optional(),
    progress: z.unknown().optional(),
    continues: z.literal(true).optional(),
  }),
  /**
   * A person is asked something: about the call at `place`, which waits for the answer; during the call at `beside`, by its tool or its
   * sub-agent; by the `step` of a custom agent, whose next step waits for the answer; or, without these, by the app. `request` repeats a
   * call only if it is a sub-agent's. `replyTo` is the address at which the tool or sub-agent receives the answer, and is never shown to
   * people. `traceparent` is the span of the request, if it was traced; spans that follow, even days later, link to it.
   */
  z.strictObject({
    type: z.literal('request-opened'),
    ...always,
    place: z.strictObject(place).optional(),
    beside: z.strictObject(place).optional(),
    step: z.int().optional(),
    replyTo: z.unknown().optional(),
    request: userInputRequestSchema,
    traceparent: traceparentSchema.optional(),
  }),
  /**
   * The answer that decided a request, and who gave it. With `edit`, the call runs with the edited input; `patches` is what changed in the
   * input that the model asked for.
   */
  z.strictObject({
    type: z.literal('request-answered'),
    ...always,
    response: userInputResponseSchema,
    ...by,
    ...voter,
    edit: editSchema.optional(),
    ...mirrored,
    traceparent: traceparentSchema.optional(),
  }),
  ...policyEvents,
  /** The tool that asked during its call has received the answer; or, with `error`, never will, and why. */
  z.strictObject({
    type: z.literal('answer-delivered'),
    ...always,
    requestId: z.string(),
    error: z.string().optional(),
  }),
  /**
   * The request was closed without an answer; or, for an answered one, its answer no longer counts. With the cause `cancelled`, `principal`
   * and `person` are the person who ended it, where somebody did and is known.
   */
  z.strictObject({
    type: z.literal('request-closed'),
    ...always,
    requestId: z.string(),
    cause: z.enum(['expired', 'cancelled', 'invalidated']),
    reason: z.string().optional(),
    ...namedBy,
    ...mirrored,
  }),
  /**
   * `execute` is about to be called; durable before it is. A second one for the same place is a new attempt, or resumes a
   * delegated call. `expiresAt` is until when a sub-agent may work, in milliseconds since 1970; the first start says it.
   */
  z.strictObject({
    type: z.literal('call-started'),
    ...always,
    ...place,
    expiresAt: z.number().optional(),
  }),
  /**
   * The call continues outside. Its result is delivered later, before `expiresAt` if set, in milliseconds since 1970. With `agent`, the
   * call is delegated and its sub-agent waits; the call is resumed when the sub-agent has received an answer, and at `resumeAt`, in
   * milliseconds since 1970, 0 for immediately.
   */
  z.strictObject({
    type: z.literal('call-deferred'),
    ...always,
    ...place,
    expiresAt: z.number().optional(),
    agent: workingAgentSchema.optional(),
    resumeAt: z.number().optional(),
  }),
  /**
   * The run that started the call has ended or died, and the outcome is unknown: the call is indeterminate. At `recoverAt`, in milliseconds
   * since 1970, the tool's `reconcile` is called, or an idempotent tool is started again; without that time, the call waits for a person.
   * `error` says why an agent that works on the call could not be reached.
   */
  z.strictObject({
    type: z.literal('call-lost'),
    ...always,
    ...place,
    recoverAt: z.number().optional(),
    error: z.string().optional(),
  }),
  /** The tool's `reconcile` could not find out the outcome. It is called again at `recoverAt`; without that time, not again. */
  z.strictObject({
    type: z.literal('recovery-failed'),
    ...always,
    ...place,
    recoverAt: z.number().optional(),
  }),
  /** A person gave up an attempt whose outcome is unknown. A new approval is requested for the call. */
  z.strictObject({ type: z.literal('call-abandoned'), ...always, ...place }),
  /**
   * The call ended; every call has one such event. `source` is set if the outcome did not come from the run that started the call:
   * `settled` by a person, `reconciled` by the tool, or `delivered` from outside.
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
   * The outcome of an attempt that came after its call had ended with another outcome, or after a later attempt had begun. It changes
   * nothing, and is kept for the person who has to find out what happened.
   */
  z.strictObject({
    type: z.literal('late-result'),
    ...always,
    ...place,
    attempt: z.int(),
    outcome: toolCallOutcomeSchema,
  }),
]);

/** An event of a thread. `thread.events` has them all, oldest first; `agent.on(type, …)` reports new ones. */
export type ThreadEvent = z.infer<typeof threadEventSchema>;
/** The type of a thread event, which is also its name for `agent.on`. */
export type ThreadEventType = ThreadEvent['type'];
/** The thread event of a type. */
export type ThreadEventOf<TYPE extends ThreadEventType> = Extract<ThreadEvent, { type: TYPE }>;
/** The delegated call of a child thread. */
export type ParentCall = z.infer<typeof parentSchema>;
