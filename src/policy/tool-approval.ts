import type {
  InferToolInput,
  Tool,
  ToolApprovalConfiguration,
  ToolApprovalStatus as AiToolApprovalStatus,
  ToolSet,
} from 'ai';
import { z } from 'zod';
import {
  type ApprovalTerms,
  approvalTermsSchema,
  grantMatchSchema,
  rememberSchema,
  isKeptByStore,
  milliseconds,
} from '../content/approval-terms.ts';
import {
  type DeadlineAction,
  deadlineActionSchema,
  shortDeadlineActions,
} from '../content/deadline-action.ts';
import type { SettingFault } from '../content/check-settings.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { continueWith } from '../content/waiting.ts';
import { type InputReads, describeLacked, describeUndeclared } from './input-reads.ts';
import { whyNotStrictJson } from './strict-json.ts';

const yes = z.boolean().optional();

/** The AI SDK's `user-approval` status, with holdpoint's additional fields. */
export const userApprovalSchema = z.strictObject({
  type: z.literal('user-approval'),
  /** Why a person is asked; shown with the request. */
  reason: z.string().optional(),
  /** The question for the person, or a function of the input that makes it. Shown beside the arguments. Default: the name of the tool. */
  text: z.union([z.string(), z.custom<(input: never) => string>(isFunction)]).optional(),
  /** How long the request can be approved, in milliseconds. Default: no limit. */
  expiresAfterMs: milliseconds.optional(),
  /**
   * What happens when that time is over. `reject` (default): the call is denied, and the model receives the reason. `ask-again`: a new
   * request is opened. `escalate`: a new request for other `approvers`. `wait`: the request stays open.
   */
  onExpiry: z.union([z.enum([...shortDeadlineActions, 'wait']), deadlineActionSchema]).optional(),
  /** How long before that time `request-reminded` is recorded, in milliseconds. Default: never. */
  remindBeforeMs: milliseconds.optional(),
  /** Names, roles or teams, one of which must answer. The agent's `mayAnswer` resolves them. Default: everybody. */
  approvers: approvalTermsSchema.shape.approvers,
  /** Whether the people for whom the agent works (`requesters`) may not answer. Default false. */
  notRequester: yes,
  /** How many different people must approve. One rejection rejects. Default 1. */
  quorum: z.int().positive().optional(),
  /** Whether an approval must have a reason. Default false. */
  requireReason: yes,
  /** Whether an approval may change the input, or the names of the fields that it may change. Default false. */
  editable: z.union([z.boolean(), z.array(z.string()).min(1)]).optional(),
  /**
   * Whether an answer may decide later calls too, and how widely at most: by default the same input, in the same thread. A list is the
   * fields that must be equal. A scope wider than `thread` needs an agent with a name.
   */
  remember: z
    .union([
      z.boolean(),
      rememberSchema.extend({
        scope: rememberSchema.shape.scope.optional(),
        match: grantMatchSchema.optional(),
      }),
    ])
    .optional(),
  /** How risky the call is. Open requests are shown with the riskiest first. */
  risk: approvalTermsSchema.shape.risk,
  /** JSON for the app's own use, kept and shown with the request. */
  metadata: z
    .record(z.string(), z.unknown())
    .refine((metadata) => whyNotStrictJson(metadata) === undefined, 'must be JSON')
    .optional(),
});

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/* Rules are often written `as const`. */
type ReadonlyLists<VALUE> = VALUE extends readonly (infer ITEM)[]
  ? readonly ITEM[]
  : VALUE extends object
    ? { [NAME in keyof VALUE]: ReadonlyLists<VALUE[NAME]> }
    : VALUE;

/** A rule's demand that people approve a call. `INPUT` is the tool's input. */
export interface UserApproval<INPUT = never> extends ReadonlyLists<
  Omit<z.input<typeof userApprovalSchema>, 'text'>
> {
  /** The question for the person, or a function of the input that makes it. Shown beside the arguments. Default: the name of the tool. */
  text?: string | ((input: INPUT) => string) | undefined;
}

/** Why an agent without a name can't ask on these terms: agents without one share a store's standing approvals. `undefined` if it can. */
export function whyNotNameless({ remember }: ApprovalTerms = {}): string | undefined {
  if (remember === undefined || !isKeptByStore(remember.scope)) return undefined;
  return `The approval rule lets answers be remembered with the scope '${remember.scope}', which needs an agent with a name: give the agent a name, or use the scope 'thread'.`;
}

/** What a request is made from, besides its call. */
export interface Asked {
  /** The app's key of the request; checked. */
  key?: string | undefined;
  text?: string | ((input: never) => string) | undefined;
  reason?: string | undefined;
  /** In milliseconds from now. */
  expiresAfterMs?: number | undefined;
  onExpiry?: DeadlineAction | 'wait' | undefined;
  remindBeforeMs?: number | undefined;
  terms?: ApprovalTerms | undefined;
  /** The id of the expired request that it follows. */
  follows?: string | undefined;
}

