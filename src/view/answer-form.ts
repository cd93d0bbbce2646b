import type { ApprovalRequest, ApprovalResponseContent } from '../content/approval.ts';
import { inertLine, inertName, inertText } from '../content/inert-text.ts';
import {
  describeText,
  type QuestionField,
  type QuestionRequestContent,
  whyNotAnswer,
} from '../content/question.ts';
import type { RequestRights } from '../content/request-rights.ts';
import { renderRemember } from '../content/request-text.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import { findInputMode } from '../json/field-schema.ts';
import {
  type EditedInput,
  type EditField,
  type Edits,
  type EnteredValue,
  listEditFields,
  readEdits,
  readInputField,
} from './edited-input.ts';

/*
 * The form of an answer, which every page draws: its fields, what a person has entered, what is missing, and the answer that is sent. It
 * sends nothing, and knows no page.
 */

/** An approval as a person is shown it, with their rights. */
export interface AskedApproval {
  request: ApprovalRequest;
  rights: Pick<RequestRights, 'mayApprove' | 'mayEdit' | 'mayRemember'>;
  /** The digest of everything that is shown. */
  digest: string;
  /** The paths of the arguments that are not shown. */
  masked?: readonly (readonly string[])[];
}

/** A person's entries in the form of a request, kept until they are sent. */
export interface AnswerDraft {
  reason?: string;
  /** If later calls are decided too: what was shown when that was ticked. After a change it might cover other calls. */
  remembered?: string | undefined;
  /** The entries in the fields of the call's input. */
  edits?: Edits;
  /** The picks and texts, by the field of a question. */
  picks?: ReadonlyMap<string, Picked>;
}

interface Picked {
  optionIds: readonly string[];
  text: string;
}

/** Changes the latest draft, as several fields may be entered between two renderings. */
export type Enter = (draft: AnswerDraft) => AnswerDraft;

/** A field of the form: options to pick from, a text to type, or both. Its texts are safe to show, apart from `text.value`. */
export interface FormField {
  /** Unique in the form. */
  key: string;
  label: string;
  description?: string | undefined;
  /** Radio buttons, or checkboxes where `isMany`. */
  options: readonly FormOption[];
  isMany: boolean;
  text?: FormText;
  /** The error of an entry that can't be read. */
  fault?: string | undefined;
}

/** An option to pick. */
interface FormOption {
  id: string;
  label: string;
  description?: string | undefined;
  isPicked: boolean;
  pick: (isPicked: boolean) => Enter;
}

/** A text to type. */
export interface FormText {
  label: string;
  value: string;
  isRequired: boolean;
  /** True for JSON. */
  isCode?: boolean;
  inputMode?: ReturnType<typeof findInputMode>;
  write: (text: string) => Enter;
}

/** What has to be corrected before an answer can be sent; safe to show. Without a key, no field is to blame. */
export interface AnswerFault {
  key?: string | undefined;
  text: string;
}

/** The answer to send, or what has to be corrected first. */
export type MadeAnswer =
  | { type: 'made'; response: UserInputResponseContent }
  | { type: 'faulty'; faults: readonly AnswerFault[] };

/** The keys of an approval's fields. Those of its input have a prefix, so that none of them is another field of the form. */
const reasonKey = 'reason';
const rememberKey = 'remember';
const makeInputKey = (name: string): string => `input.${name}`;

/** The time for which a request must have been shown before a press counts: the length of a double click, or of a double key press. */
export const restMs = 500;

/** Lists the fields for the call's input; none if the person may not edit it. */
export function listInputFields(asked: AskedApproval, { edits }: AnswerDraft): FormField[] {
  return mayEdit(asked)
    ? listEditFields(asked).map((field) => showInputField(field, readInputField(field, edits)))
    : [];
}

function mayEdit({ rights: { mayApprove, mayEdit: may } }: AskedApproval): boolean {
  return mayApprove && may;
}

const absences = { null: 'empty (null)', absent: 'left out' };

function showInputField(
  field: EditField,
  { entered, fault }: { entered: EnteredValue; fault?: string },
): FormField {
  const { name, kind, choices, mayBe, description, current } = field;
  const label = name === '' ? 'input' : inertName(name);
  const isChoice = kind === 'choice';
  /* An erased text that was absent before is absent again: it would run as an empty one. */
  const enterText = (text: string): EnteredValue =>
    text === '' && current === undefined ? { is: 'absent', text } : { is: 'value', text };
  const makeOption = (id: string, said: string, then: EnteredValue): FormOption => ({
    id,
    label: said,
    isPicked: then.is === entered.is && (then.is !== 'value' || then.text === entered.text),
    /* Unticked, a field has its text again. */
    pick: (isPicked) => enterInput(name, isPicked ? then : enterText(entered.text)),
  });
  const values = choices.map((value, place) =>
    makeOption(`${place}`, writeChoice(value), { is: 'value', text: `${place}` }),
  );
  const others = mayBe.map((is) => makeOption(is, absences[is], { is, text: entered.text }));
  return {
    key: makeInputKey(name),
    label,
    ...(description !== undefined && { description: inertLine(description) }),
    options: isChoice ? [...values, ...others] : others,
    isMany: !isChoice,
    fault,
    ...(!isChoice && {
      text: {
        label,
        value: entered.is === 'value' ? entered.text : '',
        isRequired: false,
        isCode: kind === 'json',
        inputMode: kind === 'integer' ? 'numeric' : kind === 'number' ? 'decimal' : undefined,
        write: (text) => enterInput(name, enterText(text)),
      },
    }),
  };
}

