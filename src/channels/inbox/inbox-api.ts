import { z } from 'zod';
import { boundList } from '../../json/bounded-list.ts';
import { rememberSchema, type Risk, risks } from '../../content/approval-terms.ts';
import { type RequestRights, requestRightsSchema } from '../../content/request-rights.ts';
import { requestKinds, requestStates } from '../../content/request-state.ts';
import {
  type UserInputRequest,
  userInputRequestSchema,
  type UserInputResponseContent,
  userInputResponseSchema,
} from '../../content/user-input.ts';
import type { RequestKind, RequestState } from '../../thread/thread-store-requests.ts';
import { type FormattedPath, formattedPathSchema } from '../../view/field-format.ts';
import { detailSchema, type InboxDetail } from './shown-fields.ts';

export type { FieldFormat } from '../../view/field-format.ts';
export type { InboxDetail } from './shown-fields.ts';

/*
 * What the inbox's route and its clients say to each other, as JSON. Paths are below `<path>/api/`. Times are in milliseconds since 1970, by the
 * server's clock.
 */

/** The lists of an inbox. */
export const inboxLists = ['mine', 'all', 'decided', 'unsettled'] as const;

/**
 * A list: `mine` waits for this person; `all` is every open request that they may see; `decided` has what was decided, the latest first;
 * `unsettled` has lost calls and stuck threads.
 */
export type InboxList = (typeof inboxLists)[number];

/** That somebody is looking at it. A hint, which ends by itself and keeps nobody from answering. */
const claimSchema = z.object({ by: z.string(), isMine: z.boolean(), until: z.number() });

const stateSchema = z.enum(requestStates);

/** Something that needs a person, as it is for one person. */
export interface InboxEntry {
  requestId: string;
  threadId: string;
  agent: string | null;
  tenant: string | null;
  kind: RequestKind;
  state: RequestState;
  toolName: string | null;
  requesters: string[];
  approvers: string[];
  risk: Risk | null;
  createdAt: number;
  expiresAt?: number | undefined;
  votes: number;
  quorum: number;
  decidedBy: string | null;
  decidedAt?: number | undefined;
  /** Of everything that is shown of it. An answer repeats it, and is refused if the request has become another one. */
  digest: string;
  /**
   * The request. Absent for a lost call and a stuck thread, where its text was erased or is damaged, and in lists where the entry is long. So are the
   * `details` then, the input of a lost call and the errors: `GET requests/<id>` has them.
   */
  request?: UserInputRequest | undefined;
  /** Of a lost call: what was called, and why it counts as lost. */
  lostCall?: LostCall | undefined;
  /** Of a stuck thread: how many runs in a row have failed, and the last error. */
  stuck?: { failures: number; error?: string | undefined } | undefined;
  rights: RequestRights;
  /** Whether the person may settle the lost call, or retry the stuck thread. */
  maySettle: boolean;
  formats: FormattedPath[];
  details: InboxDetail[];
  /** The arguments that were masked, as paths. */
  masked: string[][];
  claim?: z.infer<typeof claimSchema> | undefined;
  /** Where the request comes from, in the app. */
  sourceUrl?: string | undefined;
}

interface LostCall {
  toolCallId: string;
  toolName: string;
  input?: unknown;
  error?: string | undefined;
}

/** The schema of `InboxEntry`. */
const inboxEntrySchema: z.ZodType<InboxEntry> = z.object({
  requestId: z.string(),
  threadId: z.string(),
  agent: z.string().nullable(),
  tenant: z.string().nullable(),
  kind: z.enum(requestKinds),
  state: stateSchema,
  toolName: z.string().nullable(),
  requesters: z.array(z.string()),
  approvers: z.array(z.string()),
  risk: z.enum(risks).nullable(),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  votes: z.number(),
  quorum: z.number(),
  decidedBy: z.string().nullable(),
  decidedAt: z.number().optional(),
  digest: z.string(),
  request: userInputRequestSchema.optional(),
  lostCall: z
    .object({
      toolCallId: z.string(),
      toolName: z.string(),
      input: z.unknown().optional(),
      error: z.string().optional(),
    })
    .optional(),
  stuck: z.object({ failures: z.number(), error: z.string().optional() }).optional(),
  rights: requestRightsSchema,
  maySettle: z.boolean(),
  formats: z.array(formattedPathSchema),
  details: z.array(detailSchema),
  masked: z.array(z.array(z.string())),
  claim: claimSchema.optional(),
  sourceUrl: z.string().optional(),
});

/** `GET requests?list=&agent=&tool=&risk=&requester=&text=&order=&after=&limit=` */
export const inboxPageSchema = z.object({
  entries: z.array(inboxEntrySchema),
  /** `after` of the next page. Absent at the end. */
  next: z.string().optional(),
  /** For whom it was read. Each POST repeats it, so that nobody answers as the person who has signed in since. */
  viewer: z.string(),
  /** The server's time. */
  at: z.number(),
  /** The position in the feed of changes from which `changes?after=` goes on. */
  position: z.number(),
});

export type InboxPage = z.infer<typeof inboxPageSchema>;

/** `GET counts`. A count is capped: `hasMore` says that there are more. */
const countSchema = z.object({ count: z.number(), hasMore: z.boolean() });
export const inboxCountsSchema = z.object({
  mine: countSchema,
  all: countSchema,
  unsettled: countSchema,
  viewer: z.string(),
  at: z.number(),
});

