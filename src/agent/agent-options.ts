import type { Instructions, LanguageModel, ModelMessage, TimeoutConfiguration, ToolSet } from 'ai';
import type { ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';
import type { UserInputResponseContent } from '../content/user-input.ts';
import type { ToolApproval } from '../policy/tool-approval.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import type { MayAnswer } from './input/may-answer.ts';
import type { ModelSettings } from './model/model-step.ts';

/** What an agent is made of. What has a name in the AI SDK has its meaning here. */
export interface AgentOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> extends ModelSettings {
  /**
   * Whose threads these are. Threads are kept under this name, and an agent of another name can't run them: give one to each agent of
   * a store that several share. Agents without a name share the threads without one. 1 to 100 characters.
   */
  name?: string;
  /** Any AI SDK language model, or the id of one at the AI Gateway. */
  model: LanguageModel;
  instructions?: Instructions;
  /** AI SDK tools: static, dynamic (MCP), or run by the provider. */
  tools?: TOOLS;
  /**
   * Which calls run, which are denied, and which a person is asked about; the AI SDK's `toolApproval`. It is for what runs here: a call
   * that the provider runs and asks about always needs a person's word.
   */
  toolApproval?: ToolApproval<TOOLS, RUNTIME_CONTEXT>;
  /** How to find out, or do again, what a call came to when its process died: for tools that can tell. */
  toolRecovery?: { readonly [NAME in keyof TOOLS]?: ToolRecovery };
  /**
   * Called with an outcome that could not be recorded after several tries, so that it is not lost: the store is out of
   * reach. The call will be found indeterminate; settle it with this.
   */
  onUnrecorded?: (unrecorded: UnrecordedOutcome) => unknown;
  /**
   * Who may answer what; asked before an answer is recorded, whichever way it comes. Where it says anything but `true`, the answer is
   * refused with `not-allowed`, and nothing changes. Default: whoever the app lets answer.
   */
  mayAnswer?: MayAnswer;
  /** The context of each tool that has a `contextSchema`, for its `execute` and its rules. */
  toolsContext?: { readonly [NAME in keyof TOOLS]?: unknown };
  /**
   * How long a run may take, in milliseconds, as in the AI SDK: the whole of it (a number, or `totalMs`), each step with its tools
   * (`stepMs`), each call of a tool (`toolMs`, `tools: { lookUpMs }`). A run or a step that takes longer fails with a `TimeoutError`, and is
   * tried again as `retry` says. A tool gets the abort signal and its failure is the result; one that ignores the signal for
   * `abortGraceMs` leaves its call indeterminate. The time that people take to answer is in none of them. `firstChunkMs` and `chunkMs` do
   * nothing here.
   */
  timeout?: TimeoutConfiguration<ToolSet>;
  /** Where threads are kept. Default `memoryStore()`: gone with the process. */
  store?: ThreadStore;
  /** How many model steps one run may take. Default 20. */
  maxSteps?: number;
  /**
   * How long a run holds a thread without a sign of life, in milliseconds; it renews its hold while it lives.
   * After a crash the thread is free again when this has passed. Default 60,000.
   */
  leaseMs?: number;
  /** When a thread whose run has failed is due again, for workers and for schedulers that read `thread.resumeAt`. */
  retry?: RetryOptions;
  /** How long a tool may take to settle once its signal has aborted, in milliseconds. Default 5,000. */
  abortGraceMs?: number;
  /** The time, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
  /** Ids of requests, runs and threads: at least 128 random bits. Default: 22 characters of base64url. */
  generateId?: () => string;
}

/**
 * When failed runs are tried again. The delay doubles with each failure in a row, up to a cap, and is spread by up to a half, so that
 * threads which failed together don't come back together. The time is written into the log, so that all workers wait for the same one.
 * It holds for tools that are asked about lost calls, too.
 */
export interface RetryOptions {
  /** After how many failures in a row the thread is `stuck`: it waits for a person or the app to run it. Default 10. */
  maxAttempts?: number;
  /** The delay after the first failure, in milliseconds. Default 1,000. */
  initialDelayMs?: number;
  /** The longest delay, in milliseconds. Default 300,000. */
  maxDelayMs?: number;
}

/** How a tool's calls are recovered when the process that ran them is gone. */
export interface ToolRecovery {
  /**
   * Asks the tool's own server what became of a call, by its key: the outcome, or `undefined` when it can't tell. Asked
   * before anything else. Who says `failed` must see to it that the call can't happen any more: a process that only stalled may
   * still be on its way.
   */
  reconcile?: (call: {
    input: unknown;
    idempotencyKey: string;
    toolCallId: string;
  }) => DeliveredOutcome | undefined | PromiseLike<DeliveredOutcome | undefined>;
  /** Whether the call may be started again, with the same input and key, as the server does it once for a key. Default `false`. */
  idempotent?: boolean;
  /** How often it may be started in all, when it is idempotent. Default 3. */
  maxAttempts?: number;
}

/** What became of a call, as somebody outside knows. `output` must be JSON. */
export type DeliveredOutcome =
  | { status: 'succeeded'; output: unknown }
  | { status: 'failed'; error: string };

/** How a person settles a call whose outcome is unknown; `retry` is a new approval of the same call. */
export type SettledOutcome = DeliveredOutcome | { status: 'retry' };

/** An outcome that the store did not take. */
export interface UnrecordedOutcome {
  threadId: string;
  call: ToolCallRecord;
  outcome: ToolCallOutcome;
  /** Why the store did not take it. */
  error: unknown;
}

/** What a run may be given: text, messages, answers, or several of these. `[]` resumes the thread where it stands. */
export type RunInput = InputItem | readonly InputItem[];
/** One item of a run's input. */
export type InputItem = string | ModelMessage | AnswerMessage | UserInputResponseContent;

/** A user message that carries answers: the same as the answers alone. */
export interface AnswerMessage {
  role: 'user';
  content: readonly UserInputResponseContent[];
}

/** Who sends a message or an answer, and through what. */
export interface AnswerOptions {
  /**
   * Who sends it, as the app authenticated them: any JSON. It is kept in the log with each message and each answer; and the requests that
   * a message leads to show it to the people who are asked (`requestedBy`), so leave out what they may not see.
   */
  principal?: unknown;
  /** Through what it came, in the app's words (`'slack'`, `'web'`): 1 to 100 characters; kept in the log likewise. */
  channel?: string;
}

/** How one run goes. */
export interface RunOptions<RUNTIME_CONTEXT = Record<string, unknown>> extends AnswerOptions {
  /** Ends the run: tools get it as theirs, `run` rejects with its reason, and the thread can be run again. */
  abortSignal?: AbortSignal;
  /** @deprecated The same as `abortSignal`, by its old name. */
  signal?: AbortSignal;
  /** For the rules of `toolApproval`; and for the AI SDK's telemetry, of what `telemetry.includeRuntimeContext` names. */
  runtimeContext?: RUNTIME_CONTEXT;
  /** What a message does to open requests: it is refused (default), or it cancels them. */
  whilePending?: 'refuse' | 'cancel';
  /**
   * Your id for the message of this input, 1 to 256 characters: the same id again records nothing, goes on where the turn stands, and
   * gives the recorded reply once there is one, also when the conversation has gone on since. For callers that retry: queues, workflow
   * engines, browsers.
   */
  messageId?: string;
  /**
   * Does nothing unless `thread.resumeAt` has come: for schedulers of your own, which may wake too early or too often. Only with
   * the input `[]`.
   */
  onlyWhenDue?: boolean;
}
