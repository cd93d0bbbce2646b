import type { Tool, ToolExecutionOptions } from 'ai';
import { errorText } from '../content/error-text.ts';
import type { Agent } from '../agent/agent.ts';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { ToolRecovery } from '../agent/run/tool-recovery.ts';
import type { AgentResponse } from '../agent/agent-response.ts';
import { createAgent } from '../agent/create-agent.ts';
import { lastOf, successOf, type ToolRunOptions } from '../agent/calls/execute-call.ts';
import { EventBuffer } from '../content/event-buffer.ts';
import { sha256 } from '../content/sha256.ts';
import type { ToolCall, ToolCallOutcome } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { equalJson } from '../policy/digest.ts';
import { whyNotStrictJson } from '../policy/strict-json.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { inConversation } from '../thread/tracing/guarded-conversation.ts';
import { inertTool } from './inert-tools.ts';
import { proposingModel } from './proposing-model.ts';
import { endedCalls } from './repeated-ids.ts';

/** What calls are guarded with. */
export interface Guard extends Pick<
  AgentOptions,
  'onUnrecorded' | 'leaseMs' | 'abortGraceMs' | 'now' | 'generateId'
> {
  store: NonNullable<AgentOptions['store']>;
  threadId: string;
  wait: (signal: AbortSignal | undefined) => Promise<void>;
}

/** A tool whose calls are guarded. */
export interface GuardedTool {
  name: string;
  tool: Tool;
  recovery: ToolRecovery | undefined;
}

/** How `execute` ended in this process: what it really gave, of which the log has what JSON can hold. */
type Ending = { type: 'returned'; output: unknown } | { type: 'threw'; error: unknown };

/** What a generator yields, and then how its call ended. */
type Output = { type: 'preliminary'; output: unknown } | Ending;

/**
 * One call that the AI SDK wants to run. Its log is a thread of its own, of an agent whose model proposes this call and no other:
 * leases, lost processes, recovery and late results are the agent's.
 */
