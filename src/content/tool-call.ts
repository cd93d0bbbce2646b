import type { InferToolInput, JSONValue, Tool, ToolResultPart, ToolSet } from 'ai';
import { z } from 'zod';

/** A change of one value, as immer writes it. `path` leads to the value, from the outside. */
export const patchSchema = z.strictObject({
  op: z.enum(['replace', 'add', 'remove']),
  path: z.array(z.union([z.string(), z.int()])),
  value: z.unknown().optional(),
});

/** A change of one value. */
export type Patch = z.infer<typeof patchSchema>;

/** A tool call that a model proposed, as people are shown it and as it runs. */
export const toolCallSchema = z.strictObject({
  /** The model's id of the call. Unique in the thread, but not to be trusted, as models choose it. */
  toolCallId: z.string(),
  toolName: z.string(),
  /** The input after the tool's input schema parsed it; strict JSON. */
  input: z.unknown(),
});

/**
 * A tool call that a model proposed, as people are shown it and as it runs. With an agent's `TOOLS`, it is a union discriminated by
 * `toolName`, and `input` is the output of the tool's input schema, as the JSON in the log. The types describe the agent's present
 * tools: a call that the provider runs, or that an older version of the app recorded, can differ. Without `TOOLS`, `input` is `unknown`.
 */
export type ToolCall<TOOLS extends ToolSet = ToolSet> = z.infer<typeof toolCallSchema> &
  NamedCall<TOOLS>;

/** The call alone, of a record that says more. */
export function pickToolCall({ toolCallId, toolName, input }: ToolCall): ToolCall {
  return { toolCallId, toolName, input };
}

/* The inputs of tools with unknown names, such as those of MCP servers, are unknown too. */
type NamedCall<TOOLS extends ToolSet> = string extends keyof TOOLS
  ? unknown
  : { [NAME in keyof TOOLS]: { toolName: NAME; input: InputOf<TOOLS[NAME]> } }[keyof TOOLS];

type InputOf<TOOL> = TOOL extends Tool ? InferToolInput<TOOL> : never;

/** How a call ended. Every call has one outcome. */
export type ToolCallOutcome =
  /** The tool returned `output`, as JSON. `modelOutput` is what its `toModelOutput` made of it for the model. */
  | { status: 'succeeded'; output: JSONValue; modelOutput?: ToolResultPart['output'] | undefined }
  /**
   * The tool threw, the call could not run, or an MCP server reported that it failed: `output` is what the server returned. The model
   * receives `modelOutput`, if it is there, or else `error`; with `endsTurn`, only after the next message.
   */
  | {
      status: 'failed';
      error: string;
      output?: JSONValue | undefined;
      modelOutput?: ToolResultPart['output'] | undefined;
      endsTurn?: true | undefined;
    }
  /** A person or a rule denied the call, or its request was closed without an answer. The model receives `reason`. */
  | { status: 'denied'; reason?: string | undefined }
  /** The provider was allowed to run its own call. The model's next message shows the result. */
  | { status: 'forwarded' };

const outputSchema = z.custom<JSONValue>((value) => value !== undefined);
const modelOutputSchema = z.custom<ToolResultPart['output']>(
  (value) => typeof value === 'object' && value !== null,
);

/** The schema of `ToolCallOutcome`. */
export const toolCallOutcomeSchema: z.ZodType<ToolCallOutcome> = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('succeeded'),
    output: outputSchema,
    modelOutput: modelOutputSchema.optional(),
  }),
  z.strictObject({
    status: z.literal('failed'),
    error: z.string(),
    output: outputSchema.optional(),
    modelOutput: modelOutputSchema.optional(),
    endsTurn: z.literal(true).optional(),
  }),
  z.strictObject({ status: z.literal('denied'), reason: z.string().optional() }),
  z.strictObject({ status: z.literal('forwarded') }),
]);

/** Identifies a call in its thread, as models repeat tool call ids. */
export interface CallPlace {
  /** The number of the step that proposed it, from 0. */
  step: number;
  /** Its position among the calls of the step, from 0. */
  index: number;
}

/** The agent that works on a call, and the thread in which it does. */
export const workingAgentSchema = z.strictObject({
  name: z.string(),
  threadId: z.string(),
  /** The calls of unknown outcome for which it waits, its own and those of agents that work for it. `agent` settles each in `threadId`. */
  lostCalls: z
    .array(
      z.strictObject({
        agent: z.string(),
        threadId: z.string(),
        toolCallId: z.string(),
        toolName: z.string(),
      }),
    )
    .optional(),
});

