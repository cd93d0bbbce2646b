import { isToolUIPart, type UIMessage } from 'ai';
import { z } from 'zod';
import type { ApprovalResponseContent } from '../../../content/approval.ts';
import type { UserInputResponseContent } from '../../../content/user-input.ts';

/** The answer to an approval, as the messages of a page keep it. */
export interface GivenApproval {
  requestId: string;
  approved: boolean;
  reason?: string;
  /** The digest of the request that the person answered. */
  digest?: string;
}

const askedSchema = z
  .looseObject({ digest: z.string().optional(), requestId: z.string().optional() })
  .optional()
  .catch(undefined);

/** The request of a part's approval, whose id changes with each vote. */
function readPartRequestId({ id, descriptor }: { id: string; descriptor?: unknown }): string {
  return askedSchema.parse(descriptor)?.requestId ?? id;
}

const decisionSchema = z.looseObject({
  requestId: z.string(),
  status: z.enum([
    'approved',
    'rejected',
    'answered',
    'dismissed',
    'expired',
    'cancelled',
    'invalidated',
  ]),
  person: z.string().optional(),
  onBehalfOf: z.string().optional(),
});

/** The decision about a request, and the person who made it. */
export type PageDecision = z.infer<typeof decisionSchema>;

/** Finds the decision about a request, if the messages have it. */
export function findDecision(
  messages: readonly UIMessage[],
  requestId: string,
): PageDecision | undefined {
  for (const { role, parts } of messages.toReversed()) {
    const part = parts.findLast(
      (each) => each.type === 'data-request-decision' && 'id' in each && each.id === requestId,
    );
    if (role !== 'assistant' || part === undefined || !('data' in part)) continue;
    const { data } = decisionSchema.safeParse(part.data);
    if (data?.requestId === requestId) return data;
  }
  return undefined;
}

const metadataSchema = z.looseObject({ revision: z.number(), status: z.string() });

/** Reads the state up to which the messages show a thread. After a stream the last one has it. A user's metadata can't be trusted. */
export function readShownState(
  messages: readonly UIMessage[],
): { revision: number; status: string } | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? metadataSchema.safeParse(last.metadata).data : undefined;
}

/**
 * Checks whether an answer can be given as the AI SDK's approval, which has no input and nothing to remember, and repeats the digest of
 * what the page shows.
 */
export function isPlainApproval(
  messages: readonly UIMessage[],
  response: UserInputResponseContent,
): response is ApprovalResponseContent {
  if (response.type !== 'approval-response') return false;
  const { requestId, input, remember, digest } = response;
  if (input !== undefined || remember !== undefined) return false;
  return findApprovalId(messages, requestId, digest) !== undefined;
}

/**
 * Sorts approvals into those that `messages` still ask for, those that have changed since the person saw them, and those that have ended.
 */
export function sortApprovals(messages: readonly UIMessage[], approvals: readonly GivenApproval[]) {
  const isAsked = (requestId: string, digest?: string): boolean =>
    findApprovalId(messages, requestId, digest) !== undefined;
  const asked = approvals.filter(({ requestId }) => isAsked(requestId));
  const open = asked.filter(({ requestId, digest }) => isAsked(requestId, digest));
  const outdated = asked.filter((approval) => !open.includes(approval));
  const ended = approvals.filter((approval) => !asked.includes(approval));
  return {
    open,
    outdatedIds: outdated.map(({ requestId }) => requestId),
    endedIds: ended.map(({ requestId }) => requestId),
  };
}

/** Finds the approval id of the open part for a request, with this digest if one is given. */
export function findApprovalId(
  messages: readonly UIMessage[],
  requestId: string,
  digest?: string,
): string | undefined {
  return listAsked(messages).find((asked) => {
    const shown = asked.digest ?? digest;
    return asked.requestId === requestId && (digest === undefined || digest === shown);
  })?.approvalId;
}

/** Finds the digest of a request in the messages. */
export function findShownDigest(
  messages: readonly UIMessage[],
  requestId: string,
): string | undefined {
  return listAsked(messages).find((asked) => asked.requestId === requestId)?.digest;
}

function listAsked(messages: readonly UIMessage[]) {
  return messages
    .flatMap(({ parts }) => parts.filter(isToolUIPart))
    .filter((part) => part.state === 'approval-requested')
    .map(({ approval }) => ({
      approvalId: approval.id,
      requestId: readPartRequestId(approval),
      digest: askedSchema.parse(approval.descriptor)?.digest,
    }));
}

/** Reopens these requests in the messages, because their answers were not recorded. */
export function withReopened(
  messages: readonly UIMessage[],
  requestIds: readonly string[],
): UIMessage[] {
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => {
      if (!isToolUIPart(part) || part.state !== 'approval-responded') return part;
      const { approved: _approved, reason: _reason, ...approval } = part.approval;
      if (!requestIds.includes(readPartRequestId(approval))) return part;
      return { ...part, state: 'approval-requested' as const, approval };
    }),
  }));
}

/** Returns `text`, the text of the page's last message, if the stored thread lacks that message. */
export function findLostText(
  stored: readonly UIMessage[],
  shown: readonly UIMessage[],
  text: string | undefined,
): string | undefined {
  const inThread = stored.filter(({ role }) => role === 'user');
  const onPage = shown.filter(({ role }) => role === 'user');
  const isThere =
    inThread.length >= onPage.length && joinTexts(inThread.at(-1)?.parts ?? []) === text;
  return isThere ? undefined : text;
}

const textSchema = z.looseObject({ type: z.literal('text'), text: z.string() });

/** Joins the texts of a message's parts. */
export function joinTexts(parts: readonly unknown[]): string {
  return parts.map((part) => textSchema.safeParse(part).data?.text ?? '').join('');
}
