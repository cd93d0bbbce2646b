import type { UserInputRequest } from '../../content/user-input.ts';
import {
  type AnswerDraft,
  type MadeAnswer,
  makeApprovalAnswer,
  makeDismissalAnswer,
  makeQuestionAnswer,
  makeRejectionAnswer,
} from '../../view/answer-form.ts';

/** The labels of the page's buttons. `confirm` approves a request of the highest risk, on the second page. */
const actions = {
  'approval-request': ['approve', 'confirm', 'reject'],
  'question-request': ['answer', 'dismiss'],
} as const;

type Action = (typeof actions)[keyof typeof actions][number];

/** A form that a person has filled in. */
export interface FilledForm {
  action: Action;
  /** The proof that the form is the page's: see `makeFormCode`. */
  code: string;
  /** The reason, and the answers to the fields of a question. */
  draft: AnswerDraft;
  /** True if the person confirms on the second page that they have read everything. */
  isRead: boolean;
}

/** The names of the page's controls for the field of a question. They use its place, as a key may have any characters. */
export const optionName = (place: number): string => `option.${place}`;
export const textName = (place: number): string => `text.${place}`;

/** Parses the page's form for this request; `undefined` for a form that the page doesn't send. */
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
  const picks = fields.map(({ key, options }, place) => {
    /* Found by their places: browsers change the line breaks of an id. */
    const optionIds = posted
      .getAll(optionName(place))
      .map((at) => options.find((_option, index) => String(index) === at)?.id ?? '');
    return [key, { optionIds, text: readText(posted, textName(place)) }] as const;
  });
  return {
    action,
    code: posted.get('code') ?? '',
    draft: { reason: readText(posted, 'reason'), picks: new Map(picks) },
    isRead: posted.get('read') === 'yes',
  };
}

/* Browsers send lines as CR LF. */
function readText(posted: URLSearchParams, name: string): string {
  return (posted.get(name) ?? '').replaceAll('\r\n', '\n').trim();
}

/** Makes the answer that a form gives to the request that was shown. Only the buttons for it approve. */
export function makeFormAnswer(
  request: UserInputRequest,
  { action, draft }: FilledForm,
): MadeAnswer {
  if (request.type === 'question-request')
    return action === 'answer' ? makeQuestionAnswer(request, draft) : makeDismissalAnswer(request);
  const rights = { mayApprove: true, mayEdit: false };
  const asked = { request, rights, digest: request.digest };
  return action === 'approve' || action === 'confirm'
    ? makeApprovalAnswer(asked, draft)
    : makeRejectionAnswer(asked, draft);
}
