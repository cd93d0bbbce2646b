import type { RequestPath } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import type { PrincipalId } from '../policy/same-person.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ParentCall } from '../thread/events.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import type { Cancellation } from './calls/delegation.ts';
import type { ChildThread } from './child-agent.ts';
import type { ToolDefinitions } from './calls/tool-definitions.ts';
import type { AnswerOptions } from './input/parse-input.ts';
import type { RequestRow, SeenRequest } from './list-requests.ts';
import type { DecideCaller } from './note-caller.ts';

/** The methods of an agent that channels, workers and agent tools use and apps don't. */
export interface AgentDoor {
  /** The store of the agent's threads. */
  readonly store: ThreadStore;
  /** The agent's knowledge of people. */
  readonly people: KnownPeople;
  /** Prepares the agent's tools, for the agents above it. */
  readonly tools: () => ToolDefinitions | Promise<ToolDefinitions>;
  /** Finds the input schemas of the agent's tools, or of those of the sub-agent at a path; none where they can't be known. */
  inputSchemas(path?: RequestPath): Promise<InputSchemas>;
  /** Opens the child thread of a call. */
  openChild(threadId: string, parent: ParentCall): Promise<ChildThread>;
  /** Cancels the agent's work in a child thread. The agent of the parent thread has asked who may. */
  cancelForParent(thread: AgentThread, cancellation: Cancellation): Promise<void>;
  /** Finds what a person may do with rows, without a query. */
  seeRequests<ROW extends RequestRow>(
    rows: readonly ROW[],
    by: AnswerOptions,
  ): Promise<SeenRequest<ROW>[]>;
  /**
   * Records a change of a thread's caller, and resolves whether there was one, once it is durable. Needs no run. Rejects as every append
   * does, with `wrong-agent` for a thread of another agent.
   */
  noteCaller(thread: AgentThread, decide: DecideCaller): Promise<boolean>;
}

/** The JSON Schemas of the tools' inputs, by tool name. */
export type InputSchemas = ReadonlyMap<string, unknown>;

/** The verdict of the app's `authorize` on a request for a thread. */
export interface SignIn {
  principal: unknown;
  /** The thread that the request is about, if it is about one. */
  threadId?: string | undefined;
}

/** An agent's knowledge of people, for the channels. */
export interface KnownPeople {
  /** Checks whether a principal names somebody. If not, `authorize` has a mistake, such as `isMember && user.email`, and is reported. */
  isSomebody(signIn: SignIn): boolean;
  /** Who a principal is, strictly. */
  identify(principal: unknown): string | undefined;
  /** The agent's option of this name. */
  readonly principalId: PrincipalId;
  /** Checks whether two principals are the same person, strictly. */
  isSame(one: unknown, other: unknown): boolean;
}

/** The key of an agent's door. A registered symbol, so that it works across two copies of the package. */
export const agentDoor: unique symbol = Symbol.for('holdpoint.agent-door');

/** The door of an agent; `undefined` for an app's own object around one. */
export function findDoor(agent: object): AgentDoor | undefined {
  return hasDoor(agent) ? agent[agentDoor] : undefined;
}

function hasDoor(agent: object): agent is { [agentDoor]: AgentDoor } {
  return agentDoor in agent;
}

/** Records a change of a thread's caller, as the agent's door does. Throws a `TypeError` for an app's own object around an agent. */
export async function noteCaller(
  agent: object,
  thread: AgentThread,
  decide: DecideCaller,
): Promise<boolean> {
  const door = findDoor(agent);
  if (door === undefined) throw new TypeError('Pass the agent itself, and no object around it.');
  return door.noteCaller(thread, decide);
}

/**
 * Checks whether an answer of a person to a request that is over would count, or has counted, if it were still open; `false` for an app's own
 * object around an agent.
 */
export async function couldAnswer(
  agent: object,
  request: UserInputRequest,
  by: AnswerOptions,
): Promise<boolean> {
  const { requestId, threadId } = request;
  const kind = request.type === 'approval-request' ? 'approval' : 'question';
  const row = {
    requestId,
    threadId,
    kind,
    state: 'settled',
    text: JSON.stringify(request),
  } as const;
  const [seen] = (await findDoor(agent)?.seeRequests([row], by)) ?? [];
  return seen?.couldAnswer === true;
}
