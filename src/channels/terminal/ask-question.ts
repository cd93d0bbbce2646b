import type {
  QuestionAnswer,
  QuestionField,
  QuestionRequestContent,
  QuestionResponseContent,
} from '../../content/question.ts';
import type { Dialog } from './dialog.ts';
import type { Page } from './page.ts';
import { showRequester } from './show-requester.ts';
import { type PickList, responsePrompt } from './widget.ts';

interface Turn {
  field: QuestionField;
  request: QuestionRequestContent;
  /** What was answered before the person came back to the field. */
  previous: QuestionAnswer | undefined;
  exit: 'back' | 'none';
}

/** Asks field after field; the way back leads to the field before. */
export async function askQuestion(
  request: QuestionRequestContent,
  dialog: Dialog,
): Promise<QuestionResponseContent> {
  const { requestId, fields } = request;
  const answers: QuestionAnswer[] = [];
  let place = 0;
  for (let field = fields[0]; field !== undefined; field = fields[place]) {
    const turn: Turn = {
      field,
      request,
      previous: answers[place],
      exit: place > 0 ? 'back' : 'none',
    };
    const number = place;
    await dialog.show((page) => showField(page, turn, number));
    const answer = await askField(turn, dialog);
    if (answer !== undefined) answers[place] = { key: field.key, ...answer };
    place += answer === undefined ? -1 : 1;
  }
  return { type: 'question-response', requestId, status: 'answered', answers };
}

/* A form has its text once and a label for each field; else the text is the question, and the label a name for it. */
function showField(page: Page, { field, request }: Turn, place: number): void {
  const { text, kind, fields } = request;
  const isForm = kind === 'form' || fields.length > 1 || text.trim() === '';
  if (!isForm) page.text(text, page.paint.question);
  else {
    const saysMore = !fields.every(({ label }) => text.includes(label));
    if (place === 0 && saysMore && text.trim() !== '') {
      page.text(text, page.paint.strong);
      page.add('');
    }
    const count = fields.length > 1 ? `${place + 1}/${fields.length} ` : '';
    page.text(`${count}${field.label}`, page.paint.question);
  }
  if (place === 0) showRequester(page, request.requestedBy);
  page.add('');
}

type Answer = Omit<QuestionAnswer, 'key'>;

async function askField(turn: Turn, dialog: Dialog): Promise<Answer | undefined> {
  const { options, freeText, max } = turn.field;
  if (freeText === 'only' || (options.length === 0 && freeText === 'optional')) {
    return askText(turn, dialog);
  }
  return max > 1 ? askSeveral(turn, dialog) : askOne(turn, dialog);
}

async function askText({ exit }: Turn, dialog: Dialog): Promise<Answer | undefined> {
  const text = await dialog.typeText({
    prompt: responsePrompt,
    canGoBack: exit === 'back',
    canBeEmpty: false,
  });
  return text === undefined ? undefined : { optionIds: [], text };
}

async function askOne(turn: Turn, dialog: Dialog): Promise<Answer | undefined> {
  const { options } = turn.field;
  const list = pickList(turn);
  for (;;) {
    const picked = await dialog.pick(list);
    if (picked === undefined) return undefined;
    if ('text' in picked) return { optionIds: [], text: picked.text };
    const option = options[picked.index];
    if (option === undefined) return { optionIds: [] };
    if (!asksForNotes(turn, option.id)) return { optionIds: [option.id] };
    const text = await dialog.typeText({
      prompt: responsePrompt,
      canGoBack: true,
      canBeEmpty: true,
    });
    if (text === '') return { optionIds: [option.id] };
    if (text !== undefined) return { optionIds: [option.id], text };
    list.start = picked.index;
  }
}

async function askSeveral(turn: Turn, dialog: Dialog): Promise<Answer | undefined> {
  const { options, min, max } = turn.field;
  const checked = placesOf(turn, turn.previous?.optionIds ?? turn.field.preselected ?? []);
  const choices = await dialog.pickSeveral({ ...pickList(turn), start: 0, checked, min, max });
  if (choices === undefined) return undefined;
  const { indexes, text } = choices;
  const optionIds = indexes.flatMap((index) => options[index]?.id ?? []);
  return text === undefined ? { optionIds } : { optionIds, text };
}

function pickList(turn: Turn): PickList {
  const { options, min, max, freeText, preselected = [] } = turn.field;
  const entries = options.map(({ id, label, description }) => ({
    label,
    description,
    isPreselected: preselected.includes(id),
  }));
  const canBeNone = min === 0 && max === 1 && freeText === 'never';
  return {
    entries: canBeNone ? [...entries, { label: 'None of these' }] : entries,
    start: startOf(turn),
    takesText: freeText === 'optional' && !options.some(({ id }) => asksForNotes(turn, id)),
    exit: turn.exit,
  };
}

/* A confirmation starts on its no: the first key that comes in by mistake must not say yes. */
function startOf(turn: Turn): number {
  const { previous, field, request } = turn;
  const [first] = placesOf(turn, previous?.optionIds ?? field.preselected ?? []);
  if (first !== undefined) return first;
  if (previous?.text !== undefined) return field.options.length;
  return request.kind === 'confirmation' ? 1 : 0;
}

function placesOf({ field }: Turn, ids: readonly string[]): number[] {
  return field.options.flatMap(({ id }, index) => (ids.includes(id) ? [index] : []));
}

/* Seed 002's third answer to a confirmation: no, and what to change. */
function asksForNotes({ request, field }: Turn, optionId: string): boolean {
  return (
    request.kind === 'confirmation' && field.freeText !== 'never' && optionId === 'no_with_feedback'
  );
}
