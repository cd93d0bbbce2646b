import type { InferToolInput, JSONValue, Tool, ToolResultPart, ToolSet } from 'ai';
import { z } from 'zod';
import type { JsonTypes } from '../json/json-form.ts';

/** A change of one value, as immer writes it. */
export interface Patch {
  /** The operation on the value. */
  op: 'replace' | 'add' | 'remove';
  /** Leads to the value, from the outside: names of fields, and positions in lists. */
  path: (string | number)[];
  /** The new value. Absent if it was removed. */
  value?: unknown;
}

/** The schema of `Patch`. */
export const patchSchema = z.strictObject({
  op: z.enum(['replace', 'add', 'remove']),
  path: z.array(z.union([z.string(), z.int()])),
  value: z.unknown().optional(),
});

/** A tool call that a model proposed, as people are shown it and as it runs. */
export interface PlainToolCall {
  /** The model's id of the call. Unique in the thread, but not to be trusted, as models choose it. */
  toolCallId: string;
  /** The name of the tool. */
  toolName: string;
  /**
   * The JSON form of the value that the tool's input schema made; strict JSON. Dates and URLs are text, a BigInt decimal text, a Set or a
   * Map a list.
   */
  input: unknown;
}

/** The schema of a tool call. */
export const toolCallSchema = z.strictObject({
  toolCallId: z.string(),
  toolName: z.string(),
  input: z.unknown(),
});

/**
 * A tool call that a model proposed, as people are shown it and as it runs. With an agent's `TOOLS`, it is a union discriminated by
 * `toolName`, and `input` is the output of the tool's input schema, as the JSON in the log. The types describe the agent's present
 * tools: a call that the provider runs, or that an older version of the app recorded, can differ. Without `TOOLS`, `input` is `unknown`.
 */
export type ToolCall<TOOLS extends ToolSet = ToolSet> = PlainToolCall & NamedCall<TOOLS>;

/** Picks the call from a record that has more fields. */
export function pickToolCall({ toolCallId, toolName, input }: ToolCall): ToolCall {
  return { toolCallId, toolName, input };
}

/* The inputs of tools with unknown names, such as those of MCP servers, are unknown too. */
type NamedCall<TOOLS extends ToolSet> = string extends keyof TOOLS
  ? unknown
  : { [NAME in keyof TOOLS]: { toolName: NAME; input: InputOf<TOOLS[NAME]> } }[keyof TOOLS];

/** The input of a tool. */
export type InputOf<TOOL> = TOOL extends Tool ? InferToolInput<TOOL> : never;

/** The outcome of a call. Every call has one. */
export type ToolCallOutcome =
  | {
      /** The tool returned. */
      status: 'succeeded';
      /** The output, as JSON. */
      output: JSONValue;
      /** The result of its `toModelOutput` for the model. Absent: the model receives `output`. */
      modelOutput?: ToolResultPart['output'] | undefined;
    }
  | {
      /** The tool threw, the call could not run, or an MCP server reported that it failed. */
      status: 'failed';
      /** The reason. The model receives it, unless there is a `modelOutput`. */
      error: string;
      /** The output of an MCP server. */
      output?: JSONValue | undefined;
      /** The output that the model receives instead of `error`. */
      modelOutput?: ToolResultPart['output'] | undefined;
      /** Set if the model receives it only after the next message. */
      endsTurn?: true | undefined;
    }
  | {
      /** A person or a rule denied the call, or its request was closed without an answer. */
      status: 'denied';
      /** The reason. The model receives it. */
      reason?: string | undefined;
    }
  | {
      /** The provider was allowed to run its own call. The model's next message shows the result. */
      status: 'forwarded';
    };

/** The schema of a value that was checked before, or comes from JSON: it only refuses that there is none. */
export const jsonValueSchema: z.ZodType<JSONValue> = z.custom<JSONValue>(
  (value) => value !== undefined,
);
const modelOutputSchema = z.custom<ToolResultPart['output']>(
  (value) => typeof value === 'object' && value !== null,
);

