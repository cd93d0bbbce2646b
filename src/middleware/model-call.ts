import type { LanguageModelMiddleware, ProviderMetadata, UserModelMessage } from 'ai';
import { z } from 'zod';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { RunOptions } from '../agent/run.ts';
import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import {
  type UserInputResponseContent,
  userInputResponseSchema,
  type UserInputRequestContent,
  userInputRequestSchema,
} from '../content/user-input.ts';
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
      `principal, channel, whilePending, messageId and answers. ${z.prettifyError(parsed.error)}`,
  );
}

/** Parses an answer from outside. Throws `invalid-answer`. */
export function parseAnswer(item: unknown): UserInputResponseContent {
  const parsed = userInputResponseSchema.safeParse(item);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-answer',
    `Not a valid answer to a request: ${z.prettifyError(parsed.error)}`,
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

/** The result of a call of a model with `holdPoint`: that of `generateText`, or `{ providerMetadata: await result.providerMetadata }` of `streamText`. */
interface HeldResult {
  readonly providerMetadata: ProviderMetadata | undefined;
}

const metadataSchema = z.object({
  holdpoint: z.object({ requests: z.array(userInputRequestSchema) }),
});
const answersSchema = z.array(z.json());

/**
 * The open approval requests in a result. Answer them with `answerMessage`, in a call for the same thread. Throws `invalid-input` for a
 * result of a model without `holdPoint`.
 *
 * @example
 * while (approvalRequestsOf(result).length > 0) {
 *   const messages = approvalRequestsOf(result).map((request) => answerMessage(request.approve()));
 *   result = await generateText({ model: held, messages, providerOptions });
 * }
 */
export function approvalRequestsOf(result: HeldResult): ApprovalRequestContent[] {
  return userInputRequestsOf(result).filter((request) => request.type === 'approval-request');
}

/** All open requests in a result, approvals and questions. Throws like `approvalRequestsOf`. */
export function userInputRequestsOf({ providerMetadata }: HeldResult): UserInputRequestContent[] {
  const parsed = metadataSchema.safeParse(providerMetadata);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      'The result is not from a model with holdPoint: its providerMetadata.holdpoint has no requests. Pass the result of generateText, or ' +
        '{ providerMetadata: await result.providerMetadata } of streamText.',
    );
  }
  return parsed.data.holdpoint.requests.map((request) =>
    request.type === 'approval-request' ? withAnswers(request) : request,
  );
}

/**
 * A user message that answers requests of a model with `holdPoint`. Put it at the very end of the call's messages; before another message it
 * is history, and counts for nobody. Earlier messages are not needed, and a call with answers alone may have several of these messages.
 */
export function answerMessage(...answers: UserInputResponseContent[]): UserModelMessage {
  const json = answersSchema.parse(JSON.parse(JSON.stringify(answers)));
  /* The AI SDK allows no custom content in a user message. */
  return { role: 'user', content: [], providerOptions: { holdpoint: { answers: json } } };
}

/** The unvalidated answers in a message that `answerMessage` made; `undefined` for any other message. */
export function answersInMessage({
  providerOptions,
}: Pick<UserModelMessage, 'providerOptions'>): readonly unknown[] | undefined {
  const answers = providerOptions?.['holdpoint']?.['answers'];
  return Array.isArray(answers) ? answers : undefined;
}
