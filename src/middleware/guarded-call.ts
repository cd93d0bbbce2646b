import { runInConversation } from '../thread/tracing.ts';
import {
  readLastOutput,
  makeOutcome,
  type ToolRunOptions,
  type ToolRecovery,
  type ProviderResponse,
  type Agent,
  type AgentOptions,
  createAgent,
  type AgentResponse,
} from '../agent.ts';
import { readErrorText } from '../content/app-errors.ts';
import { EventBuffer } from '../content/event-buffer.ts';
import { hashText } from '../content/crypto.ts';
import type { ToolCall, ToolCallOutcome } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { isEqualJson } from '../policy/digest.ts';
import { readForm } from '../json/json-form.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { listAssistantParts } from '../thread/proposed-calls.ts';
import { makeInertTool } from './inert-tools.ts';
import type { ProviderModel } from './model-call.ts';
import type { ModelMessage, Tool, ToolExecutionOptions } from 'ai';

/** The settings of the agent of a guarded call. */
type SingleCallSettings = Pick<
  AgentOptions,
  'onUnrecorded' | 'leaseMs' | 'abortGraceMs' | 'now' | 'generateId'
> & { store: NonNullable<AgentOptions['store']> };

/** The settings of guarded calls. */
export interface Guard extends SingleCallSettings {
  threadId: string;
  wait: (signal: AbortSignal | undefined) => Promise<void>;
}

/** A tool whose calls are guarded. */
export interface GuardedTool {
  name: string;
  tool: Tool;
  recovery: ToolRecovery | undefined;
}

/** The end of `execute` in this process, with its original value; the log has only its JSON. */
type Ending = { type: 'returned'; output: unknown } | { type: 'threw'; error: unknown };

/** A preliminary output of a generator, or the end of its call. */
type Output = { type: 'preliminary'; output: unknown } | Ending;

/**
 * A call that the AI SDK wants to execute. It is recorded in its own thread, which a `makeSingleCallAgent` runs: leases, crashes, recovery
 * and late results work as in any other thread.
 */
export class GuardedCall {
  readonly #tool: Tool;
  readonly #guard: Guard;
  readonly #input: unknown;
  readonly #options: ToolExecutionOptions<unknown>;
  readonly #call: ToolCall;
  /** The reason why the input can't be recorded exactly. */
  readonly #fault: string | undefined;
  readonly #agent: Agent;
  readonly #outputs = new EventBuffer<Output>();
  #ending: Ending | undefined;

  constructor(
    { name, tool, recovery }: GuardedTool,
    guard: Guard,
    { input, options }: { input: unknown; options: ToolExecutionOptions<unknown> },
  ) {
    this.#tool = tool;
    this.#guard = guard;
    this.#input = input;
    this.#options = options;
    const form = readForm(input);
    const { json, fault } =
      'fault' in form ? { json: null, ...form } : { fault: undefined, ...form };
    this.#fault = fault;
    this.#call = { toolCallId: options.toolCallId, toolName: name, input: json };
    const execute = async (recorded: unknown, run: ToolRunOptions): Promise<unknown> =>
      this.#execute(recorded, run);
    const { threadId: _threadId, wait: _wait, ...settings } = guard;
    this.#agent = makeSingleCallAgent({ call: this.#call, tool, recovery, execute }, settings);
  }

  /** Like `result`, for a generator: yields its preliminary outputs first if it runs in this process. */
  async *outputs(): AsyncGenerator {
    this.#outputs.open();
    void this.result().then(
      (output) => this.#outputs.close({ type: 'returned', output }),
      (error: unknown) => this.#outputs.close({ type: 'threw', error }),
    );
    let last: { output: unknown } | undefined;
    try {
      for (;;) {
        const { value } = await this.#outputs.next();
        if (value === undefined) return;
        if (value.type === 'threw') throw value.error;
        /* The AI SDK uses the last output as the result; it was already yielded. */
        if (value.type === 'returned' && last !== undefined && last.output === value.output) return;
        last = value;
        yield value.output;
      }
    } finally {
      /* The tool must not wait for a reader that has left. */
      this.#outputs.drop();
    }
  }

