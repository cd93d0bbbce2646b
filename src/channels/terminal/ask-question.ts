import { whyNotText } from '../../json/field-schema.ts';
import {
  describeText,
  hasDeclined,
  listLabels,
  type QuestionAnswer,
  type QuestionField,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../../content/question.ts';
import type { TimeReader } from '../../content/deadline-words.ts';
import { makeRequestCard } from '../../view/request-card.ts';
import type { Dialog } from './dialog.ts';
import type { Page } from './page.ts';
import { decisionList, type PickList, responsePrompt } from './widget.ts';

/** Asks field after field; the person can go back to the one before. Several answers are shown for review before they are sent. */
export async function askQuestionInTerminal(
  request: QuestionRequestContent,
  dialog: Dialog,
  { position, reader }: Pick<ShownField, 'position' | 'reader'>,
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
    await dialog.show((page) => showField(page, { request, field, at, position, reader }));
    const exit = at > 0 || returnsTo !== undefined ? 'back' : 'none';
    const isAnswered = await askField({ field, request, draft, exit }, dialog);
    const { key, optionIds = [], ...typed } = { key: field.key, ...draft.answer };
    const isDeclined = isAnswered && hasDeclined([field], [{ key, optionIds, ...typed }]);
    if (isDeclined) {
      for (const other of drafts) if (other !== draft) other.answer = undefined;
    }
    at = isDeclined ? fields.length : (returnsTo ?? at + (isAnswered ? 1 : -1));
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
      page.text(`${nameField(field)}: ${answerText(field, drafts[index])}`);
    }
    page.add('');
  });
  const picked = await dialog.pick({
    /* One digit too many must not send answers that were not reviewed. */
    ...decisionList,
    entries: [
      { label: 'Send', words: ['send', 'y', 'yes'] },
      ...fields.map((field) => ({ label: `Change ${nameField(field)}`, leadsOn: true })),
    ],
    start: 0,
    exit: 'back',
    isNumbered: true,
  });
  if (picked === undefined || !('index' in picked)) return fields.length - 1;
  return picked.index === 0 ? undefined : picked.index - 1;
}

function answerText(field: QuestionField, draft: Draft | undefined): string {
  const { optionIds = [], text } = draft?.answer ?? {};
  const labels = listLabels(field, optionIds);
  const entered = text === undefined ? labels : [...labels, text];
  return entered.length === 0 ? 'none' : entered.join(', ');
}

/** One field of a question, its index, the position of the question among several, and the time and zone for its deadline. */
interface ShownField {
  request: QuestionRequestContent;
  field: QuestionField;
  at: number;
  position: string | undefined;
  reader: TimeReader;
}

/**
 * Shows a field. A form shows its text once, then for each field a short name with its number, and the label. Any other question shows its
 * text.
 */
export function showField(page: Page, { request, field, at, position, reader }: ShownField): void {
  const { text, kind, fields } = request;
  if (at === 0) page.position(position);
  if (fields.length > 1 || kind === 'form' || text.trim() === '') {
    if (at === 0) showFormText(page, request);
    const header = findHeader(field);
    const count = fields.length > 1 ? ` · ${at + 1}/${fields.length}` : '';
    if (header === undefined) page.text(`${field.label}${count}`, page.paint.strong);
    else {
      page.text(`${header}${count}`, page.paint.hint);
      if (field.label.trim() !== '') page.text(field.label, page.paint.strong);
    }
  } else {
    if (isPicked(request, field)) page.text(field.key, page.paint.hint);
    page.text(text, page.paint.strong);
  }
  const hint = describeText(field);
  if (hint !== undefined) page.text(hint, page.paint.hint);
  if (at === 0) page.card(makeRequestCard(request), reader);
  page.add('');
}

/** Returns the short name of a field: its header if it has one, else its label. */
function nameField(field: QuestionField): string {
  return findHeader(field) ?? field.label;
}

/** Shows the text of a form above its fields, unless it only repeats their labels. */
function showFormText(page: Page, { text, fields }: QuestionRequestContent): void {
  if (text.trim() === '' || fields.every(({ label }) => text.includes(label))) return;
  page.text(text, page.paint.strong);
  page.add('');
}

