import type { AskedAnswer, UserInputResponseContent } from '../content/user-input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ParentCall } from '../thread/thread-event.ts';
import type { AgentResponse } from './agent-response.ts';
import type { Agent } from './agent.ts';
import type { AnswerOptions, RunInput } from './input/run-input.ts';
import type { RunOptions } from './run/run-options.ts';

/** A thread in which an agent works on a call of another agent. Its messages and answers come through that call alone. */
export interface ChildThread {
  readonly thread: AgentThread;
  /** Reads what others have appended. */
  update(): Promise<void>;
  run(input: RunInput, options: RunOptions<unknown>): Promise<AgentResponse>;
  /** Rejects, as `agent.respond` does, unless the answer would be accepted. Records nothing. */
  check(asked: AskedAnswer): Promise<void>;
  /** Records an answer that was checked; `mayAnswer` is not asked again. */
  respond(answer: UserInputResponseContent, by: AnswerOptions): Promise<void>;
}

/** The key of the method with which an agent opens a child thread. Registered, so that two copies of the package understand each other. */
export const openChild: unique symbol = Symbol.for('holdpoint.open-child');

/** An agent whose threads can be children. */
export interface ParentableAgent {
  [openChild](threadId: string, parent: ParentCall): Promise<ChildThread>;
}

/** The agent, if it was made by this package. Throws a `TypeError` for another, and for one without a name. */
export function childAgentOf(agent: Agent<never>): ParentableAgent & Agent<never> {
  if (!isParentable(agent)) {
    throw new TypeError('agentTool needs an agent made with createAgent or createCustomAgent.');
  }
  return agent;
}

function isParentable(agent: Agent<never>): agent is ParentableAgent & Agent<never> {
  return openChild in agent;
}