  /** Runs the call, or returns the recorded result of an earlier run. */
  async result(): Promise<unknown> {
    this.#refuseInexact();
    const { threadId: conversationId } = this.#guard;
    const { messages, toolCallId } = this.#options;
    const threadId = await makeCallThreadId([
      conversationId,
      toolCallId,
      countEndedCalls(messages, toolCallId),
    ]);
    return runInConversation({ threadId, conversationId }, async () => this.#resultIn(threadId));
  }

  async #resultIn(threadId: string): Promise<unknown> {
    const { abortSignal: signal } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      const thread = await this.#agent.thread(threadId);
      this.#refuseOther(thread);
      const status = thread.calls[0]?.outcome ? 'completed' : await this.#run(thread);
      this.#refuseOther(thread);
      const outcome = thread.calls[0]?.outcome;
      if (outcome !== undefined) return returnEnding(await this.#endingOf(outcome));
      if (status !== 'running') throw this.#unfinished(status, thread);
      await this.#guard.wait(signal);
    }
  }

  /** The original value from this process if it is the recorded one: another process may have recorded a different end first. */
  async #endingOf(outcome: ToolCallOutcome): Promise<Ending> {
    const ending = this.#ending;
    const isRecorded =
      ending?.type === 'returned'
        ? isEqualJson(
            await makeOutcome(makeInertTool(this.#tool), this.#call, ending.output),
            outcome,
          )
        : outcome.status === 'failed' && readErrorText(ending?.error).startsWith(outcome.error);
    return ending !== undefined && isRecorded ? ending : toEnding(outcome);
  }

  async #run(thread: AgentThread): Promise<AgentResponse['status']> {
    const { toolCallId, toolName } = this.#call;
    const message = `Run call ${toolCallId} of ${toolName}, once, for thread ${this.#guard.threadId}.`;
    try {
      const { abortSignal } = this.#options;
      const input = thread.revision === 0 ? message : [];
      const { status } = await this.#agent.run(input, thread, { abortSignal });
      return status;
    } catch (error) {
      /* Another process appended its message first. */
      if (HoldpointError.isInstance(error) && error.code === 'thread-busy') return 'running';
      throw error;
    }
  }

