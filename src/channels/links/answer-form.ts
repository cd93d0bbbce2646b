import { type ApprovalRequest, approve, reject } from '../../content/approval.ts';
import type { QuestionAnswer, QuestionRequestContent } from '../../content/question.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';

/** What the buttons of the page say. `confirm` approves what has the highest risk, on the second page. */
const actions = {
  'approval-request': ['approve', 'confirm', 'reject'],
  'question-request': ['answer', 'dismiss'],
} as const;

type Action = (typeof actions)[keyof typeof actions][number];

/** What a person has filled in. */
export interface FilledForm {
  action: Action;
  /** What shows that the form is of the page: see `makeFormCode`. */
  code: string;
  reason: string | undefined;
  /** Whether the person says on the second page that they have read all of it. */
  isRead: boolean;
  /** The answers to the fields of a question, in their order. */
  answers: readonly QuestionAnswer[];
}

/** The names of the page's controls for the field of a question: its place, as a key may have any characters. */
export const optionName = (place: number): string => `option.${place}`;
export const textName = (place: number): string => `text.${place}`;

/** What a form of the page for this request says; `undefined` for a form that the page doesn't send. */
export function parseForm(text: string, request: UserInputRequest): FilledForm | undefined {
  const posted = new URLSearchParams(text);
  const fields = request.type === 'question-request' ? request.fields : [];
  const optionNames = fields.map((_field, place) => optionName(place));
  const single = ['code', 'action', 'reason', 'read', ...fields.map((_field, at) => textName(at))];
  const isOurs = [...new Set(posted.keys())].every(
    (name) =>
      optionNames.includes(name) || (single.includes(name) && posted.getAll(name).length === 1),
  );
  const action = actions[request.type].find((each) => each === posted.get('action'));
  if (!isOurs || action === undefined) return undefined;
  return {
    action,
    code: posted.get('code') ?? '',
    reason: readText(posted, 'reason'),
    isRead: posted.get('read') === 'yes',
    answers: fields.map(({ key, options }, place) => {
      /* By their places: browsers change the line breaks of an id. */
      const picked = posted.getAll(optionName(place));
      const optionIds = picked.map(
        (at) => options.find((_option, index) => String(index) === at)?.id ?? '',
      );
      const answer = { key, optionIds };
      const typed = readText(posted, textName(place));
      return typed === undefined ? answer : { ...answer, text: typed };
    }),
  };
}

/* Browsers send lines as CR LF. */
function readText(posted: URLSearchParams, name: string): string | undefined {
  const text = (posted.get(name) ?? '').replaceAll('\r\n', '\n').trim();
  return text === '' ? undefined : text;
}

/** The answer that a form gives to the request that was shown, with its digest. */
export function makeFormAnswer(
  request: UserInputRequest,
  filled: FilledForm,
): UserInputResponseContent {
  return request.type === 'approval-request'
    ? makeDecision(request, filled)
    : makeQuestionAnswer(request, filled);
}

function makeDecision(
  request: ApprovalRequest,
  { action, reason }: FilledForm,
): UserInputResponseContent {
  return action === 'reject'
    ? reject(request, reason)
    : approve(request, reason === undefined ? {} : { reason });
}

function makeQuestionAnswer(
  { requestId }: QuestionRequestContent,
  { action, answers }: FilledForm,
): UserInputResponseContent {
  const type = 'question-response';
  return action === 'dismiss'
    ? { type, requestId, status: 'dismissed' }
    : { type, requestId, status: 'answered', answers: [...answers] };
}
