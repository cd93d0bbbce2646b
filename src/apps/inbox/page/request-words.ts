import { refusalWords } from '../../../content/refusal-words.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import { inertNames } from '../../../content/inert-text.ts';
import type { UserInputRequest } from '../../../content/user-input.ts';
import { type CardFact, makeRequestCard } from '../../../view/request-card.ts';
import type { InboxEntry } from '../inbox-api.ts';

/** Returns the request if it asks for an approval. */
export function pickApproval({ request }: InboxEntry): ApprovalRequest | undefined {
  return request?.type === 'approval-request' ? request : undefined;
}

/** Lists the facts of an entry besides its title and its arguments. Without its request, those in its row. */
export function listEntryFacts(entry: InboxEntry): readonly CardFact[] {
  const { request, requesters } = entry;
  const facts = request === undefined ? listRowFacts(entry) : readFacts(request);
  const isAsked = requesters.length === 0 || facts.some(({ name }) => name === 'requesters');
  return isAsked ? facts : [makeNamesFact('requesters', 'Asked for by', requesters), ...facts];
}

/* Cached, as a page lists them at each rendering. Look-alikes are searched later, as that takes long. */
const factsOf = new WeakMap<UserInputRequest, readonly CardFact[]>();

function readFacts(request: UserInputRequest): readonly CardFact[] {
  const facts = factsOf.get(request) ?? makeRequestCard(request, { warnings: [] }).facts;
  factsOf.set(request, facts);
  return facts;
}

function listRowFacts({ approvers, expiresAt, votes, quorum }: InboxEntry): CardFact[] {
  const all: (CardFact | false)[] = [
    approvers.length > 0 && makeNamesFact('approvers', 'May be answered by', approvers),
    quorum > 1 && { name: 'approvals', label: 'Approvals', parts: [`${votes} of ${quorum}`] },
    expiresAt !== undefined && {
      name: 'deadline',
      label: 'Until',
      parts: [{ type: 'time', at: expiresAt }],
    },
  ];
  return all.filter((fact) => fact !== false);
}

function makeNamesFact(name: CardFact['name'], label: string, names: readonly string[]): CardFact {
  return { name, label, parts: [inertNames(names)] };
}

/** Describes the reader's rights to it; or the reason, if they may not answer it. */
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
  const may = all.filter((each) => each !== false).join(', ') || 'only read it';
  return rights.refusal === undefined || maySettle
    ? may
    : `${may}. ${refusalWords[rights.refusal]}`;
}

function describeEditable(request: InboxEntry['request']): string {
  const editable = request?.type === 'approval-request' ? request.editable : undefined;
  return editable === undefined || editable === true ? 'all arguments' : inertNames(editable);
}
