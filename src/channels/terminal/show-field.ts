import type { QuestionField, QuestionRequestContent } from '../../content/question.ts';
import type { Page } from './page.ts';

/** One field of a question, its index, and which of several requests the question is. */
export interface ShownField {
  request: QuestionRequestContent;
  field: QuestionField;
  at: number;
  position: string | undefined;
}

/**
 * Shows a field. A form shows its text once, then for each field a short name with its number, and the label. For any other question the text
 * is what is asked.
 */
export function showField(page: Page, { request, field, at, position }: ShownField): void {
  const { text, kind, fields } = request;
  if (at === 0) page.position(position);
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
  if (at === 0) {
    page.asker(request);
    page.warnings([request]);
  }
  page.add('');
}

/** The short name of a field: its header if it has one, else its label. */
export function nameOf(field: QuestionField): string {
  return headerOf(field) ?? field.label;
}

/** Shows the text of a form above its fields, unless it only repeats their labels. */
export function showFormText(page: Page, { text, fields }: QuestionRequestContent): void {
  if (text.trim() === '' || fields.every(({ label }) => text.includes(label))) return;
  page.text(text, page.paint.strong);
  page.add('');
}

/* A key that repeats the label is a name for programs only. */
function headerOf({ key, label }: QuestionField): string | undefined {
  return plain(key) === plain(label) ? undefined : key;
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]+/g, '');
}

/* `AskUserQuestion` gives a single question a header too, and no free text. */
function isPicked({ kind, text }: QuestionRequestContent, field: QuestionField): boolean {
  return kind === 'question' && field.label === text && field.freeText === 'never';
}

/* The tool that a confirmation is about. Information only: a yes to a confirmation does not approve a call. */
function showTarget(page: Page, { kind, metadata }: QuestionRequestContent): void {
  const target = metadata?.['target_tool'];
  if (kind !== 'confirmation' || typeof target !== 'string') return;
  page.text(`Tool: ${target}`);
}
