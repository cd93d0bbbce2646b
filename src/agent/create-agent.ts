import type { ToolSet } from 'ai';
import { checkedMs } from '../content/checked-number.ts';
import type { ToolCall } from '../content/tool-call.ts';
import { randomId } from '../content/random-id.ts';
import { memoryStore } from '../stores/memory.ts';
import { clockOf } from '../thread/store-clock.ts';
import { modelNameOf } from '../thread/tracing/trace-message.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Agent } from './agent.ts';
import { checkRules } from './calls/decide-calls.ts';
import { checkTools, definedOnce } from './calls/tool-definitions.ts';
import { HoldpointAgent } from './holdpoint-agent.ts';
import { refuseUnknownAgentSettings } from './known-settings.ts';
import { settingsOf } from './model/model-step.ts';
import { modelSteps } from './model/model-steps.ts';
import type { AgentContext } from './run/agent-context.ts';
import { AgentEvents } from './run/agent-events.ts';
import { checkedRetry } from './run/retry-time.ts';
import { checkedTimeout } from './run/run-signal.ts';
import { checkRecovery } from './run/tool-recovery.ts';
import { checkedName } from './thread-handles.ts';

/**
 * Creates an agent: a language model with a loop that runs its tools, asks people where a rule says so, and keeps everything in threads.
 *
 * Throws a `TypeError` for an unknown setting, naming the nearest known one; for rules that could never apply, because they name no tool
 * or one that runs at the provider, or are not a plain object; and for an invalid `name`, `leaseMs`, `abortGraceMs`, `maxSteps`, `retry`,
 * `timeout` or `toolCallConcurrency`. Throws an `Error` on a runtime older than Node 22.
 *
 * @example
 * const agent = createAgent({ model, tools: { bookFlight }, toolApproval: { bookFlight: 'user-approval' } });
 * const thread = await agent.thread('trip-42');
 * let response = await agent.run('Book me a flight to Paris on Friday.', thread);
 * while (response.approvalRequests.length > 0) {
 *   const answers = response.approvalRequests.map((request) => request.approve());
 *   response = await agent.run(answers, thread);
 * }
 * console.log(response.text);
 */
export function createAgent<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
  OUTPUT = unknown,
>(
  options: AgentOptions<TOOLS, RUNTIME_CONTEXT, OUTPUT>,
): Agent<RUNTIME_CONTEXT, ToolCall<TOOLS>, OUTPUT>;
/* The log holds JSON. This assumes that it fits the types of the tools, as the documentation of `ToolCall` says. */
export function createAgent(options: AgentOptions): Agent<unknown> {
  refuseOldRuntime();
  refuseUnknownAgentSettings(options);
  const { model, instructions, toolApproval, mayAnswer, onUnrecorded } = options;
  const { tools = {}, toolsContext = {}, toolRecovery = {} } = options;
  const { maxSteps = 20, leaseMs = 60_000, abortGraceMs = 5_000 } = options;
  const { stopWhen, onStepEnd, onEnd, onError, output, toolCallConcurrency = Infinity } = options;
  checkTools(tools);
  checkRules(toolApproval, tools);
  checkRecovery(toolRecovery, tools);
  if (!(maxSteps >= 1)) throw new TypeError(`maxSteps must be 1 or more; got ${maxSteps}.`);
  const store = options.store ?? memoryStore();
  const clock = clockOf(store);
  const context: AgentContext = {
    name: checkedName(options.name),
    modelName: modelNameOf(model),
    makeStep: modelSteps({
      model,
      instructions,
      settings: settingsOf(options),
      prepareStep: options.prepareStep,
      output,
      toolsContext,
    }),
    allowSystemInMessages: options.allowSystemInMessages,
    tools,
    toolsContext,
    definedTools: definedOnce(tools, toolsContext),
    toolApproval,
    toolRecovery,
    mayAnswer,
    onUnrecorded,
    retry: checkedRetry(options.retry),
    limits: checkedTimeout(options.timeout, tools),
    maxSteps,
    stopWhen,
    toolCallConcurrency: checkedConcurrency(toolCallConcurrency),
    onStepEnd,
    leaseMs: checkedMs(leaseMs, 'leaseMs'),
    abortGraceMs: checkedMs(abortGraceMs, 'abortGraceMs', 0),
    now: options.now ?? clock.now,
    generateId: options.generateId ?? randomId,
    events: new AgentEvents(),
  };
  return new HoldpointAgent(context, { store, clock, onEnd, onError, output });
}

function checkedConcurrency(limit: number): number {
  if (limit === Infinity || (Number.isInteger(limit) && limit >= 1)) return limit;
  throw new TypeError(`toolCallConcurrency must be a whole number of 1 or more; got ${limit}.`);
}

/* The newest feature of the language that is used here; without it a run would fail in the middle. */
function refuseOldRuntime(): void {
  if (typeof Promise.withResolvers === 'function') return;
  throw new Error(`holdpoint needs Node 22.18 or newer; this is ${globalThis.process?.version}.`);
}
