import type { ToolSet } from 'ai';
import { randomId } from '../content/random-id.ts';
import type { Agent } from './agent.ts';
import { AgentEvents } from './agent-events.ts';
import type { AgentOptions } from './agent-options.ts';
import { checkRules } from './apply-rules.ts';
import { HoldpointAgent } from './holdpoint-agent.ts';
import { settingsOf } from './model-step.ts';
import { checkRecovery } from './recover-calls.ts';
import { checkTools } from './tool-definitions.ts';

/**
 * Wraps a language model with a loop that runs tools, asks people where a rule says so, and remembers.
 * Throws a `TypeError` for rules that name no tool, or one that runs at the provider, and for a `leaseMs` or an `abortGraceMs`
 * that no timer can wait for.
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
>(options: AgentOptions<TOOLS, RUNTIME_CONTEXT>): Agent<RUNTIME_CONTEXT> {
  const { tools = {}, toolApproval, toolRecovery = {} } = options;
  checkTools(tools);
  checkRules(toolApproval, tools);
  checkRecovery(toolRecovery, tools);
  const { leaseMs = 60_000, abortGraceMs = 5_000 } = options;
  checkWait('leaseMs', leaseMs, 1);
  checkWait('abortGraceMs', abortGraceMs, 0);
  return new HoldpointAgent({
    options,
    settings: settingsOf(options),
    maxSteps: options.maxSteps ?? 20,
    leaseMs,
    abortGraceMs,
    now: options.now ?? Date.now,
    generateId: options.generateId ?? randomId,
    events: new AgentEvents(),
    toldLost: new Set(),
  });
}

/* A timer takes what it can't wait for as a millisecond, and a log with the end of such a lease can't be read again. */
function checkWait(name: string, milliseconds: number, least: number): void {
  if (milliseconds >= least && milliseconds <= 2_147_483_647) return;
  throw new TypeError(
    `${name} is a time in milliseconds, from ${least} to 2,147,483,647, and not ${milliseconds}.`,
  );
}
