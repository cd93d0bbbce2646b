import type { AnswerRefusal } from '../../../content/request-rights.ts';
import { renderRequesters } from '../../../content/request-text.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import { inertLine } from '../../../content/inert-text.ts';
import type { InboxEntry } from '../inbox-api.ts';

/** The request, if it asks for an approval. */
export function pickApproval({ request }: InboxEntry): ApprovalRequest | undefined {
  return request?.type === 'approval-request' ? request : undefined;
}

/** For whom the agent works, as one line that is safe to show; `undefined` if nobody is known. */
export function describeAskers({ request, requesters }: InboxEntry): string | undefined {
  const known = requesters.map((each) => inertLine(each)).join(', ') || undefined;
  return (request && renderRequesters(request)) ?? known;
}

/** What each state of a request is called. */
export const stateWords: Record<InboxEntry['state'], string> = {
  open: 'Open',
  approved: 'Approved',
  rejected: 'Rejected',
  answered: 'Answered',
  dismissed: 'Dismissed',
  expired: 'Expired',
  cancelled: 'Cancelled',
  invalidated: 'No longer valid',
  settled: 'Settled',
};

/** What the person who reads may do with it, in words; why not, if they may not answer it. */
export function describeRights({ rights, kind, maySettle, request }: InboxEntry): string {
  const all: (string | false)[] = [
    rights.mayAnswer && kind === 'question' && 'answer',
    rights.mayApprove && 'approve',
    rights.mayReject && (kind === 'question' ? 'dismiss' : 'reject'),
    rights.mayApprove && rights.mayEdit && `edit ${describeEditable(request)}`,
    rights.mayRemember !== undefined && 'decide later calls too',
    rights.mayWithdraw && 'withdraw your approval',
    rights.mayReassign && 'let somebody else answer',
    maySettle && (kind === 'stuck-thread' ? 'retry it' : 'settle it'),
  ];
  const may = all.filter((each) => each !== false).join(', ');
  const refusal = rights.refusal === undefined || maySettle ? '' : refusals[rights.refusal];
  return may === '' ? refusal || 'only read it' : [may, refusal].filter(Boolean).join('; ');
}

function describeEditable(request: InboxEntry['request']): string {
  const editable = request?.type === 'approval-request' ? request.editable : undefined;
  return editable === undefined || editable === true
    ? 'all arguments'
    : editable.map((each) => inertLine(each)).join(', ');
}

const refusals: Record<AnswerRefusal, string> = {
  requester: 'only read it, as you asked for it',
  'unknown-requesters': 'only read it, as it is not known who asked for it',
  'not-approver': 'only read it, as it waits for somebody else',
  unidentified: 'only read it until you sign in',
  'already-voted': 'you have approved it',
  closed: 'only read it, as it is over',
  'child-thread': 'only read it, as it is answered in the conversation that it belongs to',
  'missing-tool': 'only read it, as the server lacks what takes the answer',
  'no-request': 'only read it',
};