function writeChoice(value: unknown): string {
  return inertLine(typeof value === 'string' ? value : JSON.stringify(value));
}

function enterInput(name: string, entered: EnteredValue): Enter {
  return (draft) => ({ ...draft, edits: new Map(draft.edits).set(name, entered) });
}

/** Makes the input that would run after the person's edits. */
export function readEditedInput(asked: AskedApproval, { edits }: AnswerDraft): EditedInput {
  return readEdits(mayEdit(asked) ? asked : { request: {} }, edits);
}

const writeReason: FormText['write'] = (reason) => (draft) => ({ ...draft, reason });

/** Makes the field for the reason. */
export function makeReasonField({ request }: AskedApproval, { reason = '' }: AnswerDraft) {
  const isRequired = request.requireReason === true;
  const label = isRequired ? 'Reason (needed to approve)' : 'Reason';
  const text: FormText = { label: 'Reason', value: reason, isRequired, write: writeReason };
  return { key: reasonKey, label, options: [], isMany: false, text };
}

/** Makes the field that decides later calls too; `undefined` if the person may not. */
export function makeRememberField(asked: AskedApproval, draft: AnswerDraft): FormField | undefined {
  const { mayApprove, mayRemember } = asked.rights;
  if (!mayApprove || mayRemember === undefined) return undefined;
  /* Where several must approve a call, one person can't reject later ones. */
  const begin = isForQuorum(asked)
    ? 'If approved, also approve later calls'
    : 'Also decide later calls';
  const option: FormOption = {
    id: 'on',
    label: `${begin}: ${renderRemember(mayRemember)}`,
    isPicked: isRemembered(asked, draft),
    pick: (isPicked) => (next) => ({
      ...next,
      remembered: isPicked ? describeRemembered(asked) : undefined,
    }),
  };
  return { key: rememberKey, label: 'Later calls', options: [option], isMany: true };
}

function isForQuorum({ request }: AskedApproval): boolean {
  return request.quorum !== undefined;
}

function describeRemembered({ digest, rights }: AskedApproval): string {
  return JSON.stringify([digest, rights.mayRemember]);
}

function isRemembered(asked: AskedApproval, { remembered }: AnswerDraft): boolean {
  return asked.rights.mayApprove && remembered === describeRemembered(asked);
}

/** Lists the fields of a question. Nothing is picked before. */
export function listQuestionFields(
  { fields }: QuestionRequestContent,
  { picks }: AnswerDraft,
): FormField[] {
  return fields.map((field) => showQuestionField(field, readPicked(picks, field.key)));
}

function readPicked(picks: AnswerDraft['picks'], key: string): Picked {
  return picks?.get(key) ?? { optionIds: [], text: '' };
}

function showQuestionField(field: QuestionField, picked: Picked): FormField {
  const { key, label, max, freeText, schema, required = true, preselected = [] } = field;
  const isMany = max > 1;
  const change =
    (make: (before: Picked) => Picked): Enter =>
    (draft) => ({
      ...draft,
      picks: new Map(draft.picks).set(key, make(readPicked(draft.picks, key))),
    });
  /* An answer may pick none where it is only text. */
  const offered = freeText === 'only' ? [] : field.options;
  const options = offered.map(({ id, label: said, description }) => ({
    id,
    label: preselected.includes(id) ? `${inertText(said)} (suggested)` : inertText(said),
    description: description && inertText(description),
    isPicked: picked.optionIds.includes(id),
    pick: (isPicked: boolean) =>
      change(({ optionIds, text }) => {
        const others = isMany ? optionIds.filter((each) => each !== id) : [];
        return { optionIds: isPicked ? [...others, id] : others, text };
      }),
  }));
  const shown = { key, label: inertText(label), options, isMany };
  if (freeText === 'never') return shown;
  const hint = describeText(field);
  const text: FormText = {
    label:
      options.length === 0
        ? [shown.label, ...(hint === undefined ? [] : [`(${hint})`])].join(' ')
        : 'In your own words',
    value: picked.text,
    isRequired: freeText === 'only' && required,
    inputMode: findInputMode(schema),
    write: (typed) => change(({ optionIds }) => ({ optionIds, text: typed })),
  };
  return { ...shown, text };
}

