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
  type DeadlineAction,
  deadlineActionSchema,
  shortDeadlineActions,
} from '../content/deadline-action.ts';
import { whyNotStrictJson } from '../json/strict-json.ts';

const yes = z.boolean().optional();

/** The AI SDK's `user-approval` status, with holdpoint's additional fields. */
export const userApprovalSchema = z.strictObject({
  type: z.literal('user-approval'),
  reason: z.string().optional(),
  text: z.union([z.string(), z.custom<(input: never) => string>(isFunction)]).optional(),
  expiresAfterMs: milliseconds.optional(),
  onExpiry: z.union([z.enum([...shortDeadlineActions, 'wait']), deadlineActionSchema]).optional(),
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
    .refine((metadata) => whyNotStrictJson(metadata) === undefined, 'must be JSON')
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

/** How widely an answer may decide later calls too, at most. */
interface RememberLimits<INPUT> {
  /**
   * Whose calls it decides: those of the same `thread` (default), those for the same `principal`, or those of `everyone`. A scope wider
   * than `thread` needs an agent with a name.
   */
  scope?: Remember['scope'] | undefined;
  /** Which inputs it covers: the same input (`exact`, default), the same values in the named fields, or `any`. */
  match?: 'exact' | 'any' | FieldNames<INPUT> | undefined;
  /** How long it lasts, in milliseconds. Default: without limit. */
  expiresAfterMs?: number | undefined;
  /** How many calls it decides. Default: without limit. */
  uses?: number | undefined;
}

/** A rule's demand that people approve a call. `INPUT` is the tool's input. */
export interface UserApproval<INPUT = never> {
  /** The AI SDK's status: a person must approve the call. */
  type: 'user-approval';
  /** Why a person is asked; shown with the request. */
  reason?: string | undefined;
  /** The question for the person, or a function of the input that makes it. Shown beside the arguments. Default: the name of the tool. */
  text?: string | ((input: INPUT) => string) | undefined;
  /** How long the request can be answered, in milliseconds. A call that was approved in time may start later: see `startWithinMs`. Default: no limit. */
  expiresAfterMs?: number | undefined;
  /**
   * What happens when that time is over. `reject` (default): the call is denied, and the model receives the reason. `ask-again`: a new
   * request is opened. `escalate`: a new request for other `approvers`. `wait`: the request stays open.
   */
  onExpiry?:
    | 'reject'
    | 'ask-again'
    | 'wait'
    | { type: 'reject'; reason?: string | undefined }
    | { type: 'ask-again' }
    | { type: 'escalate'; approvers: readonly string[]; expiresAfterMs?: number | undefined }
    | undefined;
  /** How long before that time `request-reminded` is recorded, in milliseconds. Default: never. */
  remindBeforeMs?: number | undefined;
  /**
   * How long after it is approved the call may start, in milliseconds, also if it is started again. Later it is asked about again, and earlier
   * approvals don't count. Default: `expiresAfterMs`, but at least a day.
   */
  startWithinMs?: number | undefined;
  /** Names, roles or teams, one of which must answer. The agent's `mayAnswer` resolves them. Default: everybody. */
  approvers?: readonly string[] | undefined;
  /** Whether the people for whom the agent works (`requesters`) may not answer. Default false. */
  notRequester?: boolean | undefined;
  /** How many different people must approve. One rejection rejects. Default 1. */
  quorum?: number | undefined;
  /** Whether an approval must have a reason. Default false. */
  requireReason?: boolean | undefined;
  /** Whether an approval may change the input, or the names of the fields that it may change. Default false. */
  editable?: boolean | FieldNames<INPUT> | undefined;
  /** Whether an answer may decide later calls too, and how widely at most: by default the same input, in the same thread. */
  remember?: boolean | RememberLimits<INPUT> | undefined;
  /** How risky the call is. Open requests are shown with the riskiest first. */
  risk?: Risk | undefined;
  /** JSON for the app's own use, kept and shown with the request. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
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
    ...(metadata === undefined ? {} : { metadata }),
  };
  const action =
    typeof onExpiry === 'string' && onExpiry !== 'wait' ? { type: onExpiry } : onExpiry;
  return { text, reason, expiresAfterMs, onExpiry: action, remindBeforeMs, terms };
}

/** Why an object of the type `user-approval` is not a valid one; `undefined` for anything else. */
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