  /** Executes the recorded input; if the AI SDK's input has the same JSON, that one, because it may contain dates and other objects. */
  async #execute(recorded: unknown, { idempotencyKey }: ToolRunOptions): Promise<unknown> {
    const input = isEqualJson(recorded, this.#call.input) ? this.#input : recorded;
    const options = { ...this.#options, idempotencyKey } satisfies ToolRunOptions;
    try {
      const output = await readLastOutput(
        this.#tool.execute?.(input, options),
        async (preliminary) => {
          /* Waits for the reader, as the AI SDK does: the tool may yield the same object again after changing it. */
          this.#outputs.push({ type: 'preliminary', output: preliminary });
          await this.#outputs.ready();
        },
      );
      this.#ending = { type: 'returned', output };
      return output;
    } catch (error) {
      this.#ending = { type: 'threw', error };
      throw error;
    }
  }

  /* The agent would record a different input, and the call would seem to be another one. */
  #refuseInexact(): void {
    const { toolCallId, toolName } = this.#call;
    const fault = this.#fault;
    if (fault === undefined) return;
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} of ${toolName} was not run: its input can't be recorded exactly: ${fault}.`,
    );
  }

  #refuseOther({ id, calls: [recorded] }: AgentThread): void {
    const { toolCallId, toolName, input } = this.#call;
    if (recorded === undefined) return;
    if (recorded.toolName === toolName && isEqualJson(recorded.input, input)) return;
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} of ${toolName} was not run: thread ${id} has already recorded a call with this id ` +
        'and another tool or input. Every call needs its own id.',
    );
  }

  #unfinished(status: AgentResponse['status'], { id }: AgentThread): HoldpointError {
    const { toolCallId, toolName } = this.#call;
    if (status === 'indeterminate') {
      return new HoldpointError(
        'thread-indeterminate',
        `Call ${toolCallId} of ${toolName} was started but its outcome is unknown, so it is not run again. Find out what happened, ` +
          `then call agent.settle(await agent.thread('${id}'), '${toolCallId}', outcome) on an agent with these tools and this store; ` +
          'or configure toolRecovery for the tool.',
      );
    }
    return new HoldpointError(
      'requests-open',
      `Call ${toolCallId} of ${toolName} continues outside this process and has no result yet (thread ${id}). Call it again later.`,
    );
  }
}

/** Identifies a call: its conversation, its id, and the number of calls with this id that ended before it. */
type CallKey = [threadId: string, toolCallId: string, before: number];

/** Makes the id of the call's own thread. Different calls never share one, with any characters in their ids. */
async function makeCallThreadId([threadId, toolCallId, before]: CallKey): Promise<string> {
  const key = [threadId, toolCallId, ...(before === 0 ? [] : [before])];
  return `call-${await hashText(`holdpoint/guarded-call/v1\0${JSON.stringify(key)}`)}`;
}

function toEnding(outcome: ToolCallOutcome): Ending {
  switch (outcome.status) {
    case 'succeeded':
      return { type: 'returned', output: outcome.output };
    case 'failed':
      return outcome.output === undefined
        ? { type: 'threw', error: new Error(outcome.error) }
        : { type: 'returned', output: outcome.output };
    case 'denied':
      return { type: 'threw', error: new Error(outcome.reason ?? 'The call was cancelled.') };
    case 'forwarded':
      throw new TypeError("A guarded call can't be forwarded to a provider.");
  }
}

function returnEnding(ending: Ending): unknown {
  if (ending.type === 'threw') throw ending.error;
  return ending.output;
}

/** The call that the agent's model proposes, and its tool. */
interface SingleCall {
  call: ToolCall;
  tool: Tool;
  recovery: ToolRecovery | undefined;
  execute: (input: unknown, options: ToolRunOptions) => Promise<unknown>;
}

/** An agent for the thread of one call: its model proposes this call once and then ends the turn. */
function makeSingleCallAgent(
  { call, tool, recovery, execute }: SingleCall,
  settings: SingleCallSettings,
): Agent {
  const { toolName } = call;
  return createAgent({
    ...settings,
    model: makeProposingModel(call),
    /* With the tool's own description: a person's approval to retry the call is bound to it. */
    tools: Object.fromEntries([[toolName, { ...makeInertTool(tool), execute }]]),
    toolRecovery: Object.fromEntries(recovery === undefined ? [] : [[toolName, recovery]]),
    telemetry: { isEnabled: false },
    /* The step with the call, and an empty one that leaves the thread idle. */
    maxSteps: 2,
  });
}

const nothing = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };

/* Decides from the history, so that the call is proposed only once however many processes run the thread. */
function makeProposingModel({ toolCallId, toolName, input }: ToolCall): ProviderModel {
  return {
    specificationVersion: 'v4',
    provider: 'holdpoint',
    modelId: 'guard',
    supportedUrls: {},
    async doGenerate({ prompt }): Promise<ProviderResponse> {
      const isProposed = prompt.some(({ role }) => role === 'assistant');
      return {
        content: isProposed
          ? []
          : [{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: isProposed ? 'stop' : 'tool-calls', raw: undefined },
        usage: { inputTokens: nothing, outputTokens: nothing },
        warnings: [],
      };
    },
    async doStream() {
      throw new TypeError('This model does not stream.');
    },
  };
}

type Messages = readonly ModelMessage[] | undefined;

/**
 * Counts the calls with this id that have a result in the history. Some providers restart their ids in every response: a later call with
 * the same id is a different call and has a higher count; the same history sent again has the same count.
 */
function countEndedCalls(messages: Messages, toolCallId: string): number {
  return (messages ?? [])
    .filter((message) => message.role === 'tool')
    .flatMap(({ content }) => content)
    .filter((part) => part.type === 'tool-result' && part.toolCallId === toolCallId).length;
}

function countProposedCalls(messages: Messages, toolCallId: string): number {
  return (messages ?? [])
    .filter((message) => message.role === 'assistant')
    .flatMap((message) => listAssistantParts(message))
    .filter((part) => part.type === 'tool-call' && part.toolCallId === toolCallId).length;
}

/** The ids of the calls that each step of the AI SDK has run. */
export class StepCalls {
  readonly #idsOf = new WeakMap<readonly ModelMessage[], Set<string>>();

  /** Throws `not-allowed` for the second call with the same id in one response: the two can't be distinguished. */
  refuseRepeated(messages: Messages, toolCallId: string): void {
    /* Every step of the AI SDK has messages: here `execute` was called directly. */
    if (messages === undefined || messages.length === 0) return;
    /* The history contains the call itself: it is resumed, which may happen more than once. */
    if (countProposedCalls(messages, toolCallId) > countEndedCalls(messages, toolCallId)) return;
    /* The AI SDK passes the same array to all calls of a step, and a new array to each step. */
    const ids = this.#idsOf.get(messages) ?? new Set();
    if (ids.has(toolCallId)) {
      throw new HoldpointError(
        'not-allowed',
        `Call ${toolCallId} was not run: the model's response has another call with the same id.`,
      );
    }
    this.#idsOf.set(messages, ids.add(toolCallId));
  }
}
