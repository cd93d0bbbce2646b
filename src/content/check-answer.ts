import type {
  QuestionAnswer,
  QuestionField,
  QuestionRequestContent,
  QuestionResponseContent,
} from './question.ts';

/**
 * Why a response does not fit a question, in words for its sender; `undefined` if it fits. A response must answer every field once, with as
 * many of the field's options as it allows, and with text only if the field takes text.
 */
export function whyNotAnswer(
  { fields, allowDismiss }: QuestionRequestContent,
  response: QuestionResponseContent,
): string | undefined {
  if (response.status === 'dismissed') {
    return allowDismiss ? undefined : "it can't be dismissed";
  }
  const answers = new Map(response.answers.map((answer) => [answer.key, answer]));
  if (answers.size < response.answers.length) return 'it answers a field twice';
  const unknown = response.answers.find(({ key }) => !fields.some((field) => field.key === key));
  if (unknown !== undefined) return `there is no field ${JSON.stringify(unknown.key)}`;
  for (const field of fields) {
    const fault = whyNotAnswered(field, answers.get(field.key));
    if (fault !== undefined) return `field ${JSON.stringify(field.key)} ${fault}`;
  }
  return undefined;
}

function whyNotAnswered(
  { options, min, max, freeText }: QuestionField,
  answer: QuestionAnswer | undefined,
): string | undefined {
  if (answer === undefined) return 'is not answered';
  const { optionIds, text } = answer;
  const picked = new Set(optionIds);
  if (picked.size < optionIds.length) return 'selects an option twice';
  const unknown = optionIds.find((id) => !options.some((option) => option.id === id));
  if (unknown !== undefined) return `has no option ${JSON.stringify(unknown)}`;
  if (text !== undefined && freeText === 'never') return 'does not accept text';
  if (text !== undefined && !text.isWellFormed()) return 'has text that is not well-formed';
  if (freeText === 'only' && picked.size > 0) return 'accepts only text';
  if (picked.size > max) return `accepts at most ${max} option(s)`;
  if (text !== undefined) return undefined;
  if (freeText === 'only') return 'needs text';
  if (picked.size >= min) return undefined;
  return `needs at least ${min} option(s)${freeText === 'never' ? '' : ', or text'}`;
}

/** Why a question can't be asked: because its keys or ids are ambiguous, or it can't be answered. `undefined` if it can be asked. */
export function whyNotQuestion(question: QuestionRequestContent): string | undefined {
  const { fields, requestId, dismissAnswer } = question;
  if (fields.length === 0) return 'it has no fields';
  if (hasDuplicates(fields.map(({ key }) => key))) return 'two of its fields have the same key';
  for (const { key, options, min, max, freeText, preselected = [] } of fields) {
    const named = `field ${JSON.stringify(key)}`;
    if (hasDuplicates(options.map(({ id }) => id)))
      return `two options of ${named} have the same id`;
    if (options.some(({ id }) => id.trim() === '')) return `an option of ${named} has a blank id`;
    if (freeText === 'never' && Math.min(options.length, max) < min) {
      return `${named} has too few options to be answered`;
    }
    if (preselected.some((id) => !options.some((option) => option.id === id))) {
      return `${named} preselects an option that it does not have`;
    }
  }
  if (dismissAnswer === undefined) return undefined;
  const response = { type: 'question-response', requestId, status: 'answered' } as const;
  const fault = whyNotAnswer(question, { ...response, answers: dismissAnswer });
  return fault === undefined ? undefined : `its dismissAnswer does not fit: ${fault}`;
}

function hasDuplicates(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length;
}