export class GuardedCall {
  readonly #tool: Tool;
  readonly #guard: Guard;
  readonly #input: unknown;
  readonly #options: ToolExecutionOptions<unknown>;
  readonly #call: ToolCall;
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
    const json: unknown = JSON.parse(JSON.stringify(input) ?? 'null');
    this.#call = { toolCallId: options.toolCallId, toolName: name, input: json };
    const execute = async (recorded: unknown, run: ToolRunOptions): Promise<unknown> =>
      this.#execute(recorded, run);
    const { threadId: _threadId, wait: _wait, ...settings } = guard;
    this.#agent = createAgent({
      ...settings,
      model: proposingModel(this.#call),
      /* Described as it is: a person's word to try the call again is bound to that. */
      tools: Object.fromEntries([[name, { ...inertTool(tool), execute }]]),
      toolRecovery: Object.fromEntries(recovery === undefined ? [] : [[name, recovery]]),
      telemetry: { isEnabled: false },
      /* The call, and the silence after it, which leaves its thread idle. */
      maxSteps: 2,
    });
  }

  /** As `result`, for a generator: while it runs here, its preliminary outputs come first. */
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
        /* The AI SDK takes the last output for the result, which was yielded already. */
        if (value.type === 'returned' && last !== undefined && last.output === value.output) return;
        last = value;
        yield value.output;
      }
    } finally {
      /* A reader that leaves does not hold the tool. */
      this.#outputs.drop();
    }
  }

  /** Runs the call, or gives what it came to when it ran before. */
  async result(): Promise<unknown> {
    this.#refuseInexact();
    const { threadId: conversationId } = this.#guard;
    const { messages, toolCallId } = this.#options;
    const threadId = await logOf([conversationId, toolCallId, endedCalls(messages, toolCallId)]);
    return inConversation({ threadId, conversationId }, async () => this.#resultIn(threadId));
  }

  async #resultIn(threadId: string): Promise<unknown> {
    const { abortSignal: signal } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      const thread = await this.#agent.thread(threadId);
      this.#refuseOther(thread);
      const status = thread.calls[0]?.outcome ? 'completed' : await this.#goOn(thread);
      this.#refuseOther(thread);
      const outcome = thread.calls[0]?.outcome;
      if (outcome !== undefined) return endAs(await this.#endingOf(outcome));
      if (status !== 'running') throw this.#stuck(status, thread);
      await this.#guard.wait(signal);
    }
  }

  /** What the tool really gave, where that is what is recorded: another end of the call may have been first. */
  async #endingOf(outcome: ToolCallOutcome): Promise<Ending> {
    const ending = this.#ending;
    const isRecorded =
      ending?.type === 'returned'
        ? equalJson(await successOf(undefined, this.#call, ending.output), outcome)
        : outcome.status === 'failed' && errorText(ending?.error).startsWith(outcome.error);
    return ending !== undefined && isRecorded ? ending : endingOf(outcome);
  }

  async #goOn(thread: AgentThread): Promise<AgentResponse['status']> {
    const { toolCallId, toolName } = this.#call;
    const claim = `Run call ${toolCallId} of ${toolName}, once, for thread ${this.#guard.threadId}.`;
    try {
      const { abortSignal } = this.#options;
      const input = thread.revision === 0 ? claim : [];
      const { status } = await this.#agent.run(input, thread, { abortSignal });
      return status;
    } catch (error) {
      /* Somebody else was one line ahead with the claim. */
      if (HoldpointError.isInstance(error) && error.code === 'thread-busy') return 'running';
      throw error;
    }
  }

  /** What runs is what is recorded; where that is this call, as the AI SDK gives it, with its dates and the like. */
  async #execute(recorded: unknown, { idempotencyKey }: ToolRunOptions): Promise<unknown> {
    const input = equalJson(recorded, this.#call.input) ? this.#input : recorded;
    const options = { ...this.#options, idempotencyKey } satisfies ToolRunOptions;
    try {
      const output = await lastOf(this.#tool.execute?.(input, options), async (preliminary) => {
        /* As without a guard, the tool goes at its reader's pace: it may yield one object that it changes. */
        this.#outputs.push({ type: 'preliminary', output: preliminary });
        await this.#outputs.ready();
      });
      this.#ending = { type: 'returned', output };
      return output;
    } catch (error) {
      this.#ending = { type: 'threw', error };
      throw error;
    }
  }

  /* The agent would record another input in its place, and the call would look like somebody else's. */
  #refuseInexact(): void {
    const { toolCallId, toolName, input } = this.#call;
    const fault = whyNotStrictJson(input);
    if (fault === undefined) return;
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} of ${toolName} was not run: its input can't be recorded exactly: ${fault}.`,
    );
  }

  #refuseOther({ id, calls: [recorded] }: AgentThread): void {
    const { toolCallId, toolName, input } = this.#call;
    if (recorded === undefined) return;
    if (recorded.toolName === toolName && equalJson(recorded.input, input)) return;
    throw new HoldpointError(
      'not-allowed',
      `Call ${toolCallId} of ${toolName} was not run: under this id another call is recorded (thread ${id}), ` +
        'with another tool or another input.',
    );
  }

  #stuck(status: AgentResponse['status'], { id }: AgentThread): HoldpointError {
    const { toolCallId, toolName } = this.#call;
    const ways =
      `with an agent that has these tools and this store, ` +
      `agent.settle(await agent.thread('${id}'), '${toolCallId}', outcome)`;
    if (status === 'indeterminate') {
      return new HoldpointError(
        'thread-indeterminate',
        `Call ${toolCallId} of ${toolName} was started and nobody knows how it ended; it is not run again. ` +
          `Who can tell says so: ${ways}; or the tool itself, by toolRecovery.`,
      );
    }
    return new HoldpointError(
      'requests-open',
      `Call ${toolCallId} of ${toolName} goes on elsewhere, and its result is not there yet (thread ${id}).`,
    );
  }
}

/** Which call it is: of which conversation and which id, and how many calls of the id it has had before. */
type CallName = [threadId: string, toolCallId: string, before: number];

/** The id of a call's own thread. Two calls never share one, whatever their ids hold. */
async function logOf([threadId, toolCallId, before]: CallName): Promise<string> {
  const name = [threadId, toolCallId, ...(before === 0 ? [] : [before])];
  return `call-${await sha256(`holdpoint/guarded-call/v1\0${JSON.stringify(name)}`)}`;
}

function endingOf(outcome: ToolCallOutcome): Ending {
  switch (outcome.status) {
    case 'succeeded':
      return { type: 'returned', output: outcome.output };
    case 'failed':
      return { type: 'threw', error: new Error(outcome.error) };
    case 'denied':
      return { type: 'threw', error: new Error(outcome.reason ?? 'The call was cancelled.') };
    case 'forwarded':
      throw new TypeError('Only a call that the provider runs is forwarded.');
  }
}

function endAs(ending: Ending): unknown {
  if (ending.type === 'threw') throw ending.error;
  return ending.output;
}
