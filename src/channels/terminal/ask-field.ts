import type {
  QuestionAnswer,
  QuestionField,
  QuestionRequestContent,
} from '../../content/question.ts';
import type { Dialog } from './dialog.ts';
import { type PickList, responsePrompt } from './widget.ts';

/** What a person has entered for one field so far: the answer, and what was ticked and typed before going back. */
export interface Draft {
  answer?: Omit<QuestionAnswer, 'key'>;
  ticked?: string[];
  text?: string | undefined;
}

/** A field to ask for: its request, what was entered so far, and whether there is a field to go back to. */
export interface AskedField {
  field: QuestionField;
  request: QuestionRequestContent;
  draft: Draft;
  exit: 'back' | 'none';
}

/** Asks for one field and keeps the entries in its draft. Resolves to false if the person went back. */
export async function askField(asked: AskedField, dialog: Dialog): Promise<boolean> {
  const { options, freeText, max } = asked.field;
  if (freeText === 'only' || (options.length === 0 && freeText === 'optional')) {
    return askText(asked, dialog);
  }
  return max > 1 ? askSeveral(asked, dialog) : askOne(asked, dialog);
}

async function askText(asked: AskedField, dialog: Dialog): Promise<boolean> {
  const { draft, exit } = asked;
  const typed = await dialog.typeText({
    prompt: responsePrompt,
    text: draft.text,
    canGoBack: exit === 'back',
    canBeEmpty: false,
    enter: enterOf(asked),
  });
  draft.text = typed.text;
  if (typed.type === 'text') draft.answer = { optionIds: [], text: typed.text };
  return typed.type === 'text';
}

async function askOne(asked: AskedField, dialog: Dialog): Promise<boolean> {
  const { field, draft } = asked;
  const list = pickList(asked);
  for (;;) {
    const picked = await dialog.pick(list);
    if (picked === undefined) return false;
    draft.text = 'text' in picked ? picked.text : draft.text;
    const option = 'index' in picked ? field.options[picked.index] : undefined;
    const optionIds = option === undefined ? [] : [option.id];
    draft.answer = 'text' in picked ? { optionIds, text: picked.text } : { optionIds };
    if (option === undefined || !asksForNotes(asked, option.id)) return true;
    const notes = await dialog.typeText({
      prompt: responsePrompt,
      text: draft.text,
      canGoBack: true,
      canBeEmpty: true,
      enter: enterOf(asked),
    });
    draft.text = notes.text;
    if (notes.type === 'text' && notes.text !== '') draft.answer = { optionIds, text: notes.text };
    if (notes.type === 'text') return true;
    list.start = field.options.indexOf(option);
  }
}

async function askSeveral(asked: AskedField, dialog: Dialog): Promise<boolean> {
  const { field, draft } = asked;
  const { options, min, max } = field;
  const checked = placesOf(field, draft.ticked ?? field.preselected ?? []);
  const picked = await dialog.pickSeveral({
    ...pickList(asked),
    start: 0,
    ticks: { checked, min, max },
  });
  const optionIds = picked.indexes.flatMap((index) => options[index]?.id ?? []);
  draft.ticked = optionIds;
  if (picked.type === 'exit') return false;
  draft.text = picked.text;
  draft.answer = picked.text === undefined ? { optionIds } : { optionIds, text: picked.text };
  return true;
}

function pickList(asked: AskedField): PickList {
  const { field, request, draft, exit } = asked;
  const { options, min, max, freeText, preselected = [] } = field;
  const decides = request.kind === 'confirmation';
  const entries = options.map(({ id, label, description }) => ({
    label,
    description,
    isPreselected: preselected.includes(id),
    ...(decides ? { words: wordsOf(id), isYes: !isNo(id), confirms: true } : {}),
    leadsOn: asksForNotes(asked, id),
  }));
  const canBeNone = min === 0 && max === 1 && freeText === 'never';
  return {
    entries: canBeNone ? [...entries, { label: 'None of these' }] : entries,
    start: startOf(asked),
    takesText: freeText === 'optional' && !options.some(({ id }) => asksForNotes(asked, id)),
    text: draft.text,
    exit,
    isNumbered: !isUserChoice(asked),
    decides,
    enter: enterOf(asked),
  };
}

/* A question of `user_choice` is shown as by `getUserChoice`: without numbers. */
function isUserChoice({ field, request: { kind } }: AskedField): boolean {
  return kind === 'choice' && field.freeText === 'optional' && field.max === 1;
}

function enterOf({ request }: AskedField): PickList['enter'] {
  return request.fields.length > 1 ? 'continue' : 'send';
}

function isNo(id: string): boolean {
  return id === 'no' || id === 'no_with_feedback';
}

function wordsOf(id: string): string[] {
  if (id === 'yes') return ['y', 'yes'];
  return id === 'no' ? ['n', 'no'] : [];
}

/* A confirmation starts on "no": a key pressed by mistake must not confirm. */
function startOf({ draft, field, request }: AskedField): number {
  const [first] = placesOf(field, draft.answer?.optionIds ?? field.preselected ?? []);
  if (request.kind === 'confirmation') {
    const no = field.options.findIndex(({ id }) => isNo(id));
    return draft.answer === undefined || first === undefined ? Math.max(no, 0) : first;
  }
  if (first !== undefined) return first;
  return draft.answer?.text === undefined ? 0 : field.options.length;
}

function placesOf({ options }: QuestionField, ids: readonly string[]): number[] {
  return options.flatMap(({ id }, index) => (ids.includes(id) ? [index] : []));
}

/* The third answer to a confirmation: "no", with what to change. */
function asksForNotes(
  { request, field }: Pick<AskedField, 'request' | 'field'>,
  optionId: string,
): boolean {
  return (
    request.kind === 'confirmation' && field.freeText !== 'never' && optionId === 'no_with_feedback'
  );
}
