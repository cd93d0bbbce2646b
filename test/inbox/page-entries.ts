import type { ApprovalRequest } from '../../src/content/approval.ts';
import type { InboxEntry } from '../../src/channels/inbox/inbox-api.ts';

interface EntryParts extends Partial<Omit<InboxEntry, 'rights' | 'request'>> {
  rights?: Partial<InboxEntry['rights']>;
  request?: Partial<ApprovalRequest>;
  input?: unknown;
}

/** An open approval that waits for the person, as the route sends it. */
export function makeEntry(requestId: string, parts: EntryParts = {}): InboxEntry {
  const { rights, request, input = { to: requestId }, ...entry } = parts;
  const threadId = `thread of ${requestId}`;
  const toolName = entry.toolName ?? 'send_mail';
  return {
    requestId,
    threadId,
    agent: 'office',
    tenant: null,
    kind: 'approval',
    state: 'open',
    toolName,
    requesters: ['Ada'],
    approvers: [],
    risk: null,
    createdAt: 1_000,
    votes: 0,
    quorum: 1,
    decidedBy: null,
    digest: `shown ${requestId}`,
    request: {
      type: 'approval-request',
      requestId,
      threadId,
      text: `Send mail to ${requestId}?`,
      toolCall: { toolCallId: 'call', toolName, input },
      digest: `asked ${requestId}`,
      createdAt: 1_000,
      ...request,
    },
    rights: {
      requestId,
      threadId,
      mayAnswer: true,
      mayApprove: true,
      mayReject: true,
      mayEdit: false,
      mayWithdraw: false,
      mayReassign: false,
      ...rights,
    },
    maySettle: false,
    formats: [],
    details: [],
    masked: [],
    ...entry,
  };
}

/** The entry after somebody has decided it. */
export function decide(
  entry: InboxEntry,
  state: InboxEntry['state'],
  decidedBy: string,
): InboxEntry {
  const { rights } = entry;
  const over = {
    mayAnswer: false,
    mayApprove: false,
    mayReject: false,
    refusal: 'closed' as const,
  };
  return { ...entry, state, decidedBy, decidedAt: 2_000, rights: { ...rights, ...over } };
}