export type InboxCounts = z.infer<typeof inboxCountsSchema>;

/** `GET requests/<requestId>` */
export const inboxRequestSchema = z.object({
  entry: inboxEntrySchema,
  /** Earlier decisions about calls of the same tool that the person may see, the latest first, at most ten. Without an `input` that is long. */
  earlier: z.array(
    z.object({
      requestId: z.string(),
      threadId: z.string(),
      state: stateSchema,
      decidedBy: z.string().nullable(),
      decidedAt: z.number().optional(),
      reason: z.string().optional(),
      input: z.unknown().optional(),
    }),
  ),
  /** The conversation, oldest message first. Absent where the app's `maySee` does not allow it. */
  conversation: z
    .array(z.object({ role: z.enum(['user', 'assistant', 'tool']), text: z.string() }))
    .optional(),
  /** Whether a client of a gate waits for the outcome of the call, and until when at the latest. */
  caller: z
    .object({
      state: z.enum(['waiting', 'pending', 'left', 'informed']),
      until: z.number().optional(),
    })
    .optional(),
  /** Whether the person may have the approved call run now, although no client waits for it. */
  mayRun: z.boolean(),
  viewer: z.string(),
  at: z.number(),
});

export type InboxRequest = z.infer<typeof inboxRequestSchema>;

/** The place of a request, and what was shown of it. */
const shownFields = { requestId: z.string(), threadId: z.string(), digest: z.string() };

const answerSchema: z.ZodType<UserInputResponseContent> = userInputResponseSchema;

/** `POST answers`: one or many. Each is recorded or refused on its own. */
export const inboxAnswersSchema = z.strictObject({
  viewer: z.string(),
  answers: boundList(z.strictObject({ ...shownFields, answer: answerSchema }), 200).refine(
    (answers) => answers.length > 0,
    'must not be empty',
  ),
});

export type InboxAnswers = z.infer<typeof inboxAnswersSchema>;

/** What a person has decided alike before, and the standing approval that would have asked them less. */
const suggestionSchema = z.object({
  toolName: z.string(),
  /** Of so many decisions of this person about the tool, so many were approvals. */
  decided: z.number(),
  approved: z.number(),
  /** When they last rejected one. */
  rejectedAt: z.number().optional(),
  /** What the standing approval would be, in words for the person; the server makes it out of the answered request. */
  remember: rememberSchema,
  /** How many of these decisions it would have made. */
  covered: z.number(),
});

export type InboxSuggestion = z.infer<typeof suggestionSchema>;

/** Why something was refused. */
const refusalSchema = z.object({
  code: z.string(),
  message: z.string(),
  field: z.array(z.string()).optional(),
  reason: z.string().optional(),
});

/** The response to `POST answers`: one outcome for each answer, in order. */
export const inboxOutcomesSchema = z.object({
  outcomes: z.array(
    z.discriminatedUnion('status', [
      z.object({
        status: z.literal('recorded'),
        requestId: z.string(),
        /** The request as it is now; it is still `open` after a vote that waits for others. */
        entry: inboxEntrySchema,
        suggestion: suggestionSchema.optional(),
      }),
      z.object({
        status: z.literal('refused'),
        requestId: z.string(),
        error: refusalSchema,
        /** The request as it is now, where the person may see it. */
        entry: inboxEntrySchema.optional(),
      }),
    ]),
  ),
});

export type InboxOutcome = z.infer<typeof inboxOutcomesSchema>['outcomes'][number];

/** `POST actions`: anything else that a person does with one request. Responds with the outcome of one answer. */
export const inboxActionSchema = z.strictObject({
  viewer: z.string(),
  ...shownFields,
  action: z.discriminatedUnion('type', [
    /** Takes one's own approval back. */
    z.strictObject({ type: z.literal('withdraw') }),
    z.strictObject({ type: z.literal('reassign'), to: z.string() }),
    z.strictObject({
      type: z.literal('settle'),
      outcome: z.discriminatedUnion('status', [
        z.strictObject({ status: z.literal('succeeded'), output: z.unknown() }),
        z.strictObject({ status: z.literal('failed'), error: z.string() }),
        z.strictObject({ status: z.literal('retry') }),
      ]),
    }),
    /** Tries a stuck thread once more. */
    z.strictObject({ type: z.literal('retry') }),
    /** Runs an approved call of a gate, although no client waits for it. */
    z.strictObject({ type: z.literal('run') }),
    z.strictObject({ type: z.literal('claim') }),
    z.strictObject({ type: z.literal('release') }),
    /** Makes the standing approval of a suggestion, from the approval that the person has given. */
    z.strictObject({ type: z.literal('remember'), remember: rememberSchema }),
  ]),
});

export type InboxAction = z.infer<typeof inboxActionSchema>;

/**
 * `GET changes?after=`: server-sent events. The id of each is its position, with which a client goes on (`Last-Event-ID`). Its data names a
 * request that the person may see and that has changed, or, without one, says that anything may have: read the lists again.
 */
export const inboxChangeSchema = z.object({
  requestId: z.string().optional(),
  threadId: z.string().optional(),
});

export type InboxChange = z.infer<typeof inboxChangeSchema>;

/** The body of each refusal, with its status: 400, 403, 404, 405, 409, 413, 415, 500. */
export const inboxErrorSchema = z.object({ error: refusalSchema });
