import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import type { ApprovalRequest } from '../../src/content/approval.ts';

/** The time at which the requests are read. */
export const readAt = Date.UTC(2026, 10, 26, 14, 0);

interface Told extends Partial<Omit<InboxEntry, 'request'>> {
  text?: string;
  request?: Partial<ApprovalRequest>;
}

/** An approval as the inbox has it, with this input. */
export function makeEntry(input: unknown, { text, request, ...entry }: Told = {}): InboxEntry {
  const requestId = entry.requestId ?? 'r1';
  const toolName = entry.toolName ?? 'send_money';
  const createdAt = readAt - 3 * 3_600_000;
  return {
    requestId,
    threadId: 't1',
    agent: 'clerk',
    tenant: null,
    kind: 'approval',
    state: 'open',
    toolName,
    requesters: ['Mia'],
    approvers: [],
    risk: 'high',
    createdAt,
    votes: 0,
    quorum: 1,
    decidedBy: null,
    digest: `digest of ${requestId}`,
    request: {
      type: 'approval-request',
      requestId,
      threadId: 't1',
      text: text ?? 'Send money?',
      toolCall: { toolCallId: 'c1', toolName, input },
      requestedBy: 'Mia',
      digest: 'd1',
      createdAt,
      risk: 'high',
      ...request,
    },
    rights: {
      requestId,
      threadId: 't1',
      mayAnswer: true,
      mayApprove: true,
      mayReject: true,
      mayEdit: true,
      mayWithdraw: false,
      mayReassign: true,
    },
    maySettle: false,
    formats: [],
    details: [],
    masked: [],
    ...entry,
  };
}
