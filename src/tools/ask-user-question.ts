import type { Tool } from 'ai';
import { z } from 'zod';
import type { QuestionField, QuestionRequestContent } from '../content/question.ts';
import type { QuestionResponseContent } from '../content/question.ts';
import { HoldpointError } from '../errors.ts';
import { textOf } from './input-text.ts';
import { type Question, type QuestionResult, questionTool } from './question-tool.ts';

/* Characters and words are counted: code points, as JSON Schema does, and runs without white space. */
const longestHeader = 12;
const header = textOf('A short label for the question, at most 12 characters; not blank.')
  .refine((value) => Array.from(value).length <= longestHeader, 'must have at most 12 characters')
  .meta({ maxLength: longestHeader });
const label = textOf('What the user sees: 1 to 5 words.').refine(
  (value) => value.trim().split(/\s+/).length <= 5,
  'must have 1 to 5 words',
);
const option = z.object({
  label,
  description: z.string().describe('What picking it means, or leads to.'),
});

const questionSchema = z
  .object({
    question: textOf('The whole question; not blank.'),
    header,
    options: z
      .array(option)
      .min(2)
      .max(4)
      .meta({ description: 'No two have the same label.', uniqueItems: true }),
    multiSelect: z
      .boolean()
      .default(false)
      .describe('Whether several may be picked; then no label may hold a comma and a space.'),
  })
  .refine(({ options }) => differ(options.map((each) => each.label)), {
    message: 'two options have the same label',
  })
  .refine(({ options, multiSelect }) => !multiSelect || options.every(joins), {
    message: "a label of a multi-select question must not hold ', ', which joins the answers",
  });
const inputSchema = z.object({
  questions: z
    .array(questionSchema)
    .min(1)
    .max(4)
    .refine((questions) => differ(questions.map((each) => each.header)), {
      message: 'two questions have the same header',
    })
    .meta({ description: 'No two have the same header.', uniqueItems: true }),
});

/** One question (`UserQuestion`), as its JSON has it. */
type UserQuestion = z.infer<typeof questionSchema>;

/** What a front end is sent: the payload of `ask-user-question`. */
export interface AskUserQuestionRequest {
  requestId: string;
  questions: UserQuestion[];
}

/* Not `z.record`, which drops a header `__proto__`. */
const answersSchema = z.custom<Record<string, string>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((picked) => typeof picked === 'string'),
);
const responseSchema = z.union([
  z.strictObject({ request_id: z.string(), answers: answersSchema }),
  z
    .strictObject({ requestId: z.string(), answers: answersSchema })
    .transform(({ requestId, answers }) => ({ request_id: requestId, answers })),
]);

/**
 * `AskUserQuestion`: 1 to 4 questions, each with 2 to 4 options, single or multiple choice, nothing typed. Its
 * result is an object of the labels picked, by header; several are joined with `, `. Dismissed, it ends the turn: the result is the
 * error `Interrupted`, and the model is not asked before the next message.
 */
export function askUserQuestion(): Tool {
  return questionTool({
    description:
      'Use this to ask up to four multiple-choice questions at once, when the next step depends on choices that are the ' +
      "user's. Offer two to four distinct options for each question and describe what each means. Gives their picks, by " +
      'header. They can only pick: for anything they would have to type, or that depends on another answer, ask otherwise.',
    inputSchema,
    toQuestion: ({ questions }): Question => ({
      kind: questions.length === 1 ? 'question' : 'form',
      text: questions.map((each) => each.question).join('\n'),
      fields: questions.map(fieldOf),
      allowDismiss: true,
    }),
    toResult: (response, request): QuestionResult =>
      response.status === 'dismissed'
        ? { status: 'failed', error: 'Interrupted', endsTurn: true }
        : { status: 'succeeded', output: toUserQuestionAnswers(request, response) },
  });
}

/**
 * The request as the payload of `ask-user-question`. Throws `invalid-input` for a request that its shape can't hold: one that
 * takes text, or that is no question.
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
  if (parsed.success && request.fields.every(fits)) {
    return { requestId: request.requestId, questions: parsed.data.questions };
  }
  throw new HoldpointError(
    'invalid-input',
    `Question ${request.requestId} can't be said in the shape of AskUserQuestion.`,
  );
}

/**
 * The answer in a `UserQuestionResponse` (`request_id` or `requestId`), for `agent.run`. Throws `invalid-answer` for
 * what is none, for another request's, for headers that were not asked, and for labels that were not offered.
 */
export function fromUserQuestionResponse(
  request: QuestionRequestContent,
  response: unknown,
): QuestionResponseContent {
  const parsed = responseSchema.safeParse(response);
  if (!parsed.success) throw noAnswer(request, z.prettifyError(parsed.error));
  const { request_id: requestId, answers } = parsed.data;
  if (requestId !== request.requestId) throw noAnswer(request, 'it names another request');
  return {
    type: 'question-response',
    requestId,
    status: 'answered',
    answers: Object.entries(answers).map(([key, picked]) => ({
      key,
      optionIds: pickedIds(request, key, picked),
    })),
  };
}

/** The labels picked, by header: several joined with `, `, in the order of the options. */
export function toUserQuestionAnswers(
  { fields }: QuestionRequestContent,
  response: Extract<QuestionResponseContent, { status: 'answered' }>,
): Record<string, string> {
  return Object.fromEntries(
    fields.map(({ key, options }) => {
      const picked = response.answers.find((answer) => answer.key === key)?.optionIds ?? [];
      const labels = options.filter(({ id }) => picked.includes(id)).map((each) => each.label);
      return [key, labels.join(', ')];
    }),
  );
}

/* The shape knows one pick, or any number of them. */
function fits({ freeText, min, max, options }: QuestionField): boolean {
  return freeText === 'never' && min === 1 && (max === 1 || max === options.length);
}

function fieldOf({ question, header: key, options, multiSelect }: UserQuestion): QuestionField {
  return {
    key,
    label: question,
    options: options.map((each) => ({ id: each.label, ...each })),
    min: 1,
    max: multiSelect ? options.length : 1,
    freeText: 'never',
  };
}

function pickedIds({ fields, ...request }: QuestionRequestContent, key: string, picked: string) {
  const field = fields.find((each) => each.key === key);
  if (field === undefined) throw noAnswer(request, `there is no header ${JSON.stringify(key)}`);
  const labels = field.max > 1 ? picked.split(', ') : [picked];
  return labels.map((each) => {
    const found = field.options.find((one) => one.label === each);
    if (found === undefined)
      throw noAnswer(request, `no option is labelled ${JSON.stringify(each)}`);
    return found.id;
  });
}

function noAnswer({ requestId }: { requestId: string }, why: string): HoldpointError {
  return new HoldpointError('invalid-answer', `This is no answer to question ${requestId}: ${why}`);
}

function differ(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

function joins(each: { label: string }): boolean {
  return !each.label.includes(', ');
}
