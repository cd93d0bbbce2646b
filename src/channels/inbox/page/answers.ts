import type { ApprovalRequest, ApprovalResponseContent } from '../../../content/approval.ts';
import type { Remember } from '../../../content/approval-terms.ts';
import type { InboxAnswers, InboxEntry } from '../inbox-api.ts';

/**
 * What the person is doing with what is open: reading it, giving the reason that an approval needs, rejecting, editing, checking the edit,
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

/** One answer, as it is sent. */
export type Answer = InboxAnswers['answers'][number];

/** What a person says besides yes or no. */
export interface AnswerDetails {
  reason?: string | undefined;
  remember?: Remember | undefined;
  /** The input to run instead; `undefined` for the one that was shown. */
  input?: unknown;
}

/** What somebody has filled in for a request, kept until it is answered. */
export interface Draft {
  reason?: string;
  /** If later calls are decided too: the digest of what was shown when that was ticked. After a change it might cover others. */
  rememberedFor?: string | undefined;
  /** What was typed into the form of an edit. */
  edit?: unknown;
  /** Who is to answer instead. */
  to?: string;
  outcome?: 'succeeded' | 'failed' | 'retry';
  /** The result or the error of a lost call. */
  result?: string;
  /** By field of a question. */
  picks?: ReadonlyMap<string, { optionIds: readonly string[]; text: string }>;
}

/** Makes the answer to a request as it was shown. The call is named by the digest alone, as some of what was shown may be masked. */
export function makeAnswer(
  { requestId, threadId, digest, request }: InboxEntry,
  approved: boolean,
  { reason = '', remember, input }: AnswerDetails,
): Answer {
  const answer: ApprovalResponseContent = {
    type: 'approval-response',
    requestId,
    approved,
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    ...(request?.type === 'approval-request' ? { digest: request.digest } : {}),
    ...(remember === undefined ? {} : { remember }),
    ...(input === undefined ? {} : { input }),
  };
  return { requestId, threadId, digest, answer };
}

/** The entry as it will run with an edited input: for the check before the answer. What the app said of the call, it said before the edit. */
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

/** Whether an approval takes a second, separate step. */
export function needsSecondStep({ risk }: InboxEntry): boolean {
  return risk === 'critical';
}