/** Checks whether an approval needs a reason that the draft lacks. */
export function lacksReason({ request }: AskedApproval, { reason = '' }: AnswerDraft): boolean {
  return request.requireReason === true && reason.trim() === '';
}

/** Lists the texts that the person has typed, also where they have left out the field since. */
export function listTyped(
  request: UserInputRequest,
  { reason = '', edits, picks }: AnswerDraft,
): string[] {
  const fields = request.type === 'approval-request' ? listEditFields({ request }) : [];
  const typed = fields.filter(({ kind }) => kind !== 'choice').map(({ name }) => edits?.get(name));
  const texts = [...typed, ...(picks?.values() ?? [])].map((entry) => entry?.text ?? '');
  return [...texts, reason].filter((text) => text.trim() !== '');
}

/** Checks whether an approval of the request as it is asked would leave out something that the person has entered. */
export function isFilledIn({ reason = '', edits, remembered }: AnswerDraft): boolean {
  return reason !== '' || remembered !== undefined || (edits?.size ?? 0) > 0;
}

/** Makes the answer that approves. It names what was shown by its digest. */
export function makeApprovalAnswer(asked: AskedApproval, draft: AnswerDraft): MadeAnswer {
  const { input, faults } = readEditedInput(asked, draft);
  const all: AnswerFault[] = faults.map(({ name, fault }) => ({
    ...(name !== undefined && { key: makeInputKey(name) }),
    text: fault,
  }));
  if (lacksReason(asked, draft)) {
    all.push({ key: reasonKey, text: 'Give a reason to approve this.' });
  }
  if (all.length > 0) return { type: 'faulty', faults: all };
  const response = {
    ...makeDecision(asked, draft, true),
    ...(isRemembered(asked, draft) && { remember: asked.rights.mayRemember }),
    ...(input !== undefined && { input }),
  };
  return { type: 'made', response };
}

/** Makes the answer that rejects. */
export function makeRejectionAnswer(asked: AskedApproval, draft: AnswerDraft): MadeAnswer {
  const isRemembering = isRemembered(asked, draft) && !isForQuorum(asked);
  const response = {
    ...makeDecision(asked, draft, false),
    ...(isRemembering && { remember: asked.rights.mayRemember }),
  };
  return { type: 'made', response };
}

function makeDecision(
  { request: { requestId, digest } }: AskedApproval,
  { reason = '' }: AnswerDraft,
  approved: boolean,
): ApprovalResponseContent {
  const why = reason.trim();
  return {
    type: 'approval-response',
    requestId,
    approved,
    ...(why !== '' && { reason: why }),
    digest,
  };
}

/** Makes the answer to a question. */
export function makeQuestionAnswer(
  request: QuestionRequestContent,
  { picks }: AnswerDraft,
): MadeAnswer {
  const { requestId, fields } = request;
  const answers = fields.map(({ key }) => {
    const { optionIds, text } = readPicked(picks, key);
    return { key, optionIds: [...optionIds], ...(text.trim() !== '' && { text: text.trim() }) };
  });
  const response = { type: 'question-response', requestId, status: 'answered', answers } as const;
  const fault = whyNotAnswer(request, response);
  return fault === undefined
    ? { type: 'made', response }
    : { type: 'faulty', faults: [placeFault(request, { ...fault, text: fault.reason })] };
}

/** Makes the answer that dismisses a question. */
export function makeDismissalAnswer({ requestId }: QuestionRequestContent): MadeAnswer {
  return {
    type: 'made',
    response: { type: 'question-response', requestId, status: 'dismissed' },
  };
}

/** A fault as a check or the server says it, safe to show. */
interface SaidFault {
  /** The path to the field that caused it, in the edited input or the question. */
  field?: readonly string[] | undefined;
  reason?: string | undefined;
  /** The fault in a sentence. */
  text: string;
}

/** Finds the field to blame for a refused answer. */
export function placeFault(
  request: UserInputRequest,
  { field, reason, text }: SaidFault,
): AnswerFault {
  const [first, ...inner] = field ?? [];
  const why = reason ?? text;
  if (request.type === 'question-request') {
    const asked = request.fields.find(({ key }) => key === first);
    const end = why.endsWith('.') ? '' : '.';
    if (asked !== undefined)
      return { key: asked.key, text: `${inertLine(asked.label)} ${why}${end}` };
  } else if (field !== undefined) {
    const named = listEditFields({ request }).find(({ name }) => name === '' || name === first);
    const path = named?.name === '' ? field : inner;
    const place = path.map(inertName).join('.');
    if (named !== undefined)
      return { key: makeInputKey(named.name), text: place === '' ? why : `${place}: ${why}` };
  }
  return { text: reason === undefined ? text : `${text} ${reason}` };
}
