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
  /** What the person said first. */
  title: z.string(),
  updatedAt: z.number(),
  /** How many requests wait in it. */
  waiting: z.number(),
});

const entrySchema = z.object({
  request: z.discriminatedUnion('type', [approvalRequestSchema, questionRequestSchema]),
  /** When it was asked; the same for all of a step, which stay in the model's order. */
  askedAt: z.number(),
  /** The conversation it comes from. */
  title: z.string(),
  status: z.enum(['waiting', 'answered', 'expired', 'cancelled', 'invalidated']),
  answer: z.object({ response: answerSchema, name: z.string(), at: z.number() }).optional(),
  /** What became of the call, once that is known. */
  outcome: toolCallOutcomeSchema.optional(),
});

/** All that the page shows beside the chat. */
export const boardSchema = z.object({
  /** Newest first. */
  conversations: z.array(conversationSchema),
  /** Requests that wait, and the latest that ended; newest first. */
  entries: z.array(entrySchema),
});

/** A person's answer. */
export type Answer = z.infer<typeof answerSchema>;
/** A line of the list of conversations. */
export type ConversationLine = z.infer<typeof conversationSchema>;
/** A request, and what became of it. */
export type BoardEntry = z.infer<typeof entrySchema>;
/** All that the page shows beside the chat. */
export type Board = z.infer<typeof boardSchema>;
