import type { LanguageModelMiddleware } from 'ai';
import { z } from 'zod';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { RunOptions } from '../agent/run/run-options.ts';
import { type UserInputResponseContent, userInputResponseSchema } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { isInert } from './inert-tools.ts';

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

/** An answer as it came from outside. Throws `invalid-answer`. */
export function parseAnswer(item: unknown): UserInputResponseContent {
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

/**
 * The names of the tools that a call lets the model use; `undefined` for a call without tools, which says nothing of it. Throws
 * `not-allowed` for tools that are not ours, and for those that the AI SDK could run by itself: their calls would pass nobody.
 */
export function activeToolsOf({ tools }: ProviderCall, ours: object): string[] | undefined {
  const others = (tools ?? []).filter(({ name }) => !Object.hasOwn(ours, name));
  refuse(
    others,
    'that holdPoint does not have: give them to holdPoint({ tools }), which runs them',
  );
  const live = (tools ?? []).filter((tool) => !isInert(tool));
  refuse(live, 'that are not inert, so that the AI SDK could run them past every approval');
  return tools?.map(({ name }) => name);
}

function refuse(tools: readonly { name: string }[], why: string): void {
  if (tools.length === 0) return;
  const names = tools.map(({ name }) => name).join(', ');
  throw new HoldpointError(
    'not-allowed',
    `The call brings tools ${why}: ${names}. To a call of a model with holdPoint give inertTools(tools), or none.`,
  );
}
