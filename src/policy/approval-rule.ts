import { z } from 'zod';
import {
  type ApprovalTerms,
  approvalTermsSchema,
  type ExpiryAction,
  expiryActionSchema,
  grantMatchSchema,
  rememberSchema,
  isKeptByStore,
} from '../content/approval-terms.ts';
import { whyNotStrictJson } from './strict-json.ts';

const milliseconds = z.number().positive();
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
  onExpiry: z.union([z.enum(['reject', 'ask-again', 'wait']), expiryActionSchema]).optional(),
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
  onExpiry?: ExpiryAction | 'wait' | undefined;
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
  const action = onExpiry === 'reject' || onExpiry === 'ask-again' ? { type: onExpiry } : onExpiry;
  return { text, reason, expiresAfterMs, onExpiry: action, remindBeforeMs, terms };
}
