import type {
  InferToolInput,
  SingleToolApprovalFunction,
  Tool,
  ToolApprovalConfiguration,
  ToolApprovalStatus as AiToolApprovalStatus,
  ToolSet,
} from 'ai';
import { z } from 'zod';

/** The AI SDK's `user-approval`, and what holdpoint adds to it. */
const userApprovalSchema = z.strictObject({
  type: z.literal('user-approval'),
  /** Why a person is asked; shown with the request. */
  reason: z.string().optional(),
  /** What the person is asked. Default: the name of the tool. */
  text: z.string().optional(),
  /** How long the request can be approved, in milliseconds from now. Default: for ever. */
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

/** What a rule may say of a call: the AI SDK's statuses, with more to say on `user-approval`. */
export type ToolApprovalStatus = AiToolApprovalStatus | z.input<typeof userApprovalSchema>;

type Rule = (...input: never) => unknown;

/** The AI SDK's function type, with our statuses as what it may return. */
type WithOurStatus<RULE> = RULE extends (...input: infer INPUT) => unknown
  ? (...input: INPUT) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>
  : never;

/**
 * The AI SDK's `toolApproval` (`generateText`, `ToolLoopAgent`): a status or a function for each tool, or one function
 * for all. Rules written for the AI SDK, `@ai-sdk/policy-opa` among them, fit as they are.
 */
export type ToolApproval<TOOLS extends ToolSet, RUNTIME_CONTEXT> =
  | WithOurStatus<Extract<ToolApprovalConfiguration<TOOLS, RUNTIME_CONTEXT>, Rule>>
  | {
      [NAME in keyof TOOLS]?:
        | ToolApprovalStatus
        | WithOurStatus<
            SingleToolApprovalFunction<
              InputOf<TOOLS[NAME]>,
              ContextOf<TOOLS[NAME]>,
              RUNTIME_CONTEXT
            >
          >;
    };

type InputOf<TOOL> = TOOL extends Tool ? InferToolInput<TOOL> : never;
type ContextOf<TOOL> = TOOL extends Tool<never, never, infer CONTEXT> ? CONTEXT : unknown;

/** What is to be done with a call. */
export type Decision =
  | { type: 'run' }
  | { type: 'deny'; reason?: string | undefined }
  | ({ type: 'ask' } & Omit<z.output<typeof userApprovalSchema>, 'type'>);

/** What was found out about a call: the rule's word, and whether the tool is marked as needing approval. */
export interface Findings {
  rule: () => unknown;
  mark: () => unknown;
}

/**
 * How a rule and a tool's own mark combine, failing closed: a denial denies; else a
 * `user-approval`, a rule that throws or one that returns what it may not asks; else `approved` runs, also over a
 * mark; else the mark decides. A rule that returns `undefined` never lifts a mark.
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
    return { type: 'user-approval', reason: 'The approval rule returned what is no status.' };
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
