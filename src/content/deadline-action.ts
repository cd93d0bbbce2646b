import { z } from 'zod';
import { approversSchema, milliseconds } from './approval-terms.ts';
import { inertLine } from './inert-text.ts';

/** What happens when a request expires without a decision. */
export type DeadlineAction = Reject | AskAgain | Escalate;

interface Reject {
  /** The call is denied. */
  type: 'reject';
  /** Why; the model receives it. Absent: that the request expired. */
  reason?: string | undefined;
}

interface AskAgain {
  /** A new request is opened. */
  type: 'ask-again';
}

interface Escalate {
  /** A new request is opened, for other people. */
  type: 'escalate';
  /** Who must answer it. */
  approvers: string[];
  /** How long it can be approved, in milliseconds. Absent: without limit. */
  expiresAfterMs?: number | undefined;
}

/** The schema of `DeadlineAction`. */
export const deadlineActionSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('reject'), reason: z.string().optional() }),
  z.strictObject({ type: z.literal('ask-again') }),
  z.strictObject({
    type: z.literal('escalate'),
    approvers: approversSchema,
    expiresAfterMs: milliseconds.optional(),
  }),
]);

/** The actions that a rule may also name by their type alone. */
export const shortDeadlineActions = ['reject', 'ask-again'] as const;

/** What a deadline action does, and what people read of it. */
interface DeadlineEffect {
  /** What people read beforehand, after "Until …, then". Safe to show. */
  text: string;
  /** Why the request was closed. People read it, and the model if the call is denied. */
  reason: string;
  /** What the request that follows has instead of this one's; absent if none follows and the call is denied. */
  next?: {
    approvers?: string[];
    expiresAfterMs?: number | undefined;
    /** When this one expires too, the call is denied. */
    isLast?: true;
  };
}

const reason = 'The request for approval expired unanswered.';

/** The one place that says what each deadline action does, and what people read of it. */
export function describeDeadlineAction(
  action: DeadlineAction = { type: 'reject' },
): DeadlineEffect {
  switch (action.type) {
    case 'reject':
      return { text: 'it is denied', reason: action.reason ?? reason };
    case 'ask-again':
      return { text: 'it is asked again', reason, next: {} };
    case 'escalate': {
      const { approvers, expiresAfterMs } = action;
      const names = approvers.map((name) => inertLine(name)).join(', ');
      return {
        text: `it goes to ${names}`,
        reason,
        next: { approvers, expiresAfterMs, isLast: true },
      };
    }
  }
}