/** What a rule demands, with its defaults. */
export function parseDemands({
  type: _type,
  text,
  reason,
  expiresAfterMs,
  onExpiry,
  remindBeforeMs,
  approvers,
  notRequester,
  quorum = 1,
  requireReason,
  editable,
  remember,
  risk,
  metadata,
}: z.output<typeof userApprovalSchema>): Asked {
  const { scope = 'thread', match = 'exact', ...limits } = remember === true ? {} : remember || {};
  const terms = {
    ...(approvers === undefined ? {} : { approvers }),
    ...(notRequester === true ? { notRequester } : {}),
    ...(quorum > 1 ? { quorum } : {}),
    ...(requireReason === true ? { requireReason } : {}),
    ...(editable === undefined || editable === false ? {} : { editable }),
    ...(remember === undefined || remember === false
      ? {}
      : { remember: { scope, match, ...limits } }),
    ...(risk === undefined ? {} : { risk }),
    ...(metadata === undefined ? {} : { metadata }),
  };
  const action =
    typeof onExpiry === 'string' && onExpiry !== 'wait' ? { type: onExpiry } : onExpiry;
  return { text, reason, expiresAfterMs, onExpiry: action, remindBeforeMs, terms };
}

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
export type ToolApprovalStatus<INPUT = never> = AiToolApprovalStatus | UserApproval<INPUT>;

type Rule = (...input: never) => unknown;

/** What rules receive besides the AI SDK's options. */
interface RuleHistory {
  /**
   * The thread's calls so far, oldest first, with their outcomes; then the earlier calls of the same step, as `proposed`. A budget that
   * counts every call which has not failed or been denied holds for calls that run at the same time too.
   */
  calls: readonly ToolCallRecord[];
  /**
   * Everybody for whom the agent works: whose unanswered messages led to the call, in order, each once; `null` stands for somebody unknown.
   * It is the same whoever continues the turn, and in a worker.
   */
  requesters: readonly unknown[];
}

/** The parameters of a rule, with holdpoint's options in the last. */
type WithHistory<INPUT extends unknown[]> = INPUT extends [...infer FIRST, infer OPTIONS]
  ? [...FIRST, OPTIONS & RuleHistory]
  : INPUT;

/** A function type of the AI SDK that may also return holdpoint's statuses. */
type WithOurStatus<RULE, TOOL_INPUT = never> = RULE extends (...input: infer INPUT) => unknown
  ? (
      ...input: WithHistory<INPUT>
    ) => ToolApprovalStatus<TOOL_INPUT> | PromiseLike<ToolApprovalStatus<TOOL_INPUT>>
  : never;

/**
 * The `toolApproval` option of the AI SDK (`generateText`, `ToolLoopAgent`): a status or a function for each tool, or one function for all.
 * Rules that were written for the AI SDK, such as those of `@ai-sdk/policy-opa`, work unchanged.
 */
export type ToolApproval<TOOLS extends ToolSet, RUNTIME_CONTEXT> =
  | WithOurStatus<Extract<ToolApprovalConfiguration<TOOLS, RUNTIME_CONTEXT>, Rule>>
  | {
      [NAME in keyof TOOLS]?:
        | ToolApprovalStatus<InputOf<TOOLS[NAME]>>
        | WithOurStatus<Extract<RulesOf<TOOLS, RUNTIME_CONTEXT>[NAME], Rule>, InputOf<TOOLS[NAME]>>;
    };

type InputOf<TOOL> = TOOL extends Tool ? InferToolInput<TOOL> : never;

/** The AI SDK's rules by tool. */
type RulesOf<TOOLS extends ToolSet, RUNTIME_CONTEXT> = Exclude<
  ToolApprovalConfiguration<TOOLS, RUNTIME_CONTEXT>,
  Rule
> & { [NAME in keyof TOOLS]?: unknown };

/** What to do with a call. */
export type Decision =
  | { type: 'run' }
  | { type: 'deny'; reason?: string | undefined }
  | ({ type: 'ask' } & Asked);

/** A setting of the app that decides about a call. */
export type Setting = {
  /** Reports what is wrong with it. */
  report: (fault: SettingFault) => void;
} & (
  | { value: unknown; ask?: never }
  /** A function that says it, and what it has read of the tool's input and of the run's context. */
  | { ask: () => unknown; reads: InputReads; toolName: string }
);

/** What a decision is based on: the app's rule, and the tool's `needsApproval`. */
interface Settings {
  rule: Setting;
  mark: Setting;
}

