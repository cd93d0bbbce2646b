import type { Instructions, LanguageModel, TimeoutConfiguration, ToolSet } from 'ai';
import type { ToolApproval } from '../policy/tool-approval.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import type { MayAnswer } from './input/run-input.ts';
import type { ModelSettings } from './model/model-step.ts';
import type { UnrecordedOutcome } from './run/agent-context.ts';
import type { RetryOptions } from './run/retry-time.ts';
import type { ToolRecovery } from './run/tool-recovery.ts';

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
