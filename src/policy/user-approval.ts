import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import {
  type ApprovalTerms,
  approvalTermsSchema,
  grantMatchSchema,
  isKeptByStore,
  milliseconds,
  type Remember,
  rememberSchema,
  type Risk,
} from '../content/approval-terms.ts';
import { adviseNearest } from '../content/check-settings.ts';
import {
  deadlineActionSchema,
  type DeadlineDemand,
  type DeadlineSetting,
  readDeadlineDemand,
  shortDemands,
} from '../content/deadline-action.ts';
import { readStrictJson } from '../json/json-form.ts';
import { copyAsLogged } from '../json/tagged-json.ts';

const yes = z.boolean().optional();

/** The AI SDK's `user-approval` status, with holdpoint's additional fields. */
export const userApprovalSchema = z.strictObject({
  type: z.literal('user-approval'),
  reason: z.string().optional(),
  text: z.union([z.string(), z.custom<(input: never) => string>(isFunction)]).optional(),
  expiresAfterMs: milliseconds.optional(),
  onExpiry: z.union([z.enum(shortDemands), deadlineActionSchema]).optional(),
  remindBeforeMs: milliseconds.optional(),
  startWithinMs: approvalTermsSchema.shape.startWithinMs,
  approvers: approvalTermsSchema.shape.approvers,
  notRequester: yes,
  quorum: z.int().positive().optional(),
  requireReason: yes,
  editable: z.union([z.boolean(), z.array(z.string()).min(1)]).optional(),
  remember: z
    .union([
      z.boolean(),
      rememberSchema.extend({
        scope: rememberSchema.shape.scope.optional(),
        match: grantMatchSchema.optional(),
      }),
    ])
    .optional(),
  risk: approvalTermsSchema.shape.risk,
  metadata: z
    .record(z.string(), z.unknown())
    .refine((metadata) => 'json' in readStrictJson(metadata), 'must be JSON')
    .optional(),
} satisfies Record<keyof UserApproval, z.ZodType>);

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

/* Any text, in a union that an editor completes with the names which are known. */
type AnyName = string & {};

/** The names of an input's fields; any name if they are not known. */
export type FieldOf<INPUT> = unknown extends INPUT
  ? AnyName
  : INPUT extends object
    ? keyof INPUT & string
    : never;

/* Takes any name, as `CheckedRules` says which are wrong. With a template among them, the compiler infers the names and not `string[]`. */
type FieldNames<INPUT> = readonly (FieldOf<INPUT> | AnyName | `${bigint}`)[];

/** The widest way in which an answer may decide later calls too. */
interface RememberLimits<INPUT> {
  /**
   * Its scope: the calls of the same `thread` (default), those for the same `principal`, or those of `everyone`. A scope wider than
   * `thread` needs an agent with a name.
   */
  scope?: Remember['scope'] | undefined;
  /** The inputs that it covers: the same input (`exact`, default), the same values in the named fields, or `any`. */
  match?: 'exact' | 'any' | FieldNames<INPUT> | undefined;
  /** Its lifetime, in milliseconds. Default: no limit. */
  expiresAfterMs?: number | undefined;
  /** The number of calls that it decides. Default: no limit. */
  uses?: number | undefined;
}

