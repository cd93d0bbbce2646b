import type { QuestionField, QuestionRequestContent } from '../../content/question.ts';
import type { Page } from './page.ts';
import { showRequester } from './show-requester.ts';

/** One field of a question, and where it stands. */
export interface ShownField {
  request: QuestionRequestContent;
  field: QuestionField;
  at: number;
  place: string | undefined;
}

/**
 * A form has its text once, and for each field a short name with its place, and the label; else the text is the question,
 * and the label a name for it.
 */
export function showField(page: Page, { request, field, at, place }: ShownField): void {
  const { text, kind, fields } = request;
  if (at === 0) page.place(place);
  if (fields.length > 1 || kind === 'form' || text.trim() === '') {
    if (at === 0) showFormText(page, request);
    const header = headerOf(field);
    const count = fields.length > 1 ? ` · ${at + 1}/${fields.length}` : '';
    if (header === undefined) page.text(`${field.label}${count}`, page.paint.question);
    else {
      page.text(`${header}${count}`, page.paint.faint);
      if (field.label.trim() !== '') page.text(field.label, page.paint.question);
    }
  } else {
    if (isPicked(request, field)) page.text(field.key, page.paint.faint);
    page.text(text, page.paint.question);
  }
  showTarget(page, request);
  if (at === 0) showRequester(page, request.requestedBy);
  page.add('');
}

/** The short name of a field: its header where it has one, else its label. */
export function nameOf(field: QuestionField): string {
  return headerOf(field) ?? field.label;
}

/** What a form says above its fields, unless that is no more than their labels. */
export function showFormText(page: Page, { text, fields }: QuestionRequestContent): void {
  if (text.trim() === '' || fields.every(({ label }) => text.includes(label))) return;
  page.text(text, page.paint.strong);
  page.add('');
}

/* A key that says the same as the label is a name for programs. */
function headerOf({ key, label }: QuestionField): string | undefined {
  return plain(key) === plain(label) ? undefined : key;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]+/g, '');
}

/* `AskUserQuestion` asks one question as it asks several: with a header, and nothing to type. */
function isPicked({ kind, text }: QuestionRequestContent, field: QuestionField): boolean {
  return kind === 'question' && field.label === text && field.freeText === 'never';
}

/* The tool that a confirmation is about. It is information: a yes here approves no call. */
function showTarget(page: Page, { kind, metadata }: QuestionRequestContent): void {
  const target = metadata?.['target_tool'];
  if (kind !== 'confirmation' || typeof target !== 'string') return;
  page.text(`Tool: ${target}`);
}