/** The schema of `ToolCallOutcome`. */
export const toolCallOutcomeSchema: z.ZodType<ToolCallOutcome> = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('succeeded'),
    output: jsonValueSchema,
    modelOutput: modelOutputSchema.optional(),
  }),
  z.strictObject({
    status: z.literal('failed'),
    error: z.string(),
    output: jsonValueSchema.optional(),
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
export interface WorkingAgent {
  /** The name of the agent. */
  name: string;
  /** The thread in which it works. */
  threadId: string;
  /**
   * The calls of unknown outcome for which it waits, its own and those of agents that work for it. The `agent` of each settles it in its
   * thread.
   */
  lostCalls?:
    | {
        /** The name of the agent whose call it is. */
        agent: string;
        /** The thread that has the call. */
        threadId: string;
        /** The model's id of the call. */
        toolCallId: string;
        /** The name of the tool. */
        toolName: string;
      }[]
    | undefined;
}

/** The schema of `WorkingAgent`. */
export const workingAgentSchema = z.strictObject({
  name: z.string(),
  threadId: z.string(),
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

/** The statuses of a call that has no outcome yet. */
export const openCallStatuses = [
  'proposed',
  'waiting',
  'approved',
  'started',
  'deferred',
  'indeterminate',
] as const;

/** The facts of a call in the log, beside its status. */
interface CallFacts extends CallPlace {
  /** The provider's id of its request for approval, for a call that the provider runs. Such a call never runs here. */
  providerApprovalId?: string | undefined;
  /** The id of its latest approval request, if it had one. */
  requestId?: string | undefined;
  /** The id of the run that last started it. */
  runId?: string | undefined;
  /** The time when it was last started, in milliseconds since 1970: just before `execute` was called. */
  startedAt?: number | undefined;
  /** The number of times that it was started. More than one only for an idempotent tool, or after a person approved a retry. */
  attempts: number;
  /**
   * The idempotency key that `execute` receives for its own server. It is derived from the log when the call is proposed, and is the
   * same for every attempt, in every process and in every copy of the thread. No two calls share a key.
   */
  idempotencyKey?: string | undefined;
  /** The number of times that `reconcile` has failed to find out its outcome since it was lost. */
  recoveries?: number | undefined;
  /** The time when a lost call is recovered, by `reconcile` or a new attempt, in milliseconds since 1970. Absent: not automatically. */
  recoverAt?: number | undefined;
  /** The time when the result of a deferred call is overdue, in milliseconds since 1970. The call fails when the thread next resumes. */
  expiresAt?: number | undefined;
  /** The sub-agent that works on it, and the child thread. */
  agent?: WorkingAgent | undefined;
  /** The time when a delegated call is resumed, in milliseconds since 1970, 0 for immediately. Absent: once people have answered. */
  resumeAt?: number | undefined;
  /** The input that the tool's schema was given, if the schema made another `input` from it. No decision is based on it. */
  given?: unknown;
  /** The types of the parts of `input` that are not plain JSON, by JSON Pointer (RFC 6901): `{ '/when': 'Date' }`. */
  inputTypes?: JsonTypes | undefined;
  /** Set if the schema has made another `input` than before from the same value. */
  isRemade?: true | undefined;
  /**
   * Set if people edited the input: the model's input, the changes in order, and the person who edited last. `input` is the one that runs.
   */
  edit?:
    | {
        /** The input that the model asked for. */
        original: unknown;
        /** The changes in it, in order. */
        patches: Patch[];
        /** The person who edited last, as text. */
        person?: string | undefined;
        /** The person who edited last, as authenticated by the app. */
        principal?: unknown;
      }
    | undefined;
  /** The id of the standing approval that decided it, if one did. */
  grantId?: string | undefined;
  /** Set while a stop holds the approved call: it does not start or restart until a person who may reject it releases it. */
  held?: true | undefined;
}

/** The schema of `JsonTypes`. */
export const jsonTypesSchema = z.record(z.string(), z.string());

/** The schema of a call of a thread and its status, as plain JSON. */
export const toolCallRecordSchema = toolCallSchema.extend({
  step: z.int(),
  index: z.int(),
  status: z.enum([...openCallStatuses, 'succeeded', 'failed', 'denied', 'forwarded']),
  providerApprovalId: z.string().optional(),
  requestId: z.string().optional(),
  runId: z.string().optional(),
  startedAt: z.number().optional(),
  attempts: z.int(),
  idempotencyKey: z.string().optional(),
  recoveries: z.int().optional(),
  recoverAt: z.number().optional(),
  expiresAt: z.number().optional(),
  agent: workingAgentSchema.optional(),
  resumeAt: z.number().optional(),
  given: z.unknown().optional(),
  inputTypes: jsonTypesSchema.optional(),
  isRemade: z.literal(true).optional(),
  edit: z
    .strictObject({
      original: z.unknown(),
      patches: z.array(patchSchema),
      person: z.string().optional(),
      principal: z.unknown().optional(),
    })
    .optional(),
  grantId: z.string().optional(),
  held: z.literal(true).optional(),
  outcome: toolCallOutcomeSchema.optional(),
});

/** The status of a call. */
export type ToolCallStatus = z.infer<typeof toolCallRecordSchema>['status'];

/**
 * The event that a call of each status waits for: to be `started` here, for people, for its attempt here to end, or for a result from
 * elsewhere. `nothing`: it has ended.
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
 * tool, or the schema may have rejected the input. The status says which `outcome` the call has.
 */
export type ToolCallRecord<CALL extends ToolCall = ToolCall> = CallFacts &
  (
    | (CALL & OpenCall<Exclude<OpenCallStatus, 'proposed'>>)
    | (ToolCall & OpenCall<'proposed'>)
    | (CALL & EndedCall<'succeeded'>)
    | (ToolCall & (EndedCall<'failed'> | EndedCall<'denied'> | EndedCall<'forwarded'>))
  );

type OpenCallStatus = (typeof openCallStatuses)[number];

interface OpenCall<STATUS extends OpenCallStatus> {
  /**
   * `proposed`: it needs no approval, and waits for its turn. `waiting`: for an answer. `deferred`: for a result from outside.
   * `indeterminate`: it was started and its outcome is unknown. For a call that has ended, the status of its outcome.
   */
  status: STATUS;
  /** The outcome. Absent while it is open. */
  outcome?: undefined;
}

interface EndedCall<STATUS extends ToolCallOutcome['status']> {
  /** The status of its `outcome`. */
  status: STATUS;
  /** The outcome. */
  outcome: Extract<ToolCallOutcome, { status: STATUS }>;
}

/** The delegated calls that lead from a thread's agent to the agent that asks, outermost first. */
export type RequestPath = {
  /** The name of the sub-agent that works on the call. */
  agent: string;
  /** The model's id of the call. */
  toolCallId: string;
  /** The name of the tool that is an agent. */
  toolName: string;
}[];

/** The schema of `RequestPath`. */
export const requestPathSchema = z
  .array(z.strictObject({ agent: z.string(), toolCallId: z.string(), toolName: z.string() }))
  .min(1);
