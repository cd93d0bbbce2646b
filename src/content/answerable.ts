import { withAnswers } from './approval.ts';
import { renderFieldFault } from '../json/field-fault.ts';
import {
  type AnswerableQuestion,
  type FieldAnswer,
  type QuestionAnswer,
  type QuestionField,
  type QuestionRequestContent,
  type QuestionResponseContent,
  whyNotAnswer,
} from './question.ts';
import type { ToolCall } from './tool-call.ts';
import type { UserInputRequest, UserInputRequestContent } from './user-input.ts';

/** Copies a request and gives it the methods that make its answers, which `JSON.stringify` and spreading leave out. */
export function makeAnswerable<CALL extends ToolCall = ToolCall>(
  request: UserInputRequest,
): UserInputRequestContent<CALL> {
  return request.type === 'approval-request'
    ? withAnswers<CALL>(request)
    : withQuestionAnswers(structuredClone(request));
}

/** Gives a question its two methods, which `JSON.stringify` and spreading leave out. */
export function withQuestionAnswers(question: QuestionRequestContent): AnswerableQuestion {
  return Object.assign(new QuestionAnswers(), question);
}

class QuestionAnswers {
  answer(
    this: QuestionRequestContent,
    given: FieldAnswer | Readonly<Record<string, FieldAnswer>>,
  ): QuestionResponseContent {
    const { requestId, fields } = this;
    const named = new Map(fields.map((field) => [field.key, field]));
    const answers = listGiven(fields, named, given).map(([key, answer]) =>
      makeAnswer(named.get(key), key, answer),
    );
    const response = {
      type: 'question-response',
      requestId,
      status: 'answered',
      answers,
    } as const;
    const fault = whyNotAnswer(this, response);
    if (fault === undefined) return response;
    throw new TypeError(`Question ${requestId} can't be answered so: ${renderFieldFault(fault)}.`);
  }

  dismiss(this: QuestionRequestContent): QuestionResponseContent {
    const { requestId, allowDismiss } = this;
    if (allowDismiss) return { type: 'question-response', requestId, status: 'dismissed' };
    throw new TypeError(`Question ${requestId} can't be dismissed.`);
  }
}

/** Lists the answers by key. One without a key is for the first field. */
function listGiven(
  fields: readonly QuestionField[],
  named: ReadonlyMap<string, QuestionField>,
  given: FieldAnswer | Readonly<Record<string, FieldAnswer>>,
): [key: string, answer: FieldAnswer][] {
  if (isFieldAnswer(given, named)) return [[fields[0]?.key ?? '', given]];
  return Object.entries(given);
}

/* A field may be called `text`: an object with the keys of fields is by key. */
function isFieldAnswer(
  given: FieldAnswer | Readonly<Record<string, FieldAnswer>>,
  named: ReadonlyMap<string, QuestionField>,
): given is FieldAnswer {
  if (typeof given === 'string' || Array.isArray(given)) return true;
  const names = Object.keys(given);
  const areKeys = names.some((name) => named.has(name));
  return !areKeys && names.every((name) => name === 'optionIds' || name === 'text');
}

function makeAnswer(
  field: QuestionField | undefined,
  key: string,
  given: FieldAnswer,
): QuestionAnswer {
  if (typeof given === 'string') {
    const { options = [], freeText = 'never' } = field ?? {};
    const isOption = options.some(({ id }) => id === given);
    return isOption || freeText === 'never'
      ? { key, optionIds: [given] }
      : { key, optionIds: [], text: given };
  }
  if (isList(given)) return { key, optionIds: [...given] };
  const { optionIds = [], text } = given;
  return { key, optionIds: [...optionIds], ...(text === undefined ? {} : { text }) };
}

function isList(given: readonly string[] | object): given is readonly string[] {
  return Array.isArray(given);
}
