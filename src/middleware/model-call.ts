import type { LanguageModelMiddleware } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import type { AgentOptions, RunOptions } from '../agent.ts';
import { type UserInputResponseContent, userInputResponseSchema } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';

type WrappedCall = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];

/** The model that the middleware wraps. */
export type ProviderModel = WrappedCall['model'];

/** The AI SDK's options of one call of the wrapped model. */
export type ModelCallOptions = WrappedCall['params'];

/** The agent's options that each model call sets. */
export type PerCallOption =
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
  | 'reasoning'
  | 'headers'
  | 'providerOptions'
  | 'toolChoice';

/** The thread of a model call, and how it is run. */
interface ThreadOptions extends Pick<
  RunOptions,
  'principal' | 'channel' | 'whilePending' | 'messageId'
> {
  threadId: string;
  answers: readonly UserInputResponseContent[];
}

const threadOptionsSchema = z.strictObject({
  threadId: z.string(),
  principal: z.unknown().optional(),
  channel: z.string().optional(),
  whilePending: z.enum(['refuse', 'cancel']).optional(),
  messageId: z.string().optional(),
  answers: z.array(z.unknown()).default([]),
});

/** Parses `providerOptions.holdpoint`. Throws `invalid-input`, and `invalid-answer` for an answer in it. */
export function parseThreadOptions({ providerOptions }: ModelCallOptions): ThreadOptions {
  const parsed = threadOptionsSchema.safeParse(providerOptions?.['holdpoint']);
  if (parsed.success) return { ...parsed.data, answers: parsed.data.answers.map(parseAnswer) };
  throw new HoldpointError(
    'invalid-input',
    'A call of a model with holdPoint must name its thread: pass providerOptions: { holdpoint: { threadId } }, and optionally ' +
      `principal, channel, whilePending, messageId and answers. ${renderSchemaError(parsed.error)}`,
  );
}

/** Parses an answer from outside. Throws `invalid-answer`. */
export function parseAnswer(item: unknown): UserInputResponseContent {
  const parsed = userInputResponseSchema.safeParse(item);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-answer',
    `Not a valid answer to a request: ${renderSchemaError(parsed.error)}`,
  );
}

/** The model settings of a call, for all steps of its run. */
export function pickCallSettings(options: ModelCallOptions): Pick<AgentOptions, PerCallOption> {
  const { holdpoint: _ours, ...providerOptions } = options.providerOptions ?? {};
  const { toolChoice } = options;
  return {
    maxOutputTokens: options.maxOutputTokens,
    temperature: options.temperature,
    topP: options.topP,
    topK: options.topK,
    presencePenalty: options.presencePenalty,
    frequencyPenalty: options.frequencyPenalty,
    stopSequences: options.stopSequences,
    seed: options.seed,
    reasoning: options.reasoning,
    headers: options.headers,
    providerOptions,
    toolChoice: toolChoice?.type === 'none' ? 'none' : undefined,
  };
}
