import type { ApprovalRequest } from '../../src/content/approval.ts';
import type { QuestionField } from '../../src/content/question.ts';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import type { Inbox } from '../../src/apps/inbox/page/inbox.ts';
import { makeRememberField } from '../../src/view/answer-form.ts';
import type { Edits } from '../../src/view/edited-input.ts';

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

/** A field of a question: which room. */
export function makeRoomField(): QuestionField {
  const options = ['blue', 'red'].map((id) => ({ id, label: id }));
  return { key: 'room', label: 'Room', options, min: 1, max: 1, freeText: 'never' };
}

/** What a person has entered in the fields of an edit. */
export function typeEdits(texts: Record<string, string>): Edits {
  return new Map(Object.entries(texts).map(([name, text]) => [name, { is: 'value', text }]));
}

/** Ticks, or unticks, that later calls are decided too. */
export function tickRemember({ answering }: Inbox, entry: InboxEntry, isTicked = true): void {
  const asked = answering.findAsked(entry);
  const [option] = (asked && makeRememberField(asked, {})?.options) ?? [];
  if (option === undefined) throw new Error('There is nothing to tick.');
  answering.enter(entry.requestId, option.pick(isTicked));
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
