import type { Instructions, LanguageModel, Output, ToolSet } from 'ai';
import type { ToolApproval } from '../policy/tool-approval.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import type { AgentResponse } from './agent-response.ts';
import type { MayAnswer } from './input/parse-input.ts';
import type { ModelSettings } from './model/model-step.ts';
import type { PrepareStep } from './model/prepare-step.ts';
import type { UnrecordedOutcome } from './run/agent-context.ts';
import type { RetryOptions } from './run/retry-time.ts';
import type { RunOverrides } from './run/run-options.ts';
import type { ToolRecovery } from './run/tool-recovery.ts';

/** The options of `createAgent`. Names that the AI SDK has too mean the same here. */
export interface AgentOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
  OUTPUT = unknown,
>
  extends SharedAgentOptions<TOOLS, RUNTIME_CONTEXT>, ModelSettings {
  /** Any AI SDK language model, or the id of one at the AI Gateway. */
  model: LanguageModel;
  /** Instructions for the model, sent with every conversation: the AI SDK's option. */
  instructions?: Instructions;
  /**
   * Called before each request to the model, as in the AI SDK: returns the settings that this step has instead of the agent's, and the
   * messages to send. Returned messages carry forward to later steps. The thread keeps everything; `sentMessages` of `holdpoint/schemas`
   * derives what was sent. If it throws, the run fails as with a provider's error.
   *
   * @example
   * const prepareStep = ({ messages }) => ({ messages: pruneMessages({ messages, toolCalls: 'before-last-10-messages' }) });
   * const agent = createAgent({ model, prepareStep });
   */
  prepareStep?: PrepareStep<NoInfer<TOOLS>, RUNTIME_CONTEXT>;
  /**
   * The AI SDK's `Output`: the model replies in this form, and `response.output` is its parsed text. The thread keeps the text. Reading
   * `response.output` throws the AI SDK's error if the text does not match.
   *
   * @example
   * const agent = createAgent({ model, output: Output.object({ schema: z.object({ city: z.string() }) }) });
   */
  output?: Output.Output<OUTPUT>;
}

/** The options of every agent, whatever makes its steps. */
export interface SharedAgentOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> extends Pick<RunOverrides<RUNTIME_CONTEXT>, 'stopWhen' | 'timeout' | 'onStepEnd'> {
  /**
   * The owner of the threads. An agent with another name can't run them, so give one to each agent of a shared store. Agents without a
   * name share the threads without one, and can't have standing approvals that are wider than a thread. 1 to 100 characters.
   */
  name?: string;
  /** AI SDK tools: static, dynamic (MCP), or run by the provider. */
  tools?: TOOLS;
  /**
   * The rules for calls: which run, which are denied, and which need a person's approval. It is the AI SDK's `toolApproval`. It applies to
   * calls that run here; a call that the provider runs and asks about always needs a person. Name what runs, so that a mistake asks. A rule
   * that reads a field which its tool's input schema does not have asks too, and `agent.on('setting-failed')` reports it.
   *
   * @example
   * const toolApproval = { pay: ({ euros }) => (euros <= 100 ? 'approved' : 'user-approval') };
   */
  toolApproval?: ToolApproval<TOOLS, RUNTIME_CONTEXT>;
  /** Recovery of calls whose process died, for tools that can report what happened or can safely run twice. */
  toolRecovery?: { readonly [NAME in keyof TOOLS]?: ToolRecovery };
  /**
   * Called with an outcome that could not be recorded after several retries because the store is unavailable. The call will be
   * indeterminate: settle it with this outcome.
   */
  onUnrecorded?: (unrecorded: UnrecordedOutcome) => unknown;
  /**
   * Decides who may answer which request, before an answer is recorded, on every channel. Unless it returns `true`, the answer is refused
   * with `not-allowed` and nothing changes. Default: everybody whom the app lets answer.
   */
  mayAnswer?: MayAnswer;
  /**
   * Returns a text that is the same for all principals of one person. For a `quorum` and `notRequester`, texts that differ only in case,
   * width, surrounding white space or invisible characters are one person; a standing approval for one person is for exactly this text.
   * Default: a string as it is; an object's `id`, `subject`, `sub` or `email`; otherwise the whole JSON. An object gets no standing
   * approval for one person by default.
   */
  principalId?: (principal: unknown) => string;
  /** The context of each tool that has a `contextSchema`, for its `execute` and its rules. */
  toolsContext?: { readonly [NAME in keyof TOOLS]?: unknown };
  /** The store of the threads. Default `memoryStore()`, which lasts as long as the process. */
  store?: ThreadStore;
  /**
   * The number of calls that may run at once. The others wait, in the order in which the model made them, and are recorded as started when
   * they start. Default: no limit.
   */
  toolCallConcurrency?: number;
  /** Called with the response of each run, before `run` resolves. Errors that it throws or rejects with are ignored. */
  onEnd?: (response: AgentResponse) => unknown;
  /**
   * Called with the error that `run` rejects with, unless it is the reason of the run's `abortSignal`. Errors that it throws or rejects
   * with are ignored.
   */
  onError?: (failed: { error: unknown; threadId: string }) => unknown;
  /** The number of model steps that one run may take. Default 20. */
  maxSteps?: number;
  /**
   * The length of a run's lease on its thread, in milliseconds. A live run renews it; after a crash the thread is free when it has expired.
   * Default 60,000.
   */
  leaseMs?: number;
  /** Delays and limit for retries of failed runs, by workers and by schedulers that read `thread.nextDeadline`. */
  retry?: RetryOptions;
  /** The time that a tool may take to finish after its signal has aborted, in milliseconds. Default 5,000. */
  abortGraceMs?: number;
  /** The time, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
  /** Makes the ids of requests, runs and threads: at least 128 random bits each. Default: 22 characters of base64url. */
  generateId?: () => string;
}
