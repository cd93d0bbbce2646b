import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  approve,
  reject,
} from '../../content/approval.ts';
import { renderRemember } from '../../content/request-text.ts';
import type { Dialog } from './dialog.ts';
import { type Page, showCall } from './page.ts';
import { approvingWord, decisionList, type Entry } from './widget.ts';
import { grantScopes, type Remember } from '../../content/approval-terms.ts';
import type { TimeReader } from '../../content/deadline-words.ts';
import { inertLine } from '../../content/inert-text.ts';
import { copyPlain } from '../../json/json-value.ts';
import { type Requested, listRequesters } from '../../content/requesters.ts';
import { makeRequestCard } from '../../view/request-card.ts';

type Answer = ApprovalResponseContent | undefined;

/** An entry, and what follows when it is picked; `undefined` comes back to the list. */
interface Decision extends Entry {
  answer: (dialog: Dialog) => Promise<Answer>;
  /** True if something else was on the screen when the person comes back. */
  showsOther?: true;
}

/** Options for asking for an approval. */
interface ApprovalQuestion {
  /** Its position among several, as `2 of 3`. */
  position?: string | undefined;
  /** The clock and the time zone for showing the deadline. */
  reader: TimeReader;
  /** Entries that do something else than answering this request alone. */
  more?: readonly Entry[];
}

/** An answer, "left open", or the index of the additional entry that was picked. */
type ApprovalAnswer = { answer: Answer } | { more: number };

/** Asks for a person's approval. */
export async function askApproval(
  request: ApprovalRequest,
  dialog: Dialog,
  { position, reader, more = [] }: ApprovalQuestion,
): Promise<ApprovalAnswer> {
  const decisions = listDecisionChoices(request);
  /* "Reject" is highlighted first, so that neither Enter alone nor a mistyped key approves. */
  const start = decisions.findIndex(({ words }) => words?.includes('n'));
  const show = async (): Promise<void> =>
    dialog.show((page) => showApproval(page, request, { position, reader }));
  await show();
  for (;;) {
    const picked = await dialog.pick({
      ...decisionList,
      entries: [...decisions.slice(0, start + 1), ...more, ...decisions.slice(start + 1)],
      start,
      exit: 'leave',
    });
    if (picked === undefined || !('index' in picked)) return { answer: undefined };
    /* The additional entries are below "Reject". */
    const after = picked.index - start - 1;
    if (after >= 0 && after < more.length) return { more: after };
    const decision = decisions[after < 0 ? picked.index : picked.index - more.length];
    if (decision === undefined) return { answer: undefined };
    const answer = await decision.answer(dialog);
    if (answer !== undefined) return { answer };
    if (decision.showsOther === true) await show();
  }
}

function listDecisionChoices(request: ApprovalRequest): Decision[] {
  const { requireReason, editable, remember, toolCall, quorum = 1 } = request;
  const approving = { label: 'Approve', words: [approvingWord], isYes: true };
  const needsReason = requireReason === true;
  return [
    {
      ...approving,
      ...(needsReason ? { label: 'Approve with a reason', leadsOn: true } : {}),
      answer: async (dialog) => approveWithReason(request, dialog),
    },
    ...(editable === undefined || toolCall === undefined
      ? []
      : [
          {
            label: 'Edit, then approve',
            leadsOn: true,
            showsOther: true as const,
            answer: async (dialog: Dialog) => approveEdited(request, dialog),
          },
        ]),
    ...(remember === undefined
      ? []
      : [
          {
            label: 'Approve, and later calls too',
            leadsOn: true,
            answer: async (dialog: Dialog) => {
              const kept = await askRemember(request, dialog, 'Approve');
              return kept && approveWithReason(request, dialog, { remember: kept });
            },
          },
        ]),
    { label: 'Reject', words: ['reject', 'n', 'no'], answer: async () => reject(request) },
    { label: 'Reject with a reason', leadsOn: true, answer: makeRejecting(request) },
    /* One person can't reject later calls where several must approve one. */
    ...(remember === undefined || quorum > 1
      ? []
      : [
          {
            label: 'Reject, and later calls too',
            leadsOn: true,
            answer: async (dialog: Dialog) => {
              const kept = await askRemember(request, dialog, 'Reject');
              return kept && reject(request, { remember: kept });
            },
          },
        ]),
  ];
}

