import type { ProviderMetadata, UserModelMessage } from 'ai';
import { z } from 'zod';
import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import {
  type UserInputRequestContent,
  userInputRequestSchema,
  type UserInputResponseContent,
} from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';

/** What came of a call of a model with `holdPoint`: the result of `generateText`; of `streamText` its awaited `providerMetadata`. */
interface HeldResult {
  readonly providerMetadata: ProviderMetadata | undefined;
}

const metadataSchema = z.object({
  holdpoint: z.object({ requests: z.array(userInputRequestSchema) }),
});
const answersSchema = z.array(z.json());

/**
 * The approvals that a result asks for. Answer them with `answerMessage`, in a call for the same thread. Throws `invalid-input` for the
 * result of another model.
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

/** All that a result asks people: approvals and questions. Throws as `approvalRequestsOf` does. */
export function userInputRequestsOf({ providerMetadata }: HeldResult): UserInputRequestContent[] {
  const parsed = metadataSchema.safeParse(providerMetadata);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      'This is not the result of a model with holdPoint: it has no providerMetadata.holdpoint with requests.',
    );
  }
  return parsed.data.holdpoint.requests.map((request) =>
    request.type === 'approval-request' ? withAnswers(request) : request,
  );
}

/**
 * A message of the user that answers requests of a model with `holdPoint`. It stands at the end of a call's messages, alone or with
 * others; what the call brings before it is not needed.
 */
export function answerMessage(...answers: UserInputResponseContent[]): UserModelMessage {
  const json = answersSchema.parse(JSON.parse(JSON.stringify(answers)));
  /* The AI SDK lets no other content through in a message of the user. */
  return { role: 'user', content: [], providerOptions: { holdpoint: { answers: json } } };
}

/** The answers in a message that `answerMessage` made, as they were written; `undefined` for another message. */
export function answersInMessage({
  providerOptions,
}: Pick<UserModelMessage, 'providerOptions'>): readonly unknown[] | undefined {
  const answers = providerOptions?.['holdpoint']?.['answers'];
  return Array.isArray(answers) ? answers : undefined;
}
