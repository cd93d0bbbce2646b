import {
  approvalRequestSchema,
  approvalResponseSchema,
  questionRequestSchema,
  questionResponseSchema,
  toolCallOutcomeSchema,
} from 'holdpoint/schemas';
import { z } from 'zod';

/** A person's answer, as the page sends it. */
export const answerSchema = z.discriminatedUnion('type', [
  approvalResponseSchema,
  questionResponseSchema,
]);

const conversationSchema = z.object({
  threadId: z.string(),
  /** The person's first message. */
  title: z.string(),
  updatedAt: z.number(),
  /** How many of its requests are waiting. */
  waiting: z.number(),
});

const entrySchema = z.object({
  request: z.discriminatedUnion('type', [approvalRequestSchema, questionRequestSchema]),
  /** The title of its conversation. */
  title: z.string(),
  status: z.enum(['waiting', 'answered', 'expired', 'cancelled', 'invalidated']),
  answer: z.object({ response: answerSchema, name: z.string(), at: z.number() }).optional(),
  /** The outcome of the call, once it is known. */
  outcome: toolCallOutcomeSchema.optional(),
});

/** Everything that the page shows next to the chat. */
export const boardSchema = z.object({
  /** For whom the board was read. The page says it with each answer, so that nobody answers as the person who has signed in since. */
  viewer: z.string(),
  /** Newest first. */
  conversations: z.array(conversationSchema),
  /**
   * Requests that wait for this person, riskiest first, and then those that ended last; of equal risk, those of the conversation that asked
   * last, in the model's order.
   */
  entries: z.array(entrySchema),
});

/** A person's answer. */
export type Answer = z.infer<typeof answerSchema>;
/** An entry of the list of conversations. */
export type ConversationLine = z.infer<typeof conversationSchema>;
/** A request, its answer and its outcome. */
export type BoardEntry = z.infer<typeof entrySchema>;
/** Everything that the page shows next to the chat. */
export type Board = z.infer<typeof boardSchema>;
