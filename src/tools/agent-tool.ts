import { type FlexibleSchema, type ModelMessage, type Tool, tool } from 'ai';
import { z } from 'zod';
import type { Agent } from '../agent/agent.ts';
import type { AgentResponse } from '../agent/agent-response.ts';
import { requireChildAgent } from '../agent/child-agent.ts';
import { delegating } from '../agent/calls.ts';
import { checkMs } from '../content/checked-number.ts';
import { AgentDelegation } from './agent-delegation.ts';
import type { AgentCall } from './agent-work.ts';

/** Options of `agentTool`. */
export interface AgentToolOptions<INPUT> {
  /** What the sub-agent does: the description that the calling model reads. */
  description: string;
  /** The tool's name as shown to people. */
  title?: string;
  /** The schema of the tool's input. Default: `{ prompt: string }`. */
  inputSchema?: FlexibleSchema<INPUT>;
  /** Makes the sub-agent's message from the input. Called again when the call is resumed; the first message stays. Default: the input's `prompt`. */
  prompt?: (input: INPUT) => string | ModelMessage;
  /**
   * Makes the `runtimeContext` that the sub-agent's rules and tools receive. Default: that of the parent's run. Its `approvedBy` is set if a
   * person approved this call, so that a rule of the sub-agent can take that into account; without such a rule, approving the call approves
   * no call of the sub-agent. `approvedBy` comes from the log, so it is the same after a crash and in a worker.
   */
  runtimeContext?: (call: AgentCall<INPUT>) => unknown;
  /** Makes the call's output, which must be JSON, from the sub-agent's last response. Default: its `text`. */
  output?: (response: AgentResponse) => unknown;
  /**
   * How long the sub-agent may take, including the time that people take to answer, in milliseconds. After that it is cancelled, and the
   * call fails. Default: no limit.
   */
  expiresAfterMs?: number;
}

/** The input of an agent tool that has no `inputSchema`. */
export interface AgentPrompt {
  prompt: string;
}

/**
 * Makes an agent a tool of other agents. Each call has a separate child thread in the sub-agent's store, whose id derives from the call.
 *
 * The sub-agent's requests appear in the parent thread, with the `path` to the agent that asks, and are answered there, through any
 * channel. When the sub-agent has finished, its reply is the result of the call, once, even after crashes. Approving the call approves no
 * call of the sub-agent.
 *
 * Throws a `TypeError` for an agent without a name, for one that was not made with `createAgent` or `createCustomAgent`, and for an invalid
 * `expiresAfterMs`.
 *
 * @example
 * const buyer = createAgent({ name: 'buyer', store, model, tools: { pay }, toolApproval: { pay: 'user-approval' } });
 * const agent = createAgent({ store, model, tools: { buy: agentTool(buyer, { description: 'Buys what is described.' }) } });
 */
export function agentTool<INPUT = AgentPrompt>(
  agent: Agent<never>,
  options: AgentToolOptions<INPUT>,
): Tool<INPUT, string>;
export function agentTool(agent: Agent<never>, options: AgentToolOptions<unknown>): Tool {
  const { name } = agent;
  if (name === undefined) {
    throw new TypeError(
      'agentTool needs an agent with a name: its child threads belong to that name.',
    );
  }
  const { description, title, inputSchema = promptSchema, expiresAfterMs } = options;
  const delegation = new AgentDelegation(requireChildAgent(agent), {
    agent: name,
    prompt: options.prompt ?? parsePrompt,
    output: options.output ?? (({ text }) => text),
    runtimeContext: options.runtimeContext ?? ((call) => call.runtimeContext),
    expiresAfterMs: expiresAfterMs && checkMs(expiresAfterMs, 'expiresAfterMs'),
  });
  const made = tool({
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema,
    /* For loops outside this package. Agents of this package use the delegation, which can wait. */
    execute: async (input: unknown, { abortSignal }) => delegation.runAtOnce(input, abortSignal),
  });
  return Object.assign(made, { [delegating]: delegation });
}

const promptSchema = z.object({ prompt: z.string().describe('The task for the agent.') });

function parsePrompt(input: unknown): string {
  return promptSchema.parse(input).prompt;
}
