import type {
  ProviderMetadata,
  Instructions,
  ModelMessage,
  StepResult,
  ToolChoice,
  ToolSet,
} from 'ai';
import { z } from 'zod';
import { jsonTypesSchema } from '../../content/tool-call.ts';
import { listProposedCalls } from '../proposed-calls.ts';
import { always } from './fields.ts';
import { type HeadDraft, makeTamperedError } from './head-draft.ts';
import { messageSchema } from './messages.ts';

/* Replies of the model. */

/**
 * The differences of a step's request to the model from the thread's messages and the agent's settings: from `prepareStep`, or the run's
 * options.
 */
export interface PreparedRecord {
  messages?: readonly SentPart[];
  /** The number of messages of the thread; recorded with `messages`. */
  messageCount?: number;
  instructions?: Instructions | undefined;
  /** The id of the model. */
  model?: string | undefined;
  activeTools?: readonly string[] | undefined;
  toolChoice?: ToolChoice<ToolSet> | undefined;
}

/**
 * Messages that a step sent, in order: those of the thread from index `from` up to `to` (exclusive), the one that an earlier `step`
 * recorded at `index` of its list, or a `message` that is not in the thread.
 */
export type SentPart =
  | { from: number; to: number }
  | { step: number; index: number }
  | { message: ModelMessage };

/** The parts of a provider's response without the assistant message. They are kept for the record, and not sent to the model again. */
export interface StepMetadata {
  /** The provider's id of its response, and the model that made it. */
  response?: { id?: string | undefined; modelId?: string | undefined } | undefined;
  providerMetadata?: ProviderMetadata | undefined;
  /** The sources that the model cited. */
  sources?: Source[] | undefined;
}

/** A source that a model cited, as in the AI SDK. */
export type Source = StepResult<ToolSet>['sources'][number];

const stepMetadataSchema: z.ZodType<StepMetadata> = z.strictObject({
  response: z
    .strictObject({ id: z.string().optional(), modelId: z.string().optional() })
    .optional(),
  providerMetadata: z.custom<ProviderMetadata>(isObject).optional(),
  sources: z.array(z.custom<Source>(isObject)).optional(),
});

const usageSchema = z.strictObject({
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
});

/**
 * The model replied. The calls of the step are, in order, the tool-call parts of `message` that the provider doesn't run, and those that a
 * `tool-approval-request` part refers to. Their inputs are recorded only there. If a person stopped the step (`finishReason` is
 * `interrupted`), the message is the text that had been streamed. `inputs` has, for each call whose schema changed its input, the original,
 * and the types of the values that JSON doesn't express. With `prepared`, the model was sent something other than the thread's messages and
 * the agent's own settings: `sentMessages` has the messages. In a thread of a custom agent, `progress` is the state that its function
 * returned, and with `continues` the function is called again at once.
 */
const stepFinished = z.strictObject({
  type: z.literal('step-finished'),
  ...always,
  step: z.int(),
  message: messageSchema.optional(),
  finishReason: z.string(),
  usage: usageSchema.optional(),
  metadata: stepMetadataSchema.optional(),
  inputs: z
    .array(
      z.strictObject({ index: z.int(), given: z.unknown(), types: jsonTypesSchema.optional() }),
    )
    .optional(),
  prepared: z.custom<PreparedRecord>(isObject).optional(),
  progress: z.unknown().optional(),
  continues: z.literal(true).optional(),
});

/* A reply that ended so is not whole: the messages before it are still to be answered. */
const cutOff = new Set(['length', 'content-filter', 'error', 'interrupted']);

export function applyStepFinished(
  event: z.infer<typeof stepFinished>,
  { head, requests }: HeadDraft,
): void {
  const { newlyPast } = head;
  const isWaiting = [...requests.values()].some(({ step }) => step !== undefined);
  if (head.calls.length > 0 || isWaiting || event.step !== head.steps) {
    throw makeTamperedError(
      event,
      `step ${head.steps} is next, and open calls and requests must end before it`,
    );
  }
  head.steps += 1;
  head.unanswered = [];
  head.progress = event.progress;
  head.decided = [];
  head.modelIsNext = event.continues === true;
  head.isAnswered = event.continues !== true && !cutOff.has(event.finishReason);
  if (event.message === undefined) return;
  newlyPast.messages.push(event.message);
  head.calls = listProposedCalls(event);
  if (head.calls.length === 0) return;
  head.isAnswered = false;
  /* Of the message only the outline has been validated. */
  if (
    head.calls.some(
      ({ toolCallId, toolName }) => typeof toolCallId !== 'string' || typeof toolName !== 'string',
    )
  ) {
    throw makeTamperedError(event, 'one of its calls has no id or no name');
  }
  const toolCallIds = head.calls.map(({ toolCallId }) => toolCallId);
  if (new Set(toolCallIds).size < toolCallIds.length) {
    throw makeTamperedError(event, 'two of its calls have the same id');
  }
  newlyPast.toolCallIds.push(...toolCallIds);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const stepSchemas = [stepFinished] as const;
