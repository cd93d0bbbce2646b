import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import { askField, type Draft } from './ask-field.ts';
import type { Dialog } from './dialog.ts';
import { reviewAnswers } from './review-answers.ts';
import { showField } from './show-field.ts';

/** Asks field after field; the person can go back to the one before. Several answers are shown for review before they are sent. */
export async function askQuestion(
  request: QuestionRequestContent,
  dialog: Dialog,
  position?: string,
): Promise<QuestionResponseContent> {
  const { requestId, fields } = request;
  const drafts = fields.map((): Draft => ({}));
  let at = 0;
  /* After an answer was changed from the review, the review comes next, not the fields that follow. */
  let returnsTo: number | undefined;
  for (;;) {
    const field = fields[at];
    const draft = drafts[at];
    if (field === undefined || draft === undefined) {
      const change = fields.length === 1 ? undefined : await reviewAnswers(request, drafts, dialog);
      if (change === undefined) break;
      returnsTo = fields.length;
      at = change;
      continue;
    }
    await dialog.show((page) => showField(page, { request, field, at, position }));
    const exit = at > 0 || returnsTo !== undefined ? 'back' : 'none';
    const isAnswered = await askField({ field, request, draft, exit }, dialog);
    at = returnsTo ?? at + (isAnswered ? 1 : -1);
    returnsTo = undefined;
  }
  const answers = fields.map(({ key }, index) => ({
    key,
    optionIds: [],
    ...drafts[index]?.answer,
  }));
  return { type: 'question-response', requestId, status: 'answered', answers };
}
