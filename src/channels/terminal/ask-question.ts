import type {
  QuestionRequestContent,
  QuestionResponseContent,
  QuestionField,
} from '../../content/question.ts';
import { askField, type Draft } from './ask-field.ts';
import type { Dialog } from './dialog.ts';
import { showField, nameOf, showFormText } from './show-field.ts';

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

/** Shows all answers before they are sent. Resolves to the index of the field to change, or to `undefined` to send them. */
async function reviewAnswers(
  request: QuestionRequestContent,
  drafts: readonly Draft[],
  dialog: Dialog,
): Promise<number | undefined> {
  const { fields } = request;
  dialog.announce();
  await dialog.show((page) => {
    showFormText(page, request);
    for (const [index, field] of fields.entries()) {
      page.text(`${nameOf(field)}: ${answerText(field, drafts[index])}`);
    }
    page.add('');
  });
  const picked = await dialog.pick({
    entries: [
      { label: 'Send', words: ['send', 'y', 'yes'] },
      ...fields.map((field) => ({ label: `Change ${nameOf(field)}`, leadsOn: true })),
    ],
    start: 0,
    takesText: false,
    exit: 'back',
    isNumbered: true,
    /* One digit too many must not send answers that were not reviewed. */
    decides: true,
    enter: 'send',
  });
  if (picked === undefined || !('index' in picked)) return fields.length - 1;
  return picked.index === 0 ? undefined : picked.index - 1;
}

function answerText({ options }: QuestionField, draft: Draft | undefined): string {
  const { optionIds = [], text } = draft?.answer ?? {};
  const labels = options.filter(({ id }) => optionIds.includes(id)).map(({ label }) => label);
  const entered = text === undefined ? labels : [...labels, text];
  return entered.length === 0 ? 'none' : entered.join(', ');
}
