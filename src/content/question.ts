import { z } from 'zod';
import { requestedFields } from './requesters.ts';
import { requestPathSchema, toolCallSchema } from './tool-call.ts';

/** An option of a question. Answers refer to it by `id`. */
const questionOptionSchema = z.strictObject({
  id: z.string().min(1),
  label: z.string(),
  description: z.string().optional(),
});

/** One field of a question: options to pick from, text to type, or both. */
const questionFieldSchema = z.strictObject({
  key: z.string().min(1),
  label: z.string(),
  options: z.array(questionOptionSchema),
  /** The minimum and maximum number of options to pick; with `max` above 1, several may be picked. */
  min: z.int().min(0),
  max: z.int().min(0),
  /** The ids of options that are selected when the question is first shown. They don't count as an answer. */
  preselected: z.array(z.string()).optional(),
  /** Whether text can be typed: `never`, `optional` (instead of or besides options), or `only` (there are no options). */
  freeText: z.enum(['never', 'optional', 'only']),
});

/* Answers are an array, because keys from outside must not index plain objects. */

/** The answer to one field. */
const questionAnswerSchema = z.strictObject({
  key: z.string().min(1),
  optionIds: z.array(z.string()),
  text: z.string().optional(),
});

/** A question to a person, as plain JSON: a confirmation, a choice, free text, or a form of several fields. */
export const questionRequestSchema = z.strictObject({
  type: z.literal('question-request'),
  kind: z.enum(['confirmation', 'question', 'choice', 'form']),
  requestId: z.string().min(1),
  threadId: z.string().min(1),
  /** The app's key of the request, if it gave one. */
  key: z.string().optional(),
  /** The question, for people. */
  text: z.string(),
  fields: z.array(questionFieldSchema).min(1),
  /** Whether the person may dismiss the question. */
  allowDismiss: z.boolean(),
  /** The answers that the tool receives if the question is dismissed: a remote tool's `default`. */
  dismissAnswer: z.array(questionAnswerSchema).optional(),
  /** The call that asks. */
  toolCall: toolCallSchema.optional(),
  /**
   * Set for the request of a sub-agent: the delegated calls that lead to it, outermost first. `toolCall` is then the sub-agent's own
   * call.
   */
  path: requestPathSchema.optional(),
  ...requestedFields,
  /** When the question was asked, in milliseconds since 1970. */
  createdAt: z.number(),
  /** When the question expires, in milliseconds since 1970. Absent: never. */
  expiresAt: z.number().optional(),
  /** Data for the channel that shows the question. */
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** A person's answers to a question, or that it was dismissed. It never approves a call. */
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

/** An option of a question. */
export type QuestionOption = z.infer<typeof questionOptionSchema>;
/** One field of a question. */
export type QuestionField = z.infer<typeof questionFieldSchema>;
/** The answer to one field of a question. */
export type QuestionAnswer = z.infer<typeof questionAnswerSchema>;
/** A question to a person, as plain JSON. */
export type QuestionRequestContent = z.infer<typeof questionRequestSchema>;
/** A person's answers to a question, or that it was dismissed. */
export type QuestionResponseContent = z.infer<typeof questionResponseSchema>;
