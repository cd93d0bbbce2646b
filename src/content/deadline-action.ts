import { z } from 'zod';
import { type ApprovalTerms, approversSchema, milliseconds } from './approval-terms.ts';
import { inertNames } from './inert-text.ts';

/*
 * Everything about deadline actions: the words of a rule, of the log and for people, and the consequences. Code elsewhere asks this file.
 */

/** The action when a request expires without a decision. */
export type DeadlineAction =
  | {
      /** The call is denied. */
      type: 'reject';
      /** The reason; the model receives it. Absent: that the request expired. */
      reason?: string | undefined;
    }
  | {
      /** A new request is opened. */
      type: 'ask-again';
    }
  | {
      /** A new request is opened, for other people. */
      type: 'escalate';
      /** The people who must answer it. */
      approvers: string[];
      /** The number of different people who must approve it. Absent: as many as for the request that expired. */
      quorum?: number | undefined;
      /** The time in which it can be approved, in milliseconds. Absent: as long as for the request that expired. */
      expiresAfterMs?: number | undefined;
    };

/** The demand of a rule for a request that is not decided in time; `wait`: it has no deadline, and stays open. */
export type DeadlineDemand = DeadlineAction | { type: 'wait' };

/** The schemas of the actions. */
export const deadlineActionSchemas = {
  reject: z.strictObject({ type: z.literal('reject'), reason: z.string().optional() }),
  'ask-again': z.strictObject({ type: z.literal('ask-again') }),
  escalate: z.strictObject({
    type: z.literal('escalate'),
    approvers: approversSchema,
    quorum: z.int().positive().optional(),
    expiresAfterMs: milliseconds.optional(),
  }),
} satisfies {
  readonly [TYPE in DeadlineAction['type']]: z.ZodType<Extract<DeadlineAction, { type: TYPE }>>;
};

const { reject: first, ...others } = deadlineActionSchemas;

/** The schema of `DeadlineAction`. */
export const deadlineActionSchema: z.ZodType<DeadlineAction> = z.discriminatedUnion('type', [
  first,
  ...Object.values(others),
]);

/** The demands that consist of their type alone. */
type ShortDemand = {
  [TYPE in DeadlineDemand['type']]: { type: TYPE } extends Extract<DeadlineDemand, { type: TYPE }>
    ? TYPE
    : never;
}[DeadlineDemand['type']];

/** The demands that a rule may name by their type alone. */
export const shortDemands = {
  reject: 'reject',
  'ask-again': 'ask-again',
  wait: 'wait',
} as const satisfies { readonly [TYPE in ShortDemand]: TYPE };

/** The setting of a rule: a demand by its type alone, or an action with its terms. */
export type DeadlineSetting = ShortDemand | AsGiven<DeadlineAction>;

type AsGiven<ACTION> = ACTION extends unknown
  ? { [NAME in keyof ACTION]: ACTION[NAME] extends string[] ? readonly string[] : ACTION[NAME] }
  : never;

/** Reads the demand of a setting. */
export function readDeadlineDemand(setting: ShortDemand | DeadlineAction): DeadlineDemand {
  return typeof setting === 'string' ? { type: setting } : setting;
}

/** Another request follows. */
export interface NextRequest {
  type: 'request';
  /** The terms that differ from those of the request that expired. */
  terms?: ApprovalTerms;
  /** The time in which it can be approved, in milliseconds. Absent: as long as for the one that expired. */
  expiresAfterMs?: number | undefined;
  /** True if the call is denied when this request expires too. */
  isLast?: true;
}

/** The effect of a deadline action, and its words for people. */
interface DeadlineEffect {
  /** The words beforehand, after "Until …, then". Safe to show. */
  text: string;
  /** The reason why the request was closed. People read it, and the model if the call is denied. */
  reason: string;
  /** The end of the request: its call is denied, or another request follows. */
  end: { type: 'denial' } | NextRequest;
}

const reason = 'The request for approval expired unanswered.';

/** Describes the effect of each deadline action, and its words for people. */
export function describeDeadlineAction(
  action: DeadlineAction = { type: 'reject' },
): DeadlineEffect {
  switch (action.type) {
    case 'reject':
      return { text: 'it is denied', reason: action.reason ?? reason, end: { type: 'denial' } };
    case 'ask-again':
      return { text: 'it is asked again', reason, end: { type: 'request' } };
    case 'escalate': {
      const { approvers, quorum, expiresAfterMs } = action;
      const names = inertNames(approvers);
      const terms = { approvers, ...(quorum === undefined ? {} : { quorum }) };
      return {
        text: `it goes to ${names}${renderQuorum(quorum)}`,
        reason,
        end: { type: 'request', terms, expiresAfterMs, isLast: true },
      };
    }
  }
}

/** The request that follows one with this demand; `undefined` if none does. */
export function findNextRequest(demand: DeadlineDemand): NextRequest | undefined {
  if (demand.type === 'wait') return undefined;
  const { end } = describeDeadlineAction(demand);
  return end.type === 'request' ? end : undefined;
}

function renderQuorum(quorum: number | undefined): string {
  if (quorum === undefined) return '';
  return ` (${quorum} ${quorum === 1 ? 'approval' : 'approvals'})`;
}
