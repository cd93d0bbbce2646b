import type { ToolSet } from 'ai';
import { checkMethods, checkMs } from '../content/check-settings.ts';
import { makeRandomId } from '../content/crypto.ts';
import type { ToolCall } from '../content/tool-call.ts';
import type { CheckedRules } from '../policy/checked-rules.ts';
import { memoryStore } from '../stores/memory.ts';
import { findClock } from '../thread/store-clock.ts';
import { readModelName } from './model/streaming-model.ts';
import type { AgentOptions, SharedAgentOptions } from './agent-options.ts';
import type { Agent } from './agent.ts';
import { callsApart, type CallsApartOptions } from './calls-apart.ts';
import { checkRules, checkTools } from './calls/check-tools.ts';
import { commitsCancelled, readDelegation } from './calls/delegation.ts';
import { defineToolsOnce } from './calls/tool-definitions.ts';
import { findToolReader } from './changing-tools.ts';
import { HoldpointAgent } from './holdpoint-agent.ts';
import { guardMayAnswer, makeStandingCheck } from './input/right-to-answer.ts';
import { refuseUnknownAgentSettings } from './known-settings.ts';
import { pickModelSettings, makeModelSteps } from './model/model-step.ts';
import type { AgentContext, StepMaking } from './run/agent-context.ts';
import { AgentEmitter, makeFailureReporter } from './run/agent-events.ts';
import { checkRetry } from './run/retry-time.ts';
import { checkTimeout } from './run/time-limits.ts';
import { checkRecovery } from './run/tool-recovery.ts';
import { checkAgentName } from './thread-handles.ts';

/**
 * Creates an agent: a language model with a loop that runs its tools, asks people where a rule says so, and keeps everything in threads.
 *
 * Throws a `TypeError` for an unknown setting, naming the nearest known one; for rules that could never apply, because they name no tool
 * or one that runs at the provider, or are not a plain object; for a rule, other than a function, that has an unknown setting or names an
 * unknown field of the input; and for an invalid `name`, `leaseMs`, `abortGraceMs`, `maxSteps`, `retry`,
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
  const RULES = unknown,
>(
  options: CheckedRules<TOOLS, RULES> & AgentOptions<TOOLS, RUNTIME_CONTEXT, OUTPUT>,
): Agent<RUNTIME_CONTEXT, ToolCall<TOOLS>, OUTPUT>;
/* The log holds JSON. This assumes that it fits the types of the tools, as the documentation of `ToolCall` says. */
export function createAgent(options: AgentOptions): Agent<unknown> {
  refuseUnknownAgentSettings(options);
  const { model, instructions, allowSystemInMessages } = options;
  const { prepareStep, output, toolsContext = {} } = options;
  checkModel(model);
  const settings = pickModelSettings(options);
  return makeAgent(options, () => ({
    modelName: readModelName(model),
    makeStep: makeModelSteps({ model, instructions, settings, prepareStep, output, toolsContext }),
    hasModel: true,
    allowSystemInMessages,
    output,
  }));
}

/** Checks the options that all agents share, and makes an agent whose steps come from `stepMaking`. */
export function makeAgent(
  options: Omit<SharedAgentOptions, 'toolApproval'> & {
    toolApproval?: unknown;
  } & CallsApartOptions,
  stepMaking: (
    made: Pick<AgentContext, 'now' | 'generateId' | 'mayAnswer' | 'report'>,
  ) => StepMaking,
): Agent<unknown> {
  refuseOldRuntime();
  const { toolApproval, onUnrecorded, stopWhen, onStepEnd, onEnd, onError } = options;
  const { tools: givenTools = {}, toolsContext = {}, toolRecovery = {} } = options;
  const { maxSteps = 20, leaseMs = 60_000, abortGraceMs = 5_000 } = options;
  const readChanging = findToolReader(givenTools);
  const tools = readChanging?.() ?? givenTools;
  checkTools(tools);
  const rulers = { mayAnswer: options.mayAnswer, name: options.name };
  checkRules(toolApproval, readChanging === undefined ? tools : undefined, rulers);
  checkRecovery(toolRecovery, tools);
  if (!(maxSteps >= 1)) throw new TypeError(`maxSteps must be 1 or more; got ${maxSteps}.`);
  const { store = memoryStore() } = options;
  checkMethods(
    store,
    ['read', 'append', 'head'],
    "store must be a store, such as sqliteStore('threads.sqlite')",
  );
  const clock = findClock(store);
  const { now = clock.now, generateId = makeRandomId } = options;
  const events = new AgentEmitter();
  const report = makeFailureReporter(options.name, events);
  const definedTools = defineToolsOnce(readChanging ?? tools, toolsContext, report);
  const mayAnswer = guardMayAnswer(options.mayAnswer, report);
  const steps = stepMaking({ now, generateId, mayAnswer, report });
  /* Without a spread: objects made by spreading are slower to read, and every run reads this one. */
  const context: AgentContext = {
    now,
    generateId,
    modelName: steps.modelName,
    makeStep: steps.makeStep,
    ownSteps: undefined,
    beforeStep: steps.beforeStep,
    hasModel: steps.hasModel,
    allowSystemInMessages: steps.allowSystemInMessages,
    output: steps.output,
    name: checkAgentName(options.name),
    tools,
    hasAgentTools: Object.values(tools).some((tool) => readDelegation(tool) !== undefined),
    commitCancelled: commitsCancelled(tools),
    toolsContext,
    definedTools,
    toolApproval,
    callsApart: options[callsApart],
    toolRecovery,
    mayAnswer,
    mayStand: mayAnswer && makeStandingCheck(mayAnswer),
    principalId: options.principalId,
    grants: store.grants,
    requests: store.requests,
    onUnrecorded,
    retry: checkRetry(options.retry),
    limits: checkTimeout(options.timeout, tools),
    maxSteps,
    stopWhen,
    toolCallConcurrency: checkConcurrency(options.toolCallConcurrency),
    onStepEnd,
    onEnd,
    onError,
    leaseMs: checkMs(leaseMs, 'leaseMs'),
    abortGraceMs: checkMs(abortGraceMs, 'abortGraceMs', 0),
    events,
    report,
  };
  if (readChanging !== undefined) Object.defineProperty(context, 'tools', { get: readChanging });
  return new HoldpointAgent(context, { store, clock });
}

function checkModel(model: unknown): void {
  if (typeof model === 'string' && model !== '') return;
  checkMethods(
    model,
    ['doGenerate', 'doStream'],
    "model must be a language model of the AI SDK, such as openai('gpt-5'), or the id of one at the AI Gateway",
  );
}

function checkConcurrency(limit = Infinity): number {
  if (limit === Infinity || (Number.isInteger(limit) && limit >= 1)) return limit;
  throw new TypeError(`toolCallConcurrency must be a whole number of 1 or more; got ${limit}.`);
}

/* The newest feature of the language that is used here; without it a run would fail in the middle. */
function refuseOldRuntime(): void {
  if (typeof Promise.withResolvers === 'function') return;
  throw new Error(`holdpoint needs Node 22.18 or newer; this is ${globalThis.process?.version}.`);
}
