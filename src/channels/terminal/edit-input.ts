import type { ApprovalRequest } from '../../content/approval.ts';
import { inertLine } from '../../content/inert-text.ts';
import { copyPlain } from '../../content/json-value.ts';
import type { Dialog } from './dialog.ts';
import { showCall } from './show-call.ts';
import { approvingWord, decisionList, type Entry } from './widget.ts';

/** Lets a person change the input of a call, field by field; `undefined` if they go back. */
export async function editInput(request: ApprovalRequest, dialog: Dialog): Promise<unknown> {
  const { toolCall, editable } = request;
  const before = toolCall?.input;
  let input = copyPlain(before);
  for (;;) {
    const changed = JSON.stringify(input) !== JSON.stringify(before);
    await showDraft(dialog, request, { before, input, changed });
    const fields = listEditableFields(input, editable);
    const whole = editable === true ? ['The whole input, as JSON'] : [];
    const entries: Entry[] = [
      ...(changed ? [{ label: 'Approve as changed', words: [approvingWord], isYes: true }] : []),
      ...fields.map((name) => ({ label: `Change ${name}`, leadsOn: true })),
      ...whole.map((label) => ({ label, leadsOn: true })),
    ];
    const start = changed ? 1 : 0;
    const picked = await dialog.pick({ ...decisionList, entries, start, exit: 'back' });
    if (picked === undefined || !('index' in picked)) return undefined;
    if (changed && picked.index === 0) return input;
    const field = fields[picked.index - start];
    input = await changeInput(dialog, input, field);
  }
}

async function showDraft(
  dialog: Dialog,
  { toolCall }: ApprovalRequest,
  { before, input, changed }: { before: unknown; input: unknown; changed: boolean },
): Promise<void> {
  const { toolName = '' } = toolCall ?? {};
  await dialog.show((page) => {
    page.text(changed ? 'Approve this instead?' : 'What should change?', page.paint.question);
    page.add('');
    showCall(page, { toolName, input });
    if (changed) {
      page.add('', '  Before:');
      showCall(page, { toolName, input: before });
    }
    page.add('');
  });
}

function listEditableFields(input: unknown, editable: ApprovalRequest['editable']): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [];
  return editable === true ? Object.keys(input) : [...(editable ?? [])];
}

/** The input with a new value of a field, or a new input; as it was if the person goes back or what they typed is not JSON. */
async function changeInput(
  dialog: Dialog,
  input: unknown,
  field: string | undefined,
): Promise<unknown> {
  const fields = mapFields(input);
  const present: unknown = field === undefined ? input : fields.get(field);
  const isText = typeof present === 'string';
  const text = isText ? present : (JSON.stringify(present, null, 2) ?? '');
  const name = field === undefined ? 'input' : inertLine(field);
  const typed = await dialog.editText({ name, text });
  if (typed === undefined) return input;
  const value = isText ? { value: typed } : parseJson(typed);
  if (value === undefined) {
    await dialog.note(`  ✗ ${name} was not changed: that is not JSON`);
    return input;
  }
  if (field === undefined) return value.value;
  /* In its place among the others. */
  return Object.fromEntries(new Map(fields).set(field, value.value));
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function mapFields(input: unknown): Map<string, unknown> {
  return new Map(typeof input === 'object' && input !== null ? Object.entries(input) : []);
}
