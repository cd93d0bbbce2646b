import type { AskedAnswer, UserInputResponseContent } from '../content/user-input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ParentCall } from '../thread/thread-event.ts';
import type { AgentResponse } from './agent-response.ts';
import type { Agent } from './agent.ts';
import type { AnswerOptions, RunInput } from './input/run-input.ts';
import type { RunOptions } from './run/run-options.ts';

/** A child thread, as a delegation uses it. Its messages and answers come only from there. */
export interface ChildThread {
  readonly thread: AgentThread;
  run(input: RunInput, options: RunOptions<unknown>): Promise<AgentResponse>;
  /** Rejects, as `agent.respond` does, unless the answer would be accepted. Records nothing. */
  check(asked: AskedAnswer): Promise<void>;
  /** Records an answer that was checked; `mayAnswer` is not called again. */
  respond(answer: UserInputResponseContent, by: AnswerOptions): Promise<void>;
}

/** The key of the method with which an agent opens a child thread. A registered symbol, so that it works across two copies of the package. */
export const openChild: unique symbol = Symbol.for('holdpoint.open-child');

/** An agent that can be a sub-agent. */
export interface ParentableAgent {
  [openChild](threadId: string, parent: ParentCall): Promise<ChildThread>;
}

/** The agent, if it was made by this package. Throws a `TypeError` for any other. */
export function childAgentOf(agent: Agent<never>): ParentableAgent & Agent<never> {
  if (!isParentable(agent)) {
    throw new TypeError('agentTool needs an agent made with createAgent or createCustomAgent.');
  }
  return agent;
}

function isParentable(agent: Agent<never>): agent is ParentableAgent & Agent<never> {
  return openChild in agent;
}
