import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import { askField, type Draft } from './ask-field.ts';
import type { Dialog } from './dialog.ts';
import { review } from './review.ts';
import { showField } from './show-field.ts';

/** Asks field after field, with a way back to the one before. Several answers are shown once more before they go. */
export async function askQuestion(
  request: QuestionRequestContent,
  dialog: Dialog,
  place?: string,
): Promise<QuestionResponseContent> {
  const { requestId, fields } = request;
  const drafts = fields.map((): Draft => ({}));
  let at = 0;
  /* Who comes from the last look to change one answer goes back to it, and not through all that follows. */
  let returnsTo: number | undefined;
  for (;;) {
    const field = fields[at];
    const draft = drafts[at];
    if (field === undefined || draft === undefined) {
      const change = fields.length === 1 ? undefined : await review(request, drafts, dialog);
      if (change === undefined) break;
      returnsTo = fields.length;
      at = change;
      continue;
    }
    await dialog.show((page) => showField(page, { request, field, at, place }));
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
