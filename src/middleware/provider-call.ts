import type { LanguageModelMiddleware } from 'ai';
import { z } from 'zod';
import type { AgentOptions, RunOptions } from '../agent/agent-options.ts';
import { type UserInputResponseContent, userInputResponseSchema } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';

type WrappedCall = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0];
/** The model that is wrapped. */
export type ProviderModel = WrappedCall['model'];
/** The parameters of one call of it. */
export type ProviderCall = WrappedCall['params'];

/** The options of an agent that each call brings itself. */
export type BroughtOption =
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

/** What a call says of its thread. */
export interface ThreadOptions extends Pick<
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

/** `providerOptions.holdpoint`. Throws `invalid-input` with what to write, and `invalid-answer`. */
export function threadOptionsOf({ providerOptions }: ProviderCall): ThreadOptions {
  const parsed = threadOptionsSchema.safeParse(providerOptions?.['holdpoint']);
  if (parsed.success) return { ...parsed.data, answers: parsed.data.answers.map(parseAnswer) };
  throw new HoldpointError(
    'invalid-input',
    'A call of a model with holdPoint names its thread: providerOptions: { holdpoint: { threadId } }, and if need be ' +
      `principal, channel, whilePending, messageId and answers beside it. ${z.prettifyError(parsed.error)}`,
  );
}

function parseAnswer(item: unknown): UserInputResponseContent {
  const parsed = userInputResponseSchema.safeParse(item);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-answer',
    `This is no answer to a request: ${z.prettifyError(parsed.error)}`,
  );
}

/** Whether a call must make a tool call. */
export function isForced(choice: ProviderCall['toolChoice']): boolean {
  return choice?.type === 'required' || choice?.type === 'tool';
}

/** The settings that a call brings, for all model steps of its run. */
export function settingsOf(params: ProviderCall): Pick<AgentOptions, BroughtOption> {
  const { holdpoint: _ours, ...providerOptions } = params.providerOptions ?? {};
  const { toolChoice } = params;
  return {
    maxOutputTokens: params.maxOutputTokens,
    temperature: params.temperature,
    topP: params.topP,
    topK: params.topK,
    presencePenalty: params.presencePenalty,
    frequencyPenalty: params.frequencyPenalty,
    stopSequences: params.stopSequences,
    seed: params.seed,
    reasoning: params.reasoning,
    headers: params.headers,
    providerOptions,
    toolChoice: toolChoice?.type === 'none' ? 'none' : undefined,
  };
}

/** Throws `not-allowed` for tools that a call brings and that are not ours: their calls would pass nobody. */
export function refuseOtherTools({ tools = [] }: ProviderCall, ours: object): void {
  const others = tools.map(({ name }) => name).filter((name) => !Object.hasOwn(ours, name));
  if (others.length === 0) return;
  throw new HoldpointError(
    'not-allowed',
    `The call brings tools that holdPoint does not have: ${others.join(', ')}. ` +
      'Give them to holdPoint({ tools }), which runs them; to the call itself give inertTools(tools), or none.',
  );
}