/** The approval, with the reason that the request demands; `undefined` if the person goes back. */
async function approveWithReason(
  request: ApprovalRequest,
  dialog: Dialog,
  options: Parameters<typeof approve>[1] = {},
): Promise<Answer> {
  if (request.requireReason !== true) return approve(request, options);
  const reason = await typeReason(dialog, 'Reason for the approval: ');
  return reason === undefined ? undefined : approve(request, { ...options, reason });
}

async function approveEdited(request: ApprovalRequest, dialog: Dialog): Promise<Answer> {
  const input = await editInput(request, dialog);
  return input === undefined ? undefined : approveWithReason(request, dialog, { input });
}

/* The typed text stays when the person goes back and returns. */
function makeRejecting(request: ApprovalRequest): (dialog: Dialog) => Promise<Answer> {
  let text = '';
  return async (dialog) => {
    const typed = await dialog.typeText({ ...reasonPrompt, text });
    if (typed.type === 'text') return reject(request, typed.text);
    text = typed.text;
    return undefined;
  };
}

const reasonPrompt = {
  prompt: 'Reason (the agent reads it): ',
  canGoBack: true,
  canBeEmpty: false,
  enter: 'send',
} as const;

async function typeReason(dialog: Dialog, prompt: string): Promise<string | undefined> {
  const typed = await dialog.typeText({ ...reasonPrompt, prompt });
  return typed.type === 'text' ? typed.text : undefined;
}

/** Shows a request as a whole: what is asked, by whom, what the rule demands, what looks deceptive, and the call. */
export function showApproval(
  page: Page,
  request: ApprovalRequest,
  { position, reader }: Pick<ApprovalQuestion, 'position' | 'reader'>,
): void {
  const card = makeRequestCard(request);
  page.position(position);
  page.text(card.title, page.paint.strong);
  page.card(card, reader);
  page.add('');
  if (card.call === undefined) return;
  showCall(page, card.call);
  page.add('');
}

/** Lets a person choose which later calls an answer decides, the narrowest first; `undefined` if they go back. */
async function askRemember(
  request: ApprovalRequest,
  dialog: Dialog,
  verb: 'Approve' | 'Reject',
): Promise<Remember | undefined> {
  const { remember: allowed } = request;
  if (allowed === undefined) return undefined;
  const choices = listNarrower(allowed);
  const entries = choices.map((choice) => ({
    label: `${verb} ${describeChoice(choice, request)}`,
    isYes: verb === 'Approve',
  }));
  dialog.announce();
  const picked = await dialog.pick({ ...decisionList, entries, start: 0, exit: 'back' });
  return picked === undefined || !('index' in picked) ? undefined : choices[picked.index];
}

function listNarrower(allowed: Remember): Remember[] {
  const matches =
    allowed.match === 'exact' ? (['exact'] as const) : (['exact', allowed.match] as const);
  const scopes = grantScopes.slice(0, grantScopes.indexOf(allowed.scope) + 1);
  return matches.flatMap((match) => scopes.map((scope) => ({ ...allowed, scope, match })));
}

/** Describes what a choice covers. */
function describeChoice(choice: Remember, { toolCall, ...requested }: ApprovalRequest): string {
  const { toolName = '', input } = toolCall ?? {};
  const person = describeForWhom(requested);
  const inputs = describeInputs(choice.match, input);
  return `every ${inertLine(toolName)} ${renderRemember(choice, inputs, person)}`;
}

function describeForWhom(requested: Requested): string {
  const known = listRequesters(requested).filter((requester) => requester !== null);
  const names = known.map((requester) => inertLine(JSON.stringify(requester)));
  return names.length === 0 ? 'for the same person' : `for ${names.join(' and ')}`;
}

function describeInputs(match: Remember['match'], input: unknown): string | undefined {
  if (typeof match === 'string') return undefined;
  const isObject = typeof input === 'object' && input !== null;
  const fields = new Map<string, unknown>(isObject ? Object.entries(input) : []);
  const named = match.map(
    (name) => `${inertLine(name)} ${inertLine(JSON.stringify(fields.get(name)) ?? 'absent')}`,
  );
  return `with ${named.join(', ')}`;
}

/** Lets a person change the input of a call, field by field; `undefined` if they go back. */
async function editInput(request: ApprovalRequest, dialog: Dialog): Promise<unknown> {
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
    page.text(changed ? 'Approve this instead?' : 'What should change?', page.paint.strong);
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