/* A key that repeats the label is a name for programs only. */
function findHeader({ key, label }: QuestionField): string | undefined {
  return normalizeKey(key) === normalizeKey(label) ? undefined : key;
}

function normalizeKey(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]+/g, '');
}

/* `AskUserQuestion` gives a single question a header too, and no free text. */
function isPicked({ kind, text }: QuestionRequestContent, field: QuestionField): boolean {
  return kind === 'question' && field.label === text && field.freeText === 'never';
}

/** The draft of one field so far: the answer, and what was ticked and typed before going back. */
interface Draft {
  answer?: Omit<QuestionAnswer, 'key'> | undefined;
  ticked?: string[];
  text?: string | undefined;
}

/** A field to ask for: its request, what was entered so far, and whether there is a field to go back to. */
interface AskedField {
  field: QuestionField;
  request: QuestionRequestContent;
  draft: Draft;
  exit: 'back' | 'none';
}

/** Asks for one field and keeps the entries in its draft. Resolves to false if the person went back. */
async function askField(asked: AskedField, dialog: Dialog): Promise<boolean> {
  const { options, freeText, max } = asked.field;
  if (freeText === 'only' || (options.length === 0 && freeText === 'optional')) {
    return askText(asked, dialog);
  }
  return max > 1 ? askSeveral(asked, dialog) : askOne(asked, dialog);
}

async function askText(asked: AskedField, dialog: Dialog): Promise<boolean> {
  const { draft, exit, field } = asked;
  const { schema, required = true } = field;
  const typed = await dialog.typeText({
    prompt: responsePrompt,
    text: draft.text,
    canGoBack: exit === 'back',
    canBeEmpty: !required,
    enter: chooseEnter(asked),
    whyNot: (text) => schema && whyNotText(schema, text.trim()),
  });
  draft.text = typed.text;
  if (typed.type === 'back') return false;
  const text = schema === undefined ? typed.text : typed.text.trim();
  draft.answer = { optionIds: [], ...(text.trim() !== '' && { text }) };
  return true;
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
      enter: chooseEnter(asked),
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
  const checked = findPlaces(field, draft.ticked ?? field.preselected ?? []);
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
    ...(decides ? { words: listWords(id), isYes: !isNo(id), confirms: true } : {}),
    leadsOn: asksForNotes(asked, id),
  }));
  const canBeNone = min === 0 && max === 1 && freeText === 'never';
  return {
    entries: canBeNone ? [...entries, { label: 'None of these' }] : entries,
    start: chooseStart(asked),
    takesText: freeText === 'optional' && !options.some(({ id }) => asksForNotes(asked, id)),
    text: draft.text,
    exit,
    isNumbered: !isUserChoice(asked),
    decides,
    enter: chooseEnter(asked),
  };
}

/* A question of `user_choice` is shown as by `getUserChoice`: without numbers. */
function isUserChoice({ field, request: { kind } }: AskedField): boolean {
  return kind === 'choice' && field.freeText === 'optional' && field.max === 1;
}

function chooseEnter({ request }: AskedField): PickList['enter'] {
  return request.fields.length > 1 ? 'continue' : 'send';
}

function isNo(id: string): boolean {
  return id === 'no' || id === 'no_with_feedback';
}

function listWords(id: string): string[] {
  if (id === 'yes') return ['y', 'yes'];
  return id === 'no' ? ['n', 'no'] : [];
}

/* A confirmation starts on "no": a key pressed by mistake must not confirm. */
function chooseStart({ draft, field, request }: AskedField): number {
  const [first] = findPlaces(field, draft.answer?.optionIds ?? field.preselected ?? []);
  if (request.kind === 'confirmation') {
    const no = field.options.findIndex(({ id }) => isNo(id));
    return draft.answer === undefined || first === undefined ? Math.max(no, 0) : first;
  }
  if (first !== undefined) return first;
  return draft.answer?.text === undefined ? 0 : field.options.length;
}

function findPlaces({ options }: QuestionField, ids: readonly string[]): number[] {
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
