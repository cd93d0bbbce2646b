import { z } from 'zod';
import { toolCallSchema } from './tool-call.ts';

/** Something to pick. Answers name it by `id`, never by its text or place. */
const questionOptionSchema = z.strictObject({
  id: z.string().min(1),
  label: z.string(),
  description: z.string().optional(),
});

/** One thing that is asked: pick one, pick several, or type. */
const questionFieldSchema = z.strictObject({
  key: z.string().min(1),
  label: z.string(),
  options: z.array(questionOptionSchema),
  /** How many options may be picked; `max` above 1 is a multiple choice. */
  min: z.int().min(0),
  max: z.int().min(0),
  /** Option ids picked already when the question is shown. It is not an answer. */
  preselected: z.array(z.string()).optional(),
  /** Whether text of the person's own is taken: never, beside the options, or alone. */
  freeText: z.enum(['never', 'optional', 'only']),
});

/** What was answered to one field. An array of these, as keys from outside never index plain objects. */
const questionAnswerSchema = z.strictObject({
  key: z.string().min(1),
  optionIds: z.array(z.string()),
  text: z.string().optional(),
});

/** A question to a person: a confirmation, a choice, or a form of several fields. Plain JSON. */
export const questionRequestSchema = z.strictObject({
  type: z.literal('question-request'),
  kind: z.enum(['confirmation', 'question', 'choice', 'form']),
  requestId: z.string().min(1),
  threadId: z.string().min(1),
  /** What is asked, for people. */
  text: z.string(),
  fields: z.array(questionFieldSchema).min(1),
  /** Whether it may be closed without an answer. */
  allowDismiss: z.boolean(),
  /** The answer that closing the question gives, a remote tool's `default`; not the same as a preselection. */
  dismissAnswer: z.array(questionAnswerSchema).optional(),
  toolCall: toolCallSchema.optional(),
  /** Who asked for it: the principal of the message that the agent is at work on. Any JSON, as the app gave it. */
  requestedBy: z.unknown().optional(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** What a person answered to a question, or that it was closed without an answer. It never approves anything. */
export const questionResponseSchema = z.discriminatedUnion('status', [
  z.strictObject({
    type: z.literal('question-response'),
    requestId: z.string().min(1),
    status: z.literal('answered'),
    answers: z.array(questionAnswerSchema),
    metadata: z.unknown().optional(),
  }),
  z.strictObject({
    type: z.literal('question-response'),
    requestId: z.string().min(1),
    status: z.literal('dismissed'),
    metadata: z.unknown().optional(),
  }),
]);

/** Something to pick. */
export type QuestionOption = z.infer<typeof questionOptionSchema>;
/** One thing that is asked. */
export type QuestionField = z.infer<typeof questionFieldSchema>;
/** What was answered to one field. */
export type QuestionAnswer = z.infer<typeof questionAnswerSchema>;
/** A question to a person. */
export type QuestionRequestContent = z.infer<typeof questionRequestSchema>;
/** What a person answered to a question. */
export type QuestionResponseContent = z.infer<typeof questionResponseSchema>;
