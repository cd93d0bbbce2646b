import type { ToolSet } from 'ai';
import type { ToolCall } from '../content/tool-call.ts';
import { readModelName } from '../thread/tracing.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Agent } from './agent.ts';
import { refuseUnknownAgentSettings } from './known-settings.ts';
import { makeAgent } from './make-agent.ts';
import { pickModelSettings, makeModelSteps } from './model/model-step.ts';

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
  refuseUnknownAgentSettings(options);
  const { model, instructions, allowSystemInMessages } = options;
  const { prepareStep, output, toolsContext = {} } = options;
  const settings = pickModelSettings(options);
  return makeAgent(options, () => ({
    modelName: readModelName(model),
    makeStep: makeModelSteps({ model, instructions, settings, prepareStep, output, toolsContext }),
    hasModel: true,
    allowSystemInMessages,
    output,
  }));
}
