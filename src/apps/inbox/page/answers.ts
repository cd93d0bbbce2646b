import type { ApprovalRequest } from '../../../content/approval.ts';
import { inertText } from '../../../content/inert-text.ts';
import type { UserInputRequest } from '../../../content/user-input.ts';
import {
  type AnswerDraft,
  type AnswerFault,
  type AskedApproval,
  placeFault,
} from '../../../view/answer-form.ts';
import { listMasked } from './argument-path.ts';
import type { InboxRefusal } from './decode-responses.ts';
import { pickApproval } from './request-words.ts';
import type { InboxAnswers, InboxEntry } from '../inbox-api.ts';

/**
 * The person's step with the open request: reading it, giving the reason that an approval needs, rejecting, editing, checking the edit,
 * confirming a critical approval, or filling in one of the other forms.
 */
export type Step =
  | 'read'
  | 'give-reason'
  | 'reject'
  | 'edit'
  | 'check'
  | 'confirm'
  | 'reassign'
  | 'settle';

/** The steps in which the button approves, or leads on to it. */
export const approvingSteps: readonly Step[] = ['read', 'give-reason', 'check', 'confirm'];

/** One answer, as it is sent. */
export type Answer = InboxAnswers['answers'][number];

/** A person's entries for a request, kept until it is answered. */
export interface Draft extends AnswerDraft {
  /** The person who should answer instead. */
  to?: string;
  outcome?: 'succeeded' | 'failed' | 'retry';
  /** The result or the error of a lost call. */
  result?: string;
}

/** Reads what the form of an approval is made from; `undefined` for any other entry. */
export function readAsked(
  entry: InboxEntry,
  rights: InboxEntry['rights'],
): AskedApproval | undefined {
  const request = pickApproval(entry);
  return request && { request, rights, digest: entry.digest, masked: listMasked(entry) };
}

/** Finds the field to blame for a refused answer. */
export function placeRefusal(
  request: UserInputRequest,
  { field, reason, message }: InboxRefusal,
): AnswerFault {
  const why = reason === undefined ? {} : { reason: inertText(reason) };
  return placeFault(request, { field, ...why, text: inertText(message) });
}

/** Returns the entry with an edited input, for the check before the answer. The app's details are labelled as made before the edit. */
export function previewEdit(entry: InboxEntry, input: unknown, now: number): InboxEntry {
  const { request } = entry;
  if (request?.type !== 'approval-request' || request.toolCall === undefined) return entry;
  const { toolCall, text, digest, edit } = request;
  const original = edit?.original ?? { input: toolCall.input, text, digest };
  const edited: ApprovalRequest = {
    ...request,
    toolCall: { ...toolCall, input },
    edit: { original, patches: [], at: now },
  };
  const details = entry.details.map((detail) => ({
    ...detail,
    label: `${detail.label} (before the edit)`,
  }));
  return { ...entry, request: edited, details };
}

/** Checks whether an approval needs a second step. */
export function needsSecondStep({ risk }: InboxEntry): boolean {
  return risk === 'critical';
}
