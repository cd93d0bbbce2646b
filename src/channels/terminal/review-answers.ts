import type { QuestionField, QuestionRequestContent } from '../../content/question.ts';
import type { Draft } from './ask-field.ts';
import type { Dialog } from './dialog.ts';
import { nameOf, showFormText } from './show-field.ts';

/** Shows all answers before they are sent. Resolves to the index of the field to change, or to `undefined` to send them. */
export async function reviewAnswers(
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
