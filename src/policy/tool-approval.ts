import type {
  ToolApprovalConfiguration,
  ToolApprovalStatus as AiToolApprovalStatus,
  ToolSet,
} from 'ai';
import { z } from 'zod';

/** The AI SDK's `user-approval` status, with holdpoint's additional fields. */
const userApprovalSchema = z.strictObject({
  type: z.literal('user-approval'),
  /** Why a person is asked; shown with the request. */
  reason: z.string().optional(),
  /** The question for the person. Default: the name of the tool. */
  text: z.string().optional(),
  /** How long the request can be approved, in milliseconds. Default: no limit. */
  expiresAfterMs: z.number().positive().optional(),
});

const reason = z.string().optional();
const statusSchema = z.preprocess(
  (status) => (typeof status === 'string' || status === undefined ? { type: status } : status),
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal(['not-applicable', undefined]),
      reason: z.undefined().optional(),
    }),
    z.strictObject({ type: z.literal('approved'), reason }),
    z.strictObject({ type: z.literal('denied'), reason }),
    userApprovalSchema,
  ]),
);

/** What a rule may return for a call: a status of the AI SDK, or `user-approval` with holdpoint's additional fields. */
export type ToolApprovalStatus = AiToolApprovalStatus | z.input<typeof userApprovalSchema>;

type Rule = (...input: never) => unknown;

/** A function type of the AI SDK that may also return holdpoint's statuses. */
type WithOurStatus<RULE> = RULE extends (...input: infer INPUT) => unknown
  ? (...input: INPUT) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>
  : never;

/**
 * The `toolApproval` option of the AI SDK (`generateText`, `ToolLoopAgent`): a status or a function for each tool, or one function for all.
 * Rules that were written for the AI SDK, such as those of `@ai-sdk/policy-opa`, work unchanged.
 */
export type ToolApproval<TOOLS extends ToolSet, RUNTIME_CONTEXT> =
  | WithOurStatus<Extract<ToolApprovalConfiguration<TOOLS, RUNTIME_CONTEXT>, Rule>>
  | {
      [NAME in keyof TOOLS]?:
        | ToolApprovalStatus
        | WithOurStatus<Extract<RulesOf<TOOLS, RUNTIME_CONTEXT>[NAME], Rule>>;
    };

/** The AI SDK's rules by tool. */
type RulesOf<TOOLS extends ToolSet, RUNTIME_CONTEXT> = Exclude<
  ToolApprovalConfiguration<TOOLS, RUNTIME_CONTEXT>,
  Rule
> & { [NAME in keyof TOOLS]?: unknown };

/** What to do with a call. */
export type Decision =
  | { type: 'run' }
  | { type: 'deny'; reason?: string | undefined }
  | ({ type: 'ask' } & Omit<z.output<typeof userApprovalSchema>, 'type'>);

/** What a decision is based on: the app's rule, and the tool's `needsApproval`. */
export interface Findings {
  rule: () => unknown;
  mark: () => unknown;
}

/**
 * Decides about a call, and asks a person when in doubt. A rule that returns `denied` denies the call. One that returns `user-approval` or an
 * invalid status, or that throws, asks a person. One that returns `approved` runs the call, whatever the tool's `needsApproval` says. In all
 * other cases `needsApproval` decides.
 */
export async function decide({ rule, mark }: Findings): Promise<Decision> {
  const status = await ruled(rule);
  switch (status.type) {
    case 'denied':
      return { type: 'deny', reason: status.reason };
    case 'user-approval':
      return { ...status, type: 'ask' };
    case 'approved':
      return { type: 'run' };
    case undefined:
    case 'not-applicable':
      return (await isMarked(mark)) ? { type: 'ask' } : { type: 'run' };
  }
}

async function ruled(rule: () => unknown): Promise<z.output<typeof statusSchema>> {
  try {
    const status = await rule();
    if (status === undefined || status === 'user-approval') return { type: status };
    const parsed = statusSchema.safeParse(status);
    if (parsed.success) return parsed.data;
    return { type: 'user-approval', reason: 'The approval rule returned an invalid status.' };
  } catch {
    return { type: 'user-approval', reason: 'The approval rule failed.' };
  }
}

async function isMarked(mark: () => unknown): Promise<boolean> {
  try {
    return (await mark()) !== false;
  } catch {
    return true;
  }
}
