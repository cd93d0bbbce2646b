import { z } from 'zod';

/** How risky a call is, in ascending order. Open requests are shown with the riskiest first. */
export const risks = ['low', 'medium', 'high', 'critical'] as const;

/** How many calls a standing approval covers: those of one thread, those for one person, or all of the agent's. In ascending order. */
export const grantScopes = ['thread', 'principal', 'everyone'] as const;

type GrantScope = (typeof grantScopes)[number];

/** What keeps the standing approvals of each scope: the log of their thread, or the store, for all threads of the agent. */
const keeperOf: Record<GrantScope, 'thread' | 'store'> = {
  thread: 'thread',
  principal: 'store',
  everyone: 'store',
};

/** Whether the store keeps the standing approvals of this scope. */
export function isKeptByStore(scope: GrantScope): boolean {
  return keeperOf[scope] === 'store';
}

/** Names, roles or teams. */
export const approversSchema = z.array(z.string().min(1)).min(1);
/** A time span. */
export const milliseconds = z.number().positive();

/** Which inputs a standing approval covers: the same input, inputs with the same values in the named fields, or any. */
export const grantMatchSchema = z.union([z.enum(['exact', 'any']), z.array(z.string()).min(1)]);

/** A standing approval that an answer asks for, or the widest that a request allows. */
export const rememberSchema = z.strictObject({
  scope: z.enum(grantScopes),
  match: grantMatchSchema,
  /** How long it lasts, in milliseconds. Absent: without limit. */
  expiresAfterMs: milliseconds.optional(),
  /** How many calls it decides. Absent: without limit. */
  uses: z.int().positive().optional(),
});

/** What a request demands of the people who answer it, and what it allows them. */
export const approvalTermsSchema = z.strictObject({
  /** Names, roles or teams, one of which must answer. The agent's `mayAnswer` resolves them. */
  approvers: approversSchema.optional(),
  /** The people for whom the agent works may not answer. */
  notRequester: z.literal(true).optional(),
  /** How many different people must approve. Absent: one. */
  quorum: z.int().min(2).optional(),
  /** An approval must have a reason. */
  requireReason: z.literal(true).optional(),
  /** The fields of the input that an approval may change; `true` for all. Absent: none. */
  editable: z.union([z.literal(true), z.array(z.string()).min(1)]).optional(),
  /** The widest standing approval that an answer may ask for. Absent: none. */
  remember: rememberSchema.optional(),
  risk: z.enum(risks).optional(),
  /** Any JSON of the app's. */
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** What a request demands of the people who answer it, and what it allows them. */
export type ApprovalTerms = z.infer<typeof approvalTermsSchema>;
/** A standing approval that an answer asks for, or the widest that a request allows. */
export type Remember = z.infer<typeof rememberSchema>;
/** How risky a call is. */
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

/** Whether an answer to the request depends on who gives it. */
export function isAnswererLimited({ approvers, notRequester, quorum }: ApprovalTerms): boolean {
  return (approvers ?? notRequester ?? quorum) !== undefined;
}
