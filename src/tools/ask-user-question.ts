import type { Tool } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import {
  hasDuplicates,
  listLabels,
  type QuestionField,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../content/question.ts';
import { HoldpointError } from '../errors.ts';
import { makeAnswerError } from './interaction.ts';
import {
  makeNonBlankText,
  type Question,
  type QuestionResult,
  questionTool,
} from './question-tool.ts';

/* Counts code points, like JSON Schema, and words separated by white space. */
const maximumHeaderLength = 12;
const header = makeNonBlankText('A short label for the question, at most 12 characters; not blank.')
  .refine(
    (value) => Array.from(value).length <= maximumHeaderLength,
    'must have at most 12 characters',
  )
  .meta({ maxLength: maximumHeaderLength });
const label = makeNonBlankText('What the user sees: 1 to 5 words.').refine(
  (value) => value.trim().split(/\s+/).length <= 5,
  'must have 1 to 5 words',
);
const option = z.object({
  label,
  description: z.string().describe('What choosing it means or leads to.'),
});

const questionSchema = z
  .object({
    question: makeNonBlankText('The whole question; not blank.'),
    header,
    options: z
      .array(option)
      .min(2)
      .max(4)
      .meta({ description: 'No two have the same label.', uniqueItems: true }),
    multiSelect: z
      .boolean()
      .default(false)
      .describe('Whether several may be selected; then no label may hold a comma and a space.'),
  })
  .refine(({ options }) => !hasDuplicates(options.map((each) => each.label)), {
    message: 'two options have the same label',
  })
  .refine(({ options, multiSelect }) => !multiSelect || options.every(isJoinable), {
    message:
      "a label of a multi-select question must not contain ', ', which separates the answers",
  });
const inputSchema = z.object({
  questions: z
    .array(questionSchema)
    .min(1)
    .max(4)
    .refine((questions) => !hasDuplicates(questions.map((each) => each.header)), {
      message: 'two questions have the same header',
    })
    .meta({ description: 'No two have the same header.', uniqueItems: true }),
});

/** One question (`UserQuestion`) as JSON. */
type UserQuestion = z.infer<typeof questionSchema>;

/** The payload of `ask-user-question` for a front end. */
interface AskUserQuestionRequest {
  /** The request that the questions are from. */
  requestId: string;
  /** The questions, one for each field. */
  questions: UserQuestion[];
}

/* Not `z.record`, which drops the key `__proto__`. */
const answersSchema = z.custom<Record<string, string>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((answer) => typeof answer === 'string'),
);
const responseSchema = z.union([
  z.strictObject({ request_id: z.string(), answers: answersSchema }),
  z
    .strictObject({ requestId: z.string(), answers: answersSchema })
    .transform(({ requestId, answers }) => ({ request_id: requestId, answers })),
]);

/**
 * `AskUserQuestion`: 1 to 4 questions, each with 2 to 4 options, single or multiple choice, without free text. The result is an object of
 * the selected labels by header; several labels are joined with `, `. If the user dismisses it, the turn ends: the result is the error
 * `Interrupted`, and the model is not called before the next message.
 */
export function askUserQuestion(): Tool {
  return questionTool({
    description:
      'Use this to ask up to four multiple-choice questions at once, when how to continue depends on choices that the user must ' +
      'make. Offer two to four distinct options for each question and describe what each means. Returns the selected labels by ' +
      'header. The user can only select: if the user would have to type, or if a question depends on another answer, ask in another way.',
    inputSchema,
    toQuestion: ({ questions }): Question => ({
      kind: questions.length === 1 ? 'question' : 'form',
      text: questions.map((each) => each.question).join('\n'),
      fields: questions.map(toQuestionField),
      allowDismiss: true,
    }),
    toResult: (response, request): QuestionResult =>
      response.status === 'dismissed'
        ? { status: 'failed', error: 'Interrupted', endsTurn: true }
        : { status: 'succeeded', output: toUserQuestionAnswers(request, response) },
  });
}

/**
 * Converts a request to the payload of `ask-user-question`. Throws `invalid-input` for a request that doesn't fit this format, such as one
 * with free text.
 */
export function toAskUserQuestionRequest(request: QuestionRequestContent): AskUserQuestionRequest {
  const questions = request.fields.map((field) => ({
    question: field.label,
    header: field.key,
    options: field.options.map((each) => ({
      label: each.label,
      description: each.description ?? '',
    })),
    multiSelect: field.max > 1,
  }));
  const parsed = inputSchema.safeParse({ questions });
  if (parsed.success && request.fields.every(fitsFormat)) {
    return { requestId: request.requestId, questions: parsed.data.questions };
  }
  throw new HoldpointError(
    'invalid-input',
    `Question ${request.requestId} doesn't fit the format of AskUserQuestion. Show its fields in another way.`,
  );
}

/**
 * Converts a `UserQuestionResponse` (with `request_id` or `requestId`) to an answer for `agent.run`. Throws `invalid-answer` for an invalid
 * response, a response to another request, unknown headers, and labels that were not offered.
 */
export function fromUserQuestionResponse(
  request: QuestionRequestContent,
  response: unknown,
): QuestionResponseContent {
  const parsed = responseSchema.safeParse(response);
  if (!parsed.success) throw makeAnswerError(request, renderSchemaError(parsed.error));
  const { request_id: requestId, answers } = parsed.data;
  if (requestId !== request.requestId)
    throw makeAnswerError(request, `it is for request ${requestId}.`);
  const fields = new Map(request.fields.map((field) => [field.key, field]));
  return {
    type: 'question-response',
    requestId,
    status: 'answered',
    answers: Object.entries(answers).map(([key, answer]) => ({
      key,
      optionIds: parseSelectedIds(request, { key, field: fields.get(key) }, answer),
    })),
  };
}

/** The selected labels by header; several are joined with `, `, in the order of the options. */
export function toUserQuestionAnswers(
  { fields }: QuestionRequestContent,
  response: Extract<QuestionResponseContent, { status: 'answered' }>,
): Record<string, string> {
  const answers = new Map(response.answers.map((answer) => [answer.key, answer]));
  return Object.fromEntries(
    fields.map((field) => {
      const { optionIds = [] } = answers.get(field.key) ?? {};
      return [field.key, listLabels(field, optionIds).join(', ')];
    }),
  );
}

/* The format allows one selection, or any number. */
function fitsFormat({ freeText, min, max, options }: QuestionField): boolean {
  return freeText === 'never' && min === 1 && (max === 1 || max === options.length);
}

function toQuestionField({
  question,
  header: key,
  options,
  multiSelect,
}: UserQuestion): QuestionField {
  return {
    key,
    label: question,
    options: options.map((each) => ({ id: each.label, ...each })),
    min: 1,
    max: multiSelect ? options.length : 1,
    freeText: 'never',
  };
}

function parseSelectedIds(
  request: QuestionRequestContent,
  { key, field }: { key: string; field: QuestionField | undefined },
  answer: string,
) {
  if (field === undefined)
    throw makeAnswerError(request, `there is no header ${JSON.stringify(key)}.`);
  const labels = field.max > 1 ? answer.split(', ') : [answer];
  /* Of two options with the same label, the first counts. */
  const ids = new Map(field.options.map((each) => [each.label, each.id] as const).toReversed());
  return labels.map((each) => {
    const id = ids.get(each);
    if (id === undefined)
      throw makeAnswerError(request, `no option is labelled ${JSON.stringify(each)}.`);
    return id;
  });
}

function isJoinable(each: { label: string }): boolean {
  return !each.label.includes(', ');
}
