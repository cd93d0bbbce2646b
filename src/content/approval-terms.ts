import { z } from 'zod';
import { boundList } from '../json/bounded-list.ts';

/** The risks of a call, in ascending order. Open requests are shown with the riskiest first. */
export const risks = ['low', 'medium', 'high', 'critical'] as const;

/** The scopes of a standing approval, in ascending order: the calls of one thread, those for one person, or all of the agent's. */
export const grantScopes = ['thread', 'principal', 'everyone'] as const;

/** The keeper of the standing approvals of each scope: the log of their thread, or the store, for all threads of the agent. */
const keeperOf: Record<Remember['scope'], 'thread' | 'store'> = {
  thread: 'thread',
  principal: 'store',
  everyone: 'store',
};

/** Checks whether the store keeps the standing approvals of this scope. */
export function isKeptByStore(scope: Remember['scope']): boolean {
  return keeperOf[scope] === 'store';
}

/** Names, roles or teams. */
export const approversSchema = z.array(z.string().min(1)).min(1);
/** A time span. */
export const milliseconds = z.number().positive();

/** The inputs that a standing approval covers: the same input, inputs with the same values in the named fields, or any. */
export const grantMatchSchema = z.union([z.enum(['exact', 'any']), z.array(z.string()).min(1)]);

/* The schema of one that comes from outside, with an answer. */
const sentMatchSchema = z.union([
  z.enum(['exact', 'any']),
  boundList(z.string(), 1_000).refine((names) => names.length > 0),
]);

/** A standing approval that an answer asks for, or the widest that a request allows. */
export interface Remember {
  /** Its scope: the calls of the same `thread`, those for the same `principal`, or those of `everyone`. */
  scope: (typeof grantScopes)[number];
  /** The inputs that it covers: the same input (`exact`), the same values in the named fields, or `any`. */
  match: 'exact' | 'any' | string[];
  /** Its lifetime, in milliseconds. Absent: no limit. */
  expiresAfterMs?: number | undefined;
  /** The number of calls that it decides. Absent: no limit. */
  uses?: number | undefined;
}

/** The demands of a request on the people who answer it, and their permissions. See ADR 34. */
export interface ApprovalTerms {
  /** Names, roles or teams, one of which must answer. The agent's `mayAnswer` resolves them. */
  approvers?: string[] | undefined;
  /** The people for whom the agent works may not answer. */
  notRequester?: true | undefined;
  /** The number of different people who must approve. Absent: one. */
  quorum?: number | undefined;
  /** An approval must have a reason. */
  requireReason?: true | undefined;
  /** The fields of the input that an approval may change; `true` for all. Absent: none. */
  editable?: true | string[] | undefined;
  /** The widest standing approval that an answer may ask for. Absent: none. */
  remember?: Remember | undefined;
  /**
   * The time in which the call may start after approval, in milliseconds; later it is asked about again. Absent: as long as the request
   * could be answered, at least a day.
   */
  startWithinMs?: number | undefined;
  /** The risk of the call. Open requests are shown with the riskiest first. */
  risk?: Risk | undefined;
  /** Any JSON of the app's. */
  metadata?: Record<string, unknown> | undefined;
}

/** The schema of `Remember`. */
export const rememberSchema = z.strictObject({
  scope: z.enum(grantScopes),
  match: sentMatchSchema,
  expiresAfterMs: milliseconds.optional(),
  uses: z.int().positive().optional(),
});

/** The schema of `ApprovalTerms`. */
export const approvalTermsSchema = z.strictObject({
  approvers: approversSchema.optional(),
  notRequester: z.literal(true).optional(),
  quorum: z.int().min(2).optional(),
  requireReason: z.literal(true).optional(),
  editable: z.union([z.literal(true), z.array(z.string()).min(1)]).optional(),
  remember: rememberSchema.optional(),
  startWithinMs: milliseconds.optional(),
  risk: z.enum(risks).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** The risk of a call. */
export type Risk = (typeof risks)[number];

/* Without `strict`, a schema leaves out the other fields. */
const amongOthers = z.object(approvalTermsSchema.shape);
const termNames = approvalTermsSchema.keyof().options;

/** The terms of a request that has none, as most have. */
export const noTerms: ApprovalTerms = Object.freeze({});

/** The terms among the fields of a request. */
export function pickTerms(request: ApprovalTerms): ApprovalTerms {
  const hasNone = termNames.every((name) => request[name] === undefined);
  return hasNone ? noTerms : amongOthers.parse(request);
}

/** Checks whether an answer to the request depends on who gives it. */
export function isAnswererLimited({ approvers, notRequester, quorum }: ApprovalTerms): boolean {
  return (approvers ?? notRequester ?? quorum) !== undefined;
}
