import type { ProviderMetadata, UserModelMessage } from 'ai';
import { makeAnswerable } from '../content/answerable.ts';
import { z } from 'zod';
import type { ApprovalRequestContent } from '../content/approval.ts';
import {
  type UserInputResponseContent,
  type UserInputRequestContent,
  userInputRequestSchema,
} from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';

/**
 * The result of a call of a model with `holdPoint`: that of `generateText`, or `{ providerMetadata: await result.providerMetadata }` of
 * `streamText`.
 */
interface HeldResult {
  /** The AI SDK's: `holdPoint` adds the requests to it. */
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
  return parsed.data.holdpoint.requests.map((request) => makeAnswerable(request));
}

/**
 * Makes a user message that answers requests of a model with `holdPoint`. Put it at the very end of the call's messages; before another
 * message it is history, and does not count. Earlier messages are not needed, and a call with only answers may have several of these
 * messages. The answers are in its `providerOptions.holdpoint`. Its text answers nothing: it is there for `pruneMessages`, which removes
 * empty messages, and for models without `holdPoint`.
 */
export function answerMessage(...answers: UserInputResponseContent[]): UserModelMessage {
  const json = answersSchema.parse(JSON.parse(JSON.stringify(answers)));
  return makeMessage('I have answered what you asked for.', { answers: json });
}

/* The AI SDK allows no custom content in a user message. */
function makeMessage(
  content: string,
  holdpoint: NonNullable<UserModelMessage['providerOptions']>[string],
): UserModelMessage {
  return { role: 'user', content, providerOptions: { holdpoint } };
}

/**
 * Makes a user message with which a call resumes its thread: after a restart, or after an answer that was given elsewhere. Put it at the
 * very end of the call's messages. It records no message and gives no answer, and no other message of the call is read, except for the
 * system messages at its start. The result is the reply to the thread's last message, recorded or new, with the requests that are open.
 *
 * A call with it is refused with `not-found` if the thread does not exist, and with `invalid-input` if it has `answers` as well. A turn
 * that a person stopped stays stopped.
 *
 * @example
 * const result = await generateText({ model: held, messages: [resumeMessage()], providerOptions: { holdpoint: { threadId } } });
 */
export function resumeMessage(): UserModelMessage {
  return makeMessage('Please continue.', { resume: true });
}

/** Checks whether `resumeMessage` made the message. */
export function isResumeMessage({
  providerOptions,
}: Pick<UserModelMessage, 'providerOptions'>): boolean {
  return providerOptions?.['holdpoint']?.['resume'] === true;
}

/** The unvalidated answers in a message that `answerMessage` made; `undefined` for any other message. */
export function answersInMessage({
  providerOptions,
}: Pick<UserModelMessage, 'providerOptions'>): readonly unknown[] | undefined {
  const answers = providerOptions?.['holdpoint']?.['answers'];
  return Array.isArray(answers) ? answers : undefined;
}
