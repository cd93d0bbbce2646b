import { z } from 'zod';
import { boundList } from '../../json/bounded-list.ts';
import { type Risk, risks } from '../../content/approval-terms.ts';
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
import { detailSchema, type InboxDetail } from './inbox-detail.ts';

export type { FieldFormat } from '../../view/field-format.ts';
export type { InboxDetail } from './inbox-detail.ts';

/*
 * The JSON between the inbox's route and its clients. Paths are below `<path>/api/`. Times are in milliseconds since 1970, by the server's
 * clock.
 */

/** The names of an inbox's lists. */
export const inboxLists = ['mine', 'all', 'decided', 'unsettled'] as const;

/**
 * A list: `mine` waits for this person; `all` is every open request that they may see; `decided` has decided requests, the latest first;
 * `unsettled` has lost calls and stuck threads.
 */
export type InboxList = (typeof inboxLists)[number];

const stateSchema = z.enum(requestStates);

/** Something that needs a person, as one person sees it. */
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
  /** The digest of everything that is shown. An answer repeats it, and is refused if the request has changed. */
  digest: string;
  /**
   * The request. Absent for a lost call and a stuck thread, if its text was erased or is damaged, and in lists if the entry is long. Then
   * `details`, the input of a lost call and errors are absent too: `GET requests/<id>` has them.
   */
  request?: UserInputRequest | undefined;
  /** For a lost call: the call, and the reason why it counts as lost. */
  lostCall?: LostCall | undefined;
  /** For a stuck thread: the number of consecutive failed runs, and the last error. */
  stuck?: { failures: number; error?: string | undefined } | undefined;
  rights: RequestRights;
  /** True if the person may settle the lost call, or retry the stuck thread. */
  maySettle: boolean;
  formats: FormattedPath[];
  details: InboxDetail[];
  /** The arguments that were masked, as paths. */
  masked: string[][];
  /** The place in the app that the request comes from. */
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
  sourceUrl: z.string().optional(),
});

/** `GET requests?list=&agent=&tool=&risk=&requester=&text=&order=&after=&limit=` */
export const inboxPageSchema = z.object({
  entries: z.array(inboxEntrySchema),
  /** The `after` of the next page. Absent at the end. */
  next: z.string().optional(),
  /** The viewer for whom it was read. Each POST repeats it, so that nobody answers as a person who has signed in since. */
  viewer: z.string(),
  /** The server's time. */
  at: z.number(),
  /** The position in the feed of changes from which `changes?after=` continues. */
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
  /** Earlier decisions about calls of the same tool that the person may see, the latest first, at most ten. A long `input` is left out. */
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
  /** The client of a gate's call: its state, and the time until which it waits for the outcome at the latest. */
  caller: z
    .object({
      state: z.enum(['waiting', 'pending', 'left', 'informed']),
      until: z.number().optional(),
    })
    .optional(),
  /** True if the person may have the approved call run now, although no client waits for it. */
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

/** The refusal of an answer, an action, or a whole request. */
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

/** `POST actions`: any other action of a person on one request. Responds with the outcome of one answer. */
export const inboxActionSchema = z.strictObject({
  viewer: z.string(),
  ...shownFields,
  action: z.discriminatedUnion('type', [
    /** Takes the person's own approval back. */
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
    /** Retries a stuck thread. */
    z.strictObject({ type: z.literal('retry') }),
    /** Runs an approved call of a gate, although no client waits for it. */
    z.strictObject({ type: z.literal('run') }),
  ]),
});

export type InboxAction = z.infer<typeof inboxActionSchema>;

/**
 * `GET changes?after=`: server-sent events. The id of each is its position, from which a client continues (`Last-Event-ID`). Its data names
 * a changed request that the person may see, or none if anything may have changed: read the lists again.
 */
export const inboxChangeSchema = z.object({
  requestId: z.string().optional(),
  threadId: z.string().optional(),
});

export type InboxChange = z.infer<typeof inboxChangeSchema>;

/** The body of each refusal, with its status: 400, 403, 404, 405, 409, 413, 415, 500. */
export const inboxErrorSchema = z.object({ error: refusalSchema });
