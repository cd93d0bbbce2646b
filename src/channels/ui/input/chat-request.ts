import { z } from 'zod';
import { boundList } from '../../../json/bounded-list.ts';
import { renderSchemaError } from '../../../json/field-fault.ts';
import {
  type UserInputResponseContent,
  userInputResponseSchema,
} from '../../../content/user-input.ts';
import { HoldpointError } from '../../../errors.ts';
import { listApprovalAnswers, listLastApprovalAnswers } from './answers-in-message.ts';

const output = z.custom<unknown>((value) => value !== undefined);
const outputSchema = z.union([
  z.strictObject({ toolCallId: z.string(), errorText: z.string() }),
  z.strictObject({ toolCallId: z.string(), output }),
]);

const mostAnswers = 1_000;

const actsSchema = z.object({
  stop: z.literal(true).optional(),
  withdraw: z.string().optional(),
  reassign: z.strictObject({ requestId: z.string(), to: z.string() }).optional(),
});

/** The acts of a page other than sending messages, answers and results: the fields of its body. */
export const pageActs = actsSchema.keyof().options;

type GivenActs = z.infer<typeof actsSchema>;

/** The value of each act. */
export type PageActs = { [ACT in keyof GivenActs]-?: NonNullable<GivenActs[ACT]> };

const requestSchema = z.object({
  id: z.string(),
  message: z.unknown().optional(),
  messages: boundList(z.unknown(), 10_000).optional(),
  messageId: z.string().optional(),
  trigger: z.string().optional(),
  answers: boundList(z.unknown(), mostAnswers).optional(),
  outputs: boundList(outputSchema, 1_000).optional(),
  revision: z.int().min(0).optional(),
  whilePending: z.enum(['refuse', 'cancel']).optional(),
  resume: z.literal(true).optional(),
  /** The viewer for whom the page was loaded, from `GET`. Anybody else is refused. */
  viewer: z.string().optional(),
  ...actsSchema.shape,
});

/** The result of a call that the page ran. */
export type ClientOutput = z.infer<typeof outputSchema>;

/** The body of a page's `POST`. */
export interface ChatRequest extends Omit<
  z.infer<typeof requestSchema>,
  'id' | 'answers' | 'message' | 'messages' | 'messageId' | 'trigger'
> {
  threadId: string;
  /** The message to send: the one with the `messageId`, or else the last. */
  message: unknown;
  /** The messages above `message`, and `message` itself if it is the assistant's: history for a thread without events. */
  earlier: readonly unknown[];
  /** The answers in the last step of `message`, if it is the assistant's, by approval id. */
  answersInParts: UserInputResponseContent[];
  /** True if a message follows `message`: an approval in it is history then. A rejection runs nothing, and counts. */
  isFollowed: boolean;
  /** The ids under which any message answers a request. Those before the end are history, which anybody may have written. */
  answeredIds: readonly string[];
  /** True if the page has dropped the assistant's last message and needs all of it. */
  isRegenerate: boolean;
  answers: UserInputResponseContent[];
}

/** Parses the body of a page's `POST`. Throws `invalid-input` or `invalid-answer`. */
export function parseChatRequest(json: unknown): ChatRequest {
  const parsed = requestSchema.safeParse(json);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `The body is not a valid chat request: ${renderSchemaError(parsed.error)}`,
    );
  }
  const { id, message, messages = [], messageId, trigger, answers = [], ...rest } = parsed.data;
  if (pageActs.filter((act) => rest[act] !== undefined).length > 1) {
    throw new HoldpointError(
      'invalid-input',
      `The body has several acts; send one of ${pageActs.join(', ')} at a time.`,
    );
  }
  const named = messages.find(
    (each) => messageId !== undefined && parseMessageHead(each)?.id === messageId,
  );
  const sent = message ?? named ?? messages.at(-1);
  const role = parseMessageHead(sent)?.role;
  const above = messages.includes(sent) ? messages.slice(0, messages.indexOf(sent)) : messages;
  return {
    ...rest,
    threadId: id,
    message: sent,
    earlier: role === 'assistant' ? [...above, sent] : above,
    answersInParts: parseAnswersInParts(role === 'assistant' ? listLastApprovalAnswers(sent) : []),
    isFollowed: message === undefined && sent !== messages.at(-1),
    answeredIds: messages.flatMap(listApprovalAnswers).map(({ requestId }) => requestId),
    isRegenerate: trigger === 'regenerate-message',
    answers: parseAnswers(answers),
  };
}

function parseAnswersInParts(answers: readonly unknown[]): UserInputResponseContent[] {
  if (answers.length <= mostAnswers) return parseAnswers(answers);
  throw new HoldpointError(
    'invalid-input',
    `The message has ${answers.length} answers; send at most ${mostAnswers} at once.`,
  );
}

const headSchema = z.looseObject({ id: z.string().optional(), role: z.string() });

/** The id and the role of a message that a page sent. */
export function parseMessageHead(message: unknown): z.infer<typeof headSchema> | undefined {
  return headSchema.safeParse(message).data;
}

/** Parses answers strictly, so that only `approved: true` approves. Throws `invalid-answer`. */
function parseAnswers(answers: readonly unknown[]): UserInputResponseContent[] {
  return answers.map((answer) => {
    const parsed = userInputResponseSchema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new HoldpointError(
      'invalid-answer',
      `Not a valid answer to a request: ${renderSchemaError(parsed.error)}`,
    );
  });
}
