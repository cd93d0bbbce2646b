import { z } from 'zod';

const partSchema = z.looseObject({
  state: z.literal('approval-responded'),
  approval: z.looseObject({
    id: z.string(),
    approved: z.unknown().optional(),
    reason: z.string().optional(),
    descriptor: z
      .looseObject({ digest: z.string().optional(), requestId: z.string().optional() })
      .optional()
      .catch(undefined),
  }),
});

/** An answer in a part of a message, unvalidated but for its id, by approval id. */
interface AnswerInPart {
  type: 'approval-response';
  requestId: string;
  approved: unknown;
  reason?: string;
  digest?: string;
}

/**
 * Lists the answers that pages have put into an assistant message; the rest of the message is ignored. They carry the digest of the shown
 * request, so that an answer to anything else is refused.
 */
export function listApprovalAnswers(message: unknown): AnswerInPart[] {
  return answersIn(parseMessageParts(message));
}

/** An answer in a part, and the facts that a page needs about it. */
interface PageAnswer {
  answer: AnswerInPart;
  /** The request itself; its approval id changes with each vote. */
  requestId: string;
  /**
   * True if a person gave it on this page, without a reason. `addToolApprovalResponse` then leaves `reason: undefined`, which no message
   * that was sent or stored as JSON has. With a reason this is unknown.
   */
  isGivenHere: boolean;
  part: unknown;
}

/** Lists the answers in the last step of a page's message. */
export function listPageAnswers(message: unknown): PageAnswer[] {
  return listLastStepParts(message).flatMap((part) => {
    const { data } = partSchema.safeParse(part);
    const [answer] = answersIn([part]);
    if (data === undefined || answer === undefined) return [];
    const { id, descriptor, reason } = data.approval;
    const requestId = descriptor?.requestId ?? id;
    const isGivenHere = 'reason' in data.approval && reason === undefined;
    return [{ answer, requestId, isGivenHere, part }];
  });
}

/** Lists the answers in the last step of a message, which nothing in it follows. */
export function listLastApprovalAnswers(message: unknown): AnswerInPart[] {
  return answersIn(listLastStepParts(message));
}

function listLastStepParts(message: unknown): object[] {
  const parts = parseMessageParts(message);
  return parts.slice(parts.findLastIndex(isStepStart) + 1);
}

function isStepStart(part: object): boolean {
  return 'type' in part && part.type === 'step-start';
}

function isResponded(part: object): boolean {
  return 'state' in part && part.state === 'approval-responded';
}

const messageSchema = z.object({ parts: z.array(z.unknown()) });

/* A body has room for hundreds of thousands of invalid parts, which a schema would refuse slowly. */
function parseMessageParts(message: unknown): object[] {
  const { parts = [] } = messageSchema.safeParse(message).data ?? {};
  return parts.filter((part) => typeof part === 'object' && part !== null);
}

function answersIn(parts: readonly object[]): AnswerInPart[] {
  return parts.flatMap((part): AnswerInPart[] => {
    if (!isResponded(part)) return [];
    const responded = partSchema.safeParse(part);
    if (!responded.success) return [];
    const { id: requestId, approved, reason, descriptor } = responded.data.approval;
    return [
      {
        type: 'approval-response',
        requestId,
        approved,
        ...(reason === undefined ? {} : { reason }),
        ...(descriptor?.digest === undefined ? {} : { digest: descriptor.digest }),
      },
    ];
  });
}
