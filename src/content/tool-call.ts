import type { InferToolInput, JSONValue, Tool, ToolResultPart, ToolSet } from 'ai';
import { z } from 'zod';

/** A call that a model proposed: what a person is shown, and what runs. */
export const toolCallSchema = z.strictObject({
  /** The model's id of the call. Unique in the thread, but never an authority: models choose it. */
  toolCallId: z.string(),
  toolName: z.string(),
  /** What the tool's input schema made of the model's text; strict JSON. */
  input: z.unknown(),
});

/**
 * A call that a model proposed: what a person is shown, and what runs. With the `TOOLS` of an agent, `toolName` tells them apart, and
 * `input` has the type of the tool's input schema: the schema's output, as the JSON that the log holds. The types describe the tools
 * that the agent has now; a call that an older version of the app recorded, or that the provider runs, can differ from them. Without
 * `TOOLS`, `input` is `unknown`.
 */
export type ToolCall<TOOLS extends ToolSet = ToolSet> = z.infer<typeof toolCallSchema> &
  NamedCall<TOOLS>;

/* Nothing is known of tools whose names are not, as those of MCP servers. */
type NamedCall<TOOLS extends ToolSet> = string extends keyof TOOLS
  ? unknown
  : { [NAME in keyof TOOLS]: { toolName: NAME; input: InputOf<TOOLS[NAME]> } }[keyof TOOLS];

type InputOf<TOOL> = TOOL extends Tool ? InferToolInput<TOOL> : never;

/** What became of a call; every call ends in exactly one of these. */
export type ToolCallOutcome =
  /** `output` is what the tool returned, as JSON; `modelOutput` what its `toModelOutput` made of it for the model. */
  | { status: 'succeeded'; output: JSONValue; modelOutput?: ToolResultPart['output'] | undefined }
  /** The tool threw, or the call could not be run. `error` is what the model is told; with `endsTurn`, at the next message. */
  | { status: 'failed'; error: string; endsTurn?: true | undefined }
  /** A person or a rule said no, or the request closed unanswered. */
  | { status: 'denied'; reason?: string | undefined }
  /** The provider is told that it may run its own call; what comes of it is in what the model says next. */
  | { status: 'forwarded' };

/** The schema of `ToolCallOutcome`. */
export const toolCallOutcomeSchema: z.ZodType<ToolCallOutcome> = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('succeeded'),
    output: z.custom<JSONValue>((value) => value !== undefined),
    modelOutput: z
      .custom<ToolResultPart['output']>((value) => typeof value === 'object' && value !== null)
      .optional(),
  }),
  z.strictObject({
    status: z.literal('failed'),
    error: z.string(),
    endsTurn: z.literal(true).optional(),
  }),
  z.strictObject({ status: z.literal('denied'), reason: z.string().optional() }),
  z.strictObject({ status: z.literal('forwarded') }),
]);

/** Where a call stands among all calls of a thread; what names it, as models repeat their ids. */
export interface CallPlace {
  /** The model step that proposed it, from 0. */
  step: number;
  /** Its place among the calls of the step, from 0. */
  index: number;
}

/** A call of a thread with its past: `thread.calls` has one for every call a model ever proposed there. */
export const toolCallRecordSchema = toolCallSchema.extend({
  step: z.int(),
  index: z.int(),
  /** Where it stands; `indeterminate`: it was started and nobody knows what it came to. */
  status: z.enum([
    'proposed',
    'waiting',
    'approved',
    'started',
    'deferred',
    'indeterminate',
    'succeeded',
    'failed',
    'denied',
    'forwarded',
  ]),
  /** The provider's id of its own request for approval, where the call is one that the provider runs; it never runs here. */
  providerApprovalId: z.string().optional(),
  /** The latest approval request for it, when there was one. */
  requestId: z.string().optional(),
  /** The run that started it last. */
  runId: z.string().optional(),
  /** When `execute` was about to be called, in milliseconds since 1970. */
  startedAt: z.number().optional(),
  /** How often it was started; more than once only for a tool that is idempotent, or after a person said so. */
  attempts: z.int(),
  /**
   * What `execute` is given to tell its own server that this is the same call. It is read off the log when the call is
   * proposed: the same in every copy of the thread, whichever process runs the call and however often. No two calls share one.
   */
  idempotencyKey: z.string().optional(),
  /** How often its tool was asked in vain what became of it, since it was lost. */
  recoveries: z.int().optional(),
  /** When its tool is asked about it, or it is started again, in milliseconds since 1970. Absent: never by itself. */
  recoverAt: z.number().optional(),
  /** When a deferred call is given up, in milliseconds since 1970; it fails then, when the thread goes on. */
  expiresAt: z.number().optional(),
  outcome: toolCallOutcomeSchema.optional(),
});

/** Where a call stands. */
export type ToolCallStatus = z.infer<typeof toolCallRecordSchema>['status'];

/**
 * A call of a thread with its past. With the `CALL` of an agent's tools, `toolName` and `input` are typed once a tool's schema has
 * accepted the input. Of a call that is `proposed`, `failed`, `denied` or `forwarded` only the JSON is known: the model may have named a
 * tool that there is not, or the schema may have refused the input.
 */
export type ToolCallRecord<CALL extends ToolCall = ToolCall> = Omit<
  z.infer<typeof toolCallRecordSchema>,
  keyof ToolCall | 'status'
> &
  (
    | (CALL & { status: Exclude<ToolCallStatus, UncheckedStatus> })
    | (ToolCall & { status: UncheckedStatus })
  );

type UncheckedStatus = 'proposed' | 'failed' | 'denied' | 'forwarded';
