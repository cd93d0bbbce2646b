import { commitsCancelled } from './calls/delegation.ts';
import { checkMs } from '../content/check-settings.ts';
import { makeRandomId } from '../content/crypto.ts';
import { memoryStore } from '../stores/memory.ts';
import { findClock } from '../thread/store-clock.ts';
import type { SharedAgentOptions } from './agent-options.ts';
import type { Agent } from './agent.ts';
import { checkRules, checkTools } from './calls/check-rules.ts';
import { defineToolsOnce } from './calls/tool-definitions.ts';
import { HoldpointAgent } from './holdpoint-agent.ts';
import type { AgentContext, StepMaking } from './run/agent-context.ts';
import { AgentEmitter } from './run/agent-events.ts';
import { guardMayAnswer } from './input/guarded-may-answer.ts';
import { makeStandingCheck } from './input/standing-answers.ts';
import { makeFailureReporter } from './run/report-failure.ts';
import { checkRetry } from './run/retry-time.ts';
import { checkTimeout } from './run/time-limits.ts';
import { checkRecovery } from './run/tool-recovery.ts';
import { checkAgentName } from './thread-handles.ts';

/** Checks the options that all agents share, and makes an agent whose steps come from `stepMaking`. */
export function makeAgent(
  options: Omit<SharedAgentOptions, 'toolApproval'> & { toolApproval?: unknown },
  stepMaking: (
    made: Pick<AgentContext, 'now' | 'generateId' | 'mayAnswer' | 'report'>,
  ) => StepMaking,
): Agent<unknown> {
  refuseOldRuntime();
  const { toolApproval, onUnrecorded, stopWhen, onStepEnd, onEnd, onError } = options;
  const { tools = {}, toolsContext = {}, toolRecovery = {} } = options;
  const { maxSteps = 20, leaseMs = 60_000, abortGraceMs = 5_000 } = options;
  checkTools(tools);
  checkRules(toolApproval, tools, { mayAnswer: options.mayAnswer, name: options.name });
  checkRecovery(toolRecovery, tools);
  if (!(maxSteps >= 1)) throw new TypeError(`maxSteps must be 1 or more; got ${maxSteps}.`);
  const store = options.store ?? memoryStore();
  const clock = findClock(store);
  const { now = clock.now, generateId = makeRandomId } = options;
  const events = new AgentEmitter();
  const report = makeFailureReporter(options.name, events);
  const definedTools = defineToolsOnce(tools, toolsContext, report);
  const mayAnswer = guardMayAnswer(options.mayAnswer, definedTools, report);
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
    commitCancelled: commitsCancelled(tools),
    toolsContext,
    definedTools,
    toolApproval,
    toolRecovery,
    mayAnswer,
    mayStand: mayAnswer && makeStandingCheck(mayAnswer),
    principalId: options.principalId,
    grants: store.grants,
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
  return new HoldpointAgent(context, { store, clock });
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
