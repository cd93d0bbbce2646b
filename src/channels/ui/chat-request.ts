import { z } from 'zod';
import {
  type UserInputResponseContent,
  userInputResponseSchema,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';

const output = z.custom<unknown>((value) => value !== undefined);
const outputSchema = z.union([
  z.strictObject({ toolCallId: z.string(), errorText: z.string() }),
  z.strictObject({ toolCallId: z.string(), output }),
]);

const requestSchema = z.object({
  id: z.string(),
  message: z.unknown().optional(),
  messages: z.array(z.unknown()).optional(),
  trigger: z.string().optional(),
  answers: z.array(z.unknown()).max(1_000).optional(),
  outputs: z.array(outputSchema).max(1_000).optional(),
  revision: z.int().min(0).optional(),
  whilePending: z.enum(['refuse', 'cancel']).optional(),
  stop: z.literal(true).optional(),
});

/** The result of a call that the page ran. */
export type ClientOutput = z.infer<typeof outputSchema>;

/** What a page posts. */
export interface ChatRequest extends Omit<
  z.infer<typeof requestSchema>,
  'id' | 'answers' | 'message' | 'messages' | 'trigger'
> {
  threadId: string;
  /** The last message that the page has; the others are never looked at. */
  message: unknown;
  /** Whether the page has dropped its last message, and wants it told again. */
  isAgain: boolean;
  answers: UserInputResponseContent[];
}

/** What a page posted. Throws `invalid-input` or `invalid-answer`. */
export function parseChatRequest(json: unknown): ChatRequest {
  const parsed = requestSchema.safeParse(json);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `This is no request of a chat: ${z.prettifyError(parsed.error)}`,
    );
  }
  const { id: threadId, message, messages, trigger, answers = [], ...rest } = parsed.data;
  const last = message ?? messages?.at(-1);
  const isAgain = trigger === 'regenerate-message';
  return { ...rest, threadId, message: last, isAgain, answers: parseAnswers(answers) };
}

/** Answers as their schema has them: strict, so that nothing but `approved: true` approves. Throws `invalid-answer`. */
export function parseAnswers(answers: readonly unknown[]): UserInputResponseContent[] {
  return answers.map((answer) => {
    const parsed = userInputResponseSchema.safeParse(answer);
    if (parsed.success) return parsed.data;
    throw new HoldpointError(
      'invalid-answer',
      `This is no answer to a request: ${z.prettifyError(parsed.error)}`,
    );
  });
}