/**
 * Decides about a call, and asks a person when in doubt. A rule that returns `denied` denies the call, as does one that returns an invalid
 * `user-approval` object, which may have meant to ask only some people. One that returns `user-approval` or another invalid status, or that
 * throws, asks a person. One that returns `approved` runs the call, whatever the tool's `needsApproval` says. In all other cases
 * `needsApproval` decides. Where one of the two has read a field that its tool doesn't have, or one of the `runtimeContext` in a run without
 * it, a call that would run is asked about, and no standing approval decides.
 */
export function decide({ rule, mark }: Settings): Decision | Promise<Decision> {
  return continueWith(readStatus(rule), (status): Decision | Promise<Decision> => {
    const doubtOfRule = rule.ask && findDoubt(rule);
    switch (status.type) {
      case 'denied':
        return { type: 'deny', reason: status.reason };
      case 'user-approval':
        return { type: 'ask', ...omitRemember(parseDemands(status), doubtOfRule) };
      case 'approved':
        return askIfDoubtful(doubtOfRule);
      case undefined:
      case 'not-applicable':
        return continueWith(readMark(mark), (isAsked): Decision => {
          const doubtOfMark = mark.ask && findDoubt(mark);
          return isAsked ? { type: 'ask' } : askIfDoubtful(doubtOfRule ?? doubtOfMark);
        });
    }
  });
}

/** Why what a function says can't be relied on. A mistake is reported; a run without its context is none. */
function findDoubt({
  reads,
  toolName,
  report,
}: Extract<Setting, { reads: InputReads }>): string | undefined {
  const problem = describeUndeclared(reads, toolName);
  if (problem === undefined) return describeLacked(reads);
  report({ kind: 'unknown-field', problem });
  return `The approval rule may be mistaken: ${problem}`;
}

function askIfDoubtful(doubt: string | undefined): Decision {
  return doubt === undefined ? { type: 'run' } : { type: 'ask', reason: doubt };
}

/** What a rule demands; if it can't be relied on, without standing approvals, which would run what it should have asked about. */
function omitRemember(asked: Asked, doubt: string | undefined): Asked {
  if (doubt === undefined) return asked;
  const { remember: _remember, ...terms } = asked.terms ?? {};
  return { ...asked, reason: asked.reason ?? doubt, terms };
}

type Status = z.output<typeof statusSchema>;

/** What a rule says; one that is no function says it at once. */
function readStatus(rule: Setting): Status | Promise<Status> {
  if (rule.ask !== undefined || !isPlainStatus(rule.value)) return runRule(rule);
  return { type: rule.value };
}

function isPlainStatus(status: unknown): status is 'user-approval' | undefined {
  return status === undefined || status === 'user-approval';
}

async function runRule(rule: Setting): Promise<Status> {
  try {
    const status = await (rule.ask === undefined ? rule.value : rule.ask());
    if (isPlainStatus(status)) return { type: status };
    const parsed = statusSchema.safeParse(status);
    if (parsed.success) return parsed.data;
    const why = whyNotStatus(status);
    rule.report({
      kind: 'invalid',
      problem: why ?? `${invalidStatus} ${z.prettifyError(parsed.error)}`,
    });
    if (why !== undefined) return { type: 'denied', reason: why };
    return { type: 'user-approval', reason: invalidStatus };
  } catch (error) {
    rule.report({ kind: 'error', problem: failedRule, error });
    return { type: 'user-approval', reason: failedRule };
  }
}

const invalidStatus = 'The approval rule returned an invalid status.';
const failedRule = 'The approval rule failed.';

/** Why an object of the type `user-approval` is not a valid one; `undefined` for anything else. */
export function whyNotStatus(status: unknown): string | undefined {
  if (typeof status !== 'object' || status === null) return undefined;
  if (Reflect.get(status, 'type') !== 'user-approval') return undefined;
  const { error } = userApprovalSchema.safeParse(status);
  return error && `The approval rule is invalid: ${z.prettifyError(error)}`;
}

function readMark(mark: Setting): boolean | Promise<boolean> {
  if (mark.ask !== undefined || typeof mark.value !== 'boolean') return isMarked(mark);
  return mark.value;
}

async function isMarked(mark: Setting): Promise<boolean> {
  try {
    const found = await (mark.ask === undefined ? mark.value : mark.ask());
    if (typeof found !== 'boolean') mark.report({ kind: 'invalid', problem: invalidMark });
    return found !== false;
  } catch (error) {
    mark.report({ kind: 'error', problem: 'needsApproval failed.', error });
    return true;
  }
}

const invalidMark = 'needsApproval gave neither true nor false.';

/** The rule of a tool. Own properties only: a tool may be called `constructor`. Including getters: bundlers make them of a module's exports. */
export function findOwnRule(rules: unknown, name: string): unknown {
  if (typeof rules !== 'object' || rules === null || !Object.hasOwn(rules, name)) return undefined;
  return Reflect.get(rules, name);
}
