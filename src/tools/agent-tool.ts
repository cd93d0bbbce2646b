import { type FlexibleSchema, type ModelMessage, type Tool, tool } from 'ai';
import { z } from 'zod';
import type { Agent } from '../agent/agent.ts';
import type { AgentResponse } from '../agent/agent-response.ts';
import { childAgentOf } from '../agent/child-agent.ts';
import { delegating } from '../agent/calls/delegation.ts';
import { checkedMs } from '../content/checked-number.ts';
import { AgentDelegation } from './agent-delegation.ts';
import type { AgentCall } from './agent-work.ts';

/** Options of `agentTool`. */
export interface AgentToolOptions<INPUT> {
  /** What the agent is for: the model that calls it reads this. */
  description: string;
  /** The name that people are shown. */
  title?: string;
  /** The schema of the tool's input. Default: `{ prompt: string }`. */
  inputSchema?: FlexibleSchema<INPUT>;
  /** Makes the message that the agent gets from the input. Default: the input's `prompt`. */
  prompt?: (input: INPUT) => string | ModelMessage;
  /**
   * Makes the `runtimeContext` that the agent's rules and tools receive. Default: that of the run that made the call. Approving the call
   * approves nothing that the agent does, unless a rule of the agent says so: `approvedBy` is set if a person approved this call, and is
   * read from the log, so that it is the same after a crash and in a worker.
   */
  runtimeContext?: (call: AgentCall<INPUT>) => unknown;
  /** Makes the call's output, which must be JSON, from the agent's last response. Default: its `text`. */
  output?: (response: AgentResponse) => unknown;
  /** How long the agent may take, with the time that people take to answer, in milliseconds. Then it is cancelled, and the call fails. */
  expiresAfterMs?: number;
}

/** The input of an agent tool that has no `inputSchema`. */
export interface AgentPrompt {
  prompt: string;
}

/**
 * Makes an agent a tool of other agents. Each call has a thread of its own, in the agent's store, whose id derives from the call.
 *
 * The agent's requests appear among those of the thread that made the call, with the `path` to the agent that asks, and are answered
 * there, through any channel. When the agent has finished, its reply is the result of the call, once, whatever crashes. Approving the
 * call approves nothing that the agent does.
 *
 * Throws a `TypeError` for an agent without a name, and for one that was not made with `createAgent` or `createCustomAgent`.
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
    throw new TypeError('agentTool needs an agent with a name: it owns the threads of the calls.');
  }
  const { description, title, inputSchema = promptSchema, expiresAfterMs } = options;
  const delegation = new AgentDelegation(childAgentOf(agent), {
    agent: name,
    prompt: options.prompt ?? promptOf,
    output: options.output ?? (({ text }) => text),
    runtimeContext: options.runtimeContext ?? ((call) => call.runtimeContext),
    expiresAfterMs: expiresAfterMs && checkedMs(expiresAfterMs, 'expiresAfterMs'),
  });
  const made = tool({
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema,
    /* For the loops of others: an agent of this package uses the delegation, which can wait. */
    execute: async (input: unknown, { abortSignal }) => delegation.runAtOnce(input, abortSignal),
  });
  return Object.assign(made, { [delegating]: delegation });
}

const promptSchema = z.object({ prompt: z.string().describe('What the agent is to do.') });

function promptOf(input: unknown): string {
  return promptSchema.parse(input).prompt;
}
