import type { ApprovalRequest, LogEntry, ThreadEvent } from 'holdpoint';

/** Something a tool really did, as the world outside the process saw it. */
export interface Effect {
  toolName: string;
  toolCallId: string;
  idempotencyKey: string;
  input: unknown;
  /** How many events the store had at that moment. */
  revision: number;
  /** Which attempt it was, as the tool was told, and the time by the clock of the process that began it. */
  begun?: { attempt: number; now: number };
}

/** A request that a model got. */
export interface AskedModel {
  /** The prompt, as the provider would get it. */
  prompt: unknown;
  /** How many events the store had at that moment. */
  revision: number;
}

/** What is known of a thread from outside the agent. */
export interface Evidence {
  /** The log, from the store. */
  events: readonly ThreadEvent[];
  /** The log as it is stored, for what is read off its hashes. */
  entries?: readonly LogEntry[];
  /** For each event of the log, the name of the agent whose process appended it. */
  authors?: readonly (string | undefined)[];
  effects: readonly Effect[];
  /** Each time a tool was called, also where its server did nothing anew. By default the effects. */
  runs?: readonly Effect[];
  /** Each time a tool was asked what became of a call. */
  questions?: readonly Effect[];
  prompts: readonly AskedModel[];
  /** The tools that nobody may run without a person's word. */
  gated: ReadonlySet<string>;
  /** The tools that are idempotent, and how often a call of theirs may be started. Of any other: once. */
  idempotent?: ReadonlyMap<string, number>;
  /** The tools without `execute`: their calls begin outside, when the log says that they are deferred. */
  outside?: ReadonlySet<string>;
  /** The log as it was found before, oldest first. */
  looks?: readonly (readonly ThreadEvent[])[];
  /** Answers that somebody was told are taken. */
  acknowledged?: readonly { requestId: string; approved: boolean }[];
  /** Answers that tools were told of what they asked beside their calls. */
  told?: readonly { toolCallId: string; optionId: string; revision: number }[];
  /** Results from outside that somebody was told are taken. */
  delivered?: readonly { toolCallId: string; output: unknown }[];
  /** What is known of the people who answer, and of what rules demand of them. */
  policy?: PolicyEvidence;
}

/** What a tool's rule demands of the people who approve its calls. */
export type Demands = Pick<
  ApprovalRequest,
  'approvers' | 'notRequester' | 'quorum' | 'requireReason'
> & {
  /** Who is asked when nobody answers in time. */
  escalatesTo?: string[];
};

/** What is known of approvals from outside the agent. */
interface PolicyEvidence {
  mayAnswer: (person: string, approvers: readonly string[] | undefined) => boolean;
  demands: (toolName: string) => Demands | undefined;
  /** The logs of all threads of the store. */
  logs: readonly (readonly ThreadEvent[])[];
  /** For each revoked standing approval of the store, how many events each thread had when it was revoked. */
  revoked: ReadonlyMap<string, ReadonlyMap<string, number>>;
}