/** A rule's demand that people approve a call. `INPUT` is the tool's input. */
export interface UserApproval<INPUT = never> {
  /** The AI SDK's status: a person must approve the call. */
  type: 'user-approval';
  /** The reason why a person is asked; shown with the request. */
  reason?: string | undefined;
  /** The question for the person, or a function of the input that makes it. Shown beside the arguments. Default: the name of the tool. */
  text?: string | ((input: INPUT) => string) | undefined;
  /**
   * The time in which the request can be answered, in milliseconds. A call that was approved in time may start later: see `startWithinMs`.
   * Default: no limit.
   */
  expiresAfterMs?: number | undefined;
  /**
   * The action when that time is over. Default `reject`: the call is denied, and the model receives the reason. `ask-again` opens a new
   * request, an `escalate` object one for other `approvers`. With `wait` the request stays open, and there is only a reminder.
   */
  onExpiry?: DeadlineSetting | undefined;
  /** The time before the deadline at which `request-reminded` is recorded, in milliseconds. Default: never. */
  remindBeforeMs?: number | undefined;
  /**
   * The time in which the call may start after approval, in milliseconds, also if it is started again. Later it is asked about again, and
   * earlier approvals don't count. Default: `expiresAfterMs`, but at least a day.
   */
  startWithinMs?: number | undefined;
  /** Names, roles or teams, one of which must answer. The agent's `mayAnswer` resolves them. Default: everybody. */
  approvers?: readonly string[] | undefined;
  /** True if the people for whom the agent works (`requesters`) may not answer. Default false. */
  notRequester?: boolean | undefined;
  /** The number of different people who must approve. One rejection rejects. Default 1. */
  quorum?: number | undefined;
  /** True if an approval must have a reason. Default false. */
  requireReason?: boolean | undefined;
  /** True if an approval may change the input, or the names of the fields that it may change. Default false. */
  editable?: boolean | FieldNames<INPUT> | undefined;
  /** True if an answer may decide later calls too, and how widely at most: by default the same input, in the same thread. */
  remember?: boolean | RememberLimits<INPUT> | undefined;
  /** The risk of the call. Open requests are shown with the riskiest first. */
  risk?: Risk | undefined;
  /** JSON for the app's own use, kept and shown with the request. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Finds the reason why an agent without a name can't ask on these terms: such agents share a store's standing approvals. `undefined` if it
 * can.
 */
export function whyNotNameless({ remember }: ApprovalTerms = {}): string | undefined {
  if (remember === undefined || !isKeptByStore(remember.scope)) return undefined;
  return `The approval rule lets answers be remembered with the scope '${remember.scope}', which needs an agent with a name: give the agent a name, or use the scope 'thread'.`;
}

/** The parts, in addition to its call, from which a request is made. */
export interface Asked {
  /** The app's key of the request; checked. */
  key?: string | undefined;
  text?: string | ((input: never) => string) | undefined;
  reason?: string | undefined;
  /** The time until it expires, in milliseconds from now. */
  expiresAfterMs?: number | undefined;
  onExpiry?: DeadlineDemand | undefined;
  remindBeforeMs?: number | undefined;
  terms?: ApprovalTerms | undefined;
  /** The id of the expired request that it follows. */
  follows?: string | undefined;
}

/** Parses the demands of a rule, with their defaults. */
export function parseDemands({
  type: _type,
  text,
  reason,
  expiresAfterMs,
  onExpiry,
  remindBeforeMs,
  startWithinMs,
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
    ...(startWithinMs === undefined ? {} : { startWithinMs }),
    ...(risk === undefined ? {} : { risk }),
    ...(metadata === undefined ? {} : { metadata: copyAsLogged(metadata) }),
  };
  const demand = onExpiry && readDeadlineDemand(onExpiry);
  return { text, reason, expiresAfterMs, onExpiry: demand, remindBeforeMs, terms };
}

/** Finds the reason why an object of the type `user-approval` is not valid; `undefined` for anything else. */
export function whyNotStatus(status: unknown): string | undefined {
  if (typeof status !== 'object' || status === null) return undefined;
  if (Reflect.get(status, 'type') !== 'user-approval') return undefined;
  const { error } = userApprovalSchema.safeParse(status);
  return error && `The approval rule is invalid: ${describeIssues(error)}`;
}

function describeIssues(error: z.ZodError): string {
  const unknown = error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && issue.path.length === 0 ? issue.keys : [],
  );
  if (unknown.length === 0) return renderSchemaError(error);
  const known = userApprovalSchema.shape;
  return unknown
    .map((name) => `it has no setting '${name.slice(0, 100)}'${adviseNearest(name, known)}`)
    .join(' ');
}

/** The fields of the input that a rule's demands name. */
export function listNamedFields({ editable, remember }: ApprovalTerms = {}): string[] {
  const lists = [editable, remember?.match].filter((value) => Array.isArray(value));
  return [...new Set(lists.flat())];
}