/** The agent that works on a call. */
export type WorkingAgent = z.infer<typeof workingAgentSchema>;

/** The statuses of a call that has no outcome yet. */
export const openCallStatuses = [
  'proposed',
  'waiting',
  'approved',
  'started',
  'deferred',
  'indeterminate',
] as const;

/** A call of a thread and its status. `thread.calls` has one for every call that a model proposed. */
export const toolCallRecordSchema = toolCallSchema.extend({
  step: z.int(),
  index: z.int(),
  /**
   * `proposed`: it needs no approval, and waits for its turn. `waiting`: for an answer. `deferred`: for a result from outside.
   * `indeterminate`: it was started and its outcome is unknown.
   */
  status: z.enum([...openCallStatuses, 'succeeded', 'failed', 'denied', 'forwarded']),
  /** For a call that the provider runs, the provider's id of its request for approval. Such a call never runs here. */
  providerApprovalId: z.string().optional(),
  /** The id of its latest approval request, if it had one. */
  requestId: z.string().optional(),
  /** The id of the run that last started it. */
  runId: z.string().optional(),
  /** When it was last started, in milliseconds since 1970: just before `execute` was called. */
  startedAt: z.number().optional(),
  /** How many times it was started. More than once only for an idempotent tool, or after a person approved a retry. */
  attempts: z.int(),
  /**
   * The idempotency key that `execute` receives for its own server. It is derived from the log when the call is proposed, and is the
   * same for every attempt, in every process and in every copy of the thread. No two calls share a key.
   */
  idempotencyKey: z.string().optional(),
  /** How many times `reconcile` has failed to find out its outcome since it was lost. */
  recoveries: z.int().optional(),
  /** When a lost call is recovered, by `reconcile` or a new attempt, in milliseconds since 1970. Absent: not automatically. */
  recoverAt: z.number().optional(),
  /** When the result of a deferred call is overdue, in milliseconds since 1970. The call fails when the thread next resumes. */
  expiresAt: z.number().optional(),
  /** The sub-agent that works on it, and the child thread. */
  agent: workingAgentSchema.optional(),
  /** When a delegated call is resumed, in milliseconds since 1970, 0 for immediately. Absent: once people have answered. */
  resumeAt: z.number().optional(),
  /** Set if people edited the input: what the model asked for, what was changed in turn, and who edited last. `input` is what runs. */
  edit: z
    .strictObject({
      original: z.unknown(),
      patches: z.array(patchSchema),
      person: z.string().optional(),
      principal: z.unknown().optional(),
    })
    .optional(),
  /** The id of the standing approval that decided it, if one did. */
  grantId: z.string().optional(),
  /** How it ended. Absent while it is open. */
  outcome: toolCallOutcomeSchema.optional(),
});

/** The status of a call. */
export type ToolCallStatus = z.infer<typeof toolCallRecordSchema>['status'];

/**
 * What a call of each status waits for: to be `started` here, for people, for its attempt here to end, or for a result from elsewhere.
 * `nothing`: it has ended.
 */
export const awaitedBy: Record<
  ToolCallStatus,
  'start' | 'people' | 'attempt' | 'elsewhere' | 'nothing'
> = {
  proposed: 'start',
  waiting: 'people',
  approved: 'start',
  started: 'attempt',
  deferred: 'elsewhere',
  indeterminate: 'attempt',
  succeeded: 'nothing',
  failed: 'nothing',
  denied: 'nothing',
  forwarded: 'nothing',
};

/**
 * A call of a thread and its status. With the `CALL` of an agent's tools, `toolName` and `input` are typed once a tool's schema has
 * accepted the input. Those of a call that is `proposed`, `failed`, `denied` or `forwarded` are not: the model may have named an unknown
 * tool, or the schema may have rejected the input.
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

/** The calls that lead from a thread's agent to the agent that asks, outermost first. */
export const requestPathSchema = z
  .array(
    z.strictObject({
      /** The name of the sub-agent that works on the call. */
      agent: z.string(),
      toolCallId: z.string(),
      toolName: z.string(),
    }),
  )
  .min(1);

/** The calls that lead from a thread's agent to the agent that asks, outermost first. */
export type RequestPath = z.infer<typeof requestPathSchema>;
