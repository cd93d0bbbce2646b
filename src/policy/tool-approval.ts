import type {
  ToolApprovalConfiguration,
  ToolApprovalStatus as AiToolApprovalStatus,
  ToolSet,
} from 'ai';
import { z } from 'zod';
import { adviseNearest, describeKind, type SettingFault } from '../content/check-settings.ts';
import type { InputOf, ToolCallRecord } from '../content/tool-call.ts';
import { type InputReads, describeLacked, describeUndeclared } from './input-reads.ts';
import {
  type Asked,
  parseDemands,
  type UserApproval,
  userApprovalSchema,
  whyNotStatus,
} from './user-approval.ts';
import type { ParameterReads } from './watched-reads.ts';

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

/** A rule's result for a call: a status of the AI SDK, or `user-approval` with holdpoint's additional fields. */
export type ToolApprovalStatus<INPUT = never> = AiToolApprovalStatus | UserApproval<INPUT>;

type Rule = (...input: never) => unknown;

/** Options that rules receive in addition to the AI SDK's. */
export interface RuleHistory {
  /**
   * The thread's calls so far, oldest first, with their outcomes; then the earlier calls of the same step, as `proposed`. A budget that
   * counts every call which has not failed or been denied holds for calls that run at the same time too.
   */
  calls: readonly ToolCallRecord[];
  /**
   * Everybody for whom the agent works: the senders of the unanswered messages that led to the call, in order, each once; `null` stands for
   * an unknown person. They are the same for everybody who continues the turn, and in a worker.
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
    ) =>
      | Returned<ToolApprovalStatus<TOOL_INPUT>>
      | PromiseLike<Returned<ToolApprovalStatus<TOOL_INPUT>>>
  : never;

/*
 * With `undefined`, TypeScript takes a function without a `return` for one that returns it. With `void`, it distinguishes them, and
 * `CheckedRules` refuses the former.
 */
type Returned<STATUS> = Exclude<STATUS, undefined> | void;

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

/** The AI SDK's rules by tool. */
type RulesOf<TOOLS extends ToolSet, RUNTIME_CONTEXT> = Exclude<
  ToolApprovalConfiguration<TOOLS, RUNTIME_CONTEXT>,
  Rule
> & { [NAME in keyof TOOLS]?: unknown };

/** The decision on a call. */
export type Decision =
  | { type: 'run' }
  | { type: 'deny'; reason?: string | undefined }
  /** The rule has a mistake: the call can't run, although nobody has denied it. */
  | { type: 'fail'; error: string }
  | ({ type: 'ask' } & Asked);

/** A setting of the app that decides about a call. */
export type Setting = {
  /** Reports what is wrong with it. */
  report: (fault: SettingFault) => void;
} & (
  | { value: unknown; ask?: never }
  /** The function that decides, and its reads of the tool's input, of the run's context, and of its parameters. */
  | { ask: () => unknown; reads: InputReads; parameters: ParameterReads; toolName: string }
);

/**
 * Decides about a call by the app's `rule` and the tool's `needsApproval`, its `mark`, and asks a person when in doubt. A rule that
 * returns `denied` denies the call. With one that returns an invalid `user-approval` object, which may have meant to ask only some
 * people, the call fails. One that returns `user-approval` or another invalid status, or that throws, asks a person. One that returns
 * `approved` runs the call, even if the tool's `needsApproval` would ask. In all other cases `needsApproval` decides. Where one of the
 * two has read a field that its tool doesn't have, a name that it doesn't get, or a field of the `runtimeContext` in a run without it, a
 * call that would run is asked about, and no standing approval decides.
 */
export async function decide({ rule, mark }: { rule: Setting; mark: Setting }): Promise<Decision> {
  const status = await readStatus(rule);
  const doubtOfRule = rule.ask && findDoubt(rule);
  switch (status.type) {
    case 'denied':
      return { type: 'deny', reason: status.reason };
    case 'invalid':
      return { type: 'fail', error: `Not run. ${status.error}` };
    case 'user-approval':
      return { type: 'ask', ...omitRemember(parseDemands(status), doubtOfRule) };
    case 'approved':
      return askIfDoubtful(doubtOfRule);
    case undefined:
    case 'not-applicable': {
      if (await readMark(mark)) return { type: 'ask' };
      const doubtOfMark = mark.ask && findDoubt(mark);
      return askIfDoubtful(doubtOfRule ?? doubtOfMark);
    }
  }
}

/** Finds the reason why a function's result can't be relied on. A mistake is reported; a run without its context is not a mistake. */
function findDoubt({
  reads,
  parameters,
  toolName,
  report,
}: Extract<Setting, { reads: InputReads }>): string | undefined {
  const problems = [describeUndeclared(reads, toolName) ?? [], parameters.problem ?? []].flat();
  if (problems.length === 0) return describeLacked(reads);
  const problem = problems.join(' ');
  report({ kind: 'unknown-field', problem });
  return `The approval rule may be mistaken: ${problem}`;
}

function askIfDoubtful(doubt: string | undefined): Decision {
  return doubt === undefined ? { type: 'run' } : { type: 'ask', reason: doubt };
}

/** Omits standing approvals from the demands of a rule that can't be relied on: they would run calls that it should have asked about. */
function omitRemember(asked: Asked, doubt: string | undefined): Asked {
  if (doubt === undefined) return asked;
  const { remember: _remember, ...terms } = asked.terms ?? {};
  return { ...asked, reason: asked.reason ?? doubt, terms };
}

type Status = z.output<typeof statusSchema> | { type: 'invalid'; error: string };

/** Reads the status of a rule; one that is no function has it at once. */
function readStatus(rule: Setting): Status | Promise<Status> {
  if (rule.ask !== undefined || !isPlainStatus(rule.value)) return runRule(rule);
  return { type: rule.value };
}

/** Finds the reason why a rule of the agent's options can't be used; `undefined` if it can. */
export function whyNotRule(rule: unknown): string | undefined {
  if (typeof rule === 'function' || isPlainStatus(rule)) return undefined;
  const isStatus = !(rule instanceof Promise) && statusSchema.safeParse(rule).success;
  return isStatus ? undefined : (whyNotStatus(rule) ?? describeStatus(rule));
}

const statuses = {
  approved: true,
  denied: true,
  'not-applicable': true,
  'user-approval': true,
} satisfies Record<NonNullable<Extract<AiToolApprovalStatus, string>>, true>;

/** Describes an invalid status that is not of the type `user-approval`. */
function describeStatus(status: unknown): string {
  const type: unknown = typeof status === 'string' ? status : Reflect.get(Object(status), 'type');
  if (typeof type !== 'string')
    return `A status is a text or an object with a type; got ${describeKind(status)}.`;
  if (Object.hasOwn(statuses, type))
    return `The status '${type}' takes no setting but a reason, which is a text.`;
  const known = Object.keys(statuses).join(', ');
  return `'${type.slice(0, 100)}' is none of the statuses ${known}${adviseNearest(type, statuses)}`;
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
    rule.report({ kind: 'invalid', problem: why ?? `${invalidStatus} ${describeStatus(status)}` });
    if (why !== undefined) return { type: 'invalid', error: why };
    return { type: 'user-approval', reason: invalidStatus };
  } catch (error) {
    rule.report({ kind: 'error', problem: failedRule, error });
    return { type: 'user-approval', reason: failedRule };
  }
}

const invalidStatus = 'The approval rule returned an invalid status.';
const failedRule = 'The approval rule failed.';

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

/**
 * The rule of a tool. Own properties only: a tool may be called `constructor`. Including getters: bundlers make them of a module's exports.
 */
export function findOwnRule(rules: unknown, name: string): unknown {
  if (typeof rules !== 'object' || rules === null || !Object.hasOwn(rules, name)) return undefined;
  return Reflect.get(rules, name);
}
