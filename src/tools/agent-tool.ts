import { type FlexibleSchema, type ModelMessage, type Tool, tool } from 'ai';
import { z } from 'zod';
import {
  type AgentResponse,
  type Agent,
  delegating,
  type CheckedAnswers,
  type DelegatedCall,
  makeDelegatedCall,
  type DelegatedWork,
  type Delegation,
  type Execution,
  makeFailedExecution,
  type PassedOn,
  type PassedChange,
  type Reporting,
  type ShownRequests,
  type Cancellation,
  type UnstartedApproval,
  type AgentDoor,
  findDoor,
  type ChildThread,
  type AnswerOptions,
} from '../agent.ts';
import { checkMs } from '../content/check-settings.ts';
import { readErrorText } from '../content/app-errors.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { makeChildThreadId } from '../thread/child-threads.ts';
import { type AgentCall, AgentWork, type SubAgent, type DelegationOptions } from './agent-work.ts';
import { commitCancelled, giveUp } from './cancel-delegated.ts';
import { isPassedOn, passRequestOn, readMirroredRequests, toOwnAnswer } from './mirror-requests.ts';

/** Options of `agentTool`. */
export interface AgentToolOptions<INPUT> {
  /** The description of the sub-agent that the calling model reads. */
  description: string;
  /** The tool's name as shown to people. */
  title?: string;
  /** The schema of the tool's input. Default: `{ prompt: string }`. */
  inputSchema?: FlexibleSchema<INPUT>;
  /**
   * Makes the sub-agent's message from the input. Called again when the call is resumed; the first message stays. Default: the input's
   * `prompt`.
   */
  prompt?: (input: INPUT) => string | ModelMessage;
  /**
   * Makes the `runtimeContext` that the sub-agent's rules and tools receive. Default: that of the parent's run. Its `approvedBy` is set if
   * a person approved this call, so that a rule of the sub-agent can take that into account; without such a rule, approving the call
   * approves no call of the sub-agent. `approvedBy` comes from the log, so it is the same after a crash and in a worker.
   */
  runtimeContext?: (call: AgentCall<INPUT>) => unknown;
  /** Makes the call's output, which must be JSON, from the sub-agent's last response. Default: its `text`. */
  output?: (response: AgentResponse) => unknown;
  /**
   * The time that the sub-agent may take, including the time that people take to answer, in milliseconds. After that it is cancelled, and
   * the call fails. Default: no limit.
   */
  expiresAfterMs?: number;
}

/** The input of an agent tool that has no `inputSchema`. */
type AgentPrompt = {
  /** The task of the sub-agent. */
  prompt: string;
};

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
  const delegation = new AgentDelegation(
    { agent, door: requireDoor(agent) },
    {
      agent: name,
      prompt: options.prompt ?? parsePrompt,
      output: options.output ?? (({ text }) => text),
      runtimeContext: options.runtimeContext ?? ((call) => call.runtimeContext),
      expiresAfterMs: expiresAfterMs && checkMs(expiresAfterMs, 'expiresAfterMs'),
    },
  );
  const made = tool({
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema,
    /* For loops outside this package. Agents of this package use the delegation, which can wait. */
    execute: async (input: unknown, { abortSignal }) => delegation.runAtOnce(input, abortSignal),
  });
  return Object.assign(made, { [delegating]: delegation });
}

/** The door of a sub-agent. Throws a `TypeError` for an agent that this package did not make. */
function requireDoor(agent: Agent<never>): AgentDoor {
  const door = findDoor(agent);
  if (door === undefined)
    throw new TypeError('agentTool needs an agent made with createAgent or createCustomAgent.');
  return door;
}

const promptSchema = z.object({ prompt: z.string().describe('The task for the agent.') });

function parsePrompt(input: unknown): string {
  return promptSchema.parse(input).prompt;
}

/* The number of levels of sub-agents, the outermost agent included. */
const maximumDepth = 8;
const maximumErrorLength = 500;

/** Delegates the calls of an agent tool: each has a child thread, in which the sub-agent works. */
class AgentDelegation implements Delegation {
  readonly #sub: SubAgent;
  readonly #options: DelegationOptions;

  constructor(sub: SubAgent, options: DelegationOptions) {
    this.#sub = sub;
    this.#options = options;
  }

  get agent(): string {
    return this.#options.agent;
  }

  get expiresAfterMs(): number | undefined {
    return this.#options.expiresAfterMs;
  }

  async work(called: Tool, record: ToolCallRecord, work: DelegatedWork): Promise<Execution> {
    const call = makeDelegatedCall(work.threadId, record);
    const fault = this.#whyNot(work.agents);
    if (fault !== undefined) return makeFailedExecution(fault);
    try {
      const child = await this.#open(call, work.agents);
      const elsewhere = this.#whyNotHere(record, child);
      /* The other agent may still run what was approved in its thread, so the call has not failed. */
      if (elsewhere !== undefined) return { type: 'lost', error: elsewhere };
      const agentWork = new AgentWork(this.#sub, child, this.#options);
      return await agentWork.execute(call, { tool: called, record }, work);
    } catch (error) {
      /* The progress of the work is unknown. It is resumed, like that of a process that died. */
      const why = `Agent '${this.agent}' could not be reached: ${readErrorText(error)}`;
      return { type: 'lost', error: why.slice(0, maximumErrorLength).toWellFormed() };
    }
  }

  readonly commitCancelled = commitCancelled;

  async check(call: DelegatedCall, { response, ...asked }: PassedOn): Promise<CheckedAnswers> {
    const child = await this.#open(call);
    const { request } = asked;
    const own = await this.#ownRequest(child, call, request);
    const { mayEnd } = asked;
    return child.check({
      ...asked,
      response: toOwnAnswer(response, request, own),
      mayEnd: mayEnd && (async (other) => mayEnd(await passRequestOn(other, call, this.agent))),
    });
  }

  async stop(call: DelegatedCall, by: AnswerOptions): Promise<void> {
    const { thread } = await this.#open(call);
    if (thread.revision > 0) await this.#sub.agent.stop(thread, by);
  }

  async approvals(call: DelegatedCall): Promise<readonly UnstartedApproval[]> {
    return (await this.#open(call)).approvals();
  }

  async release(
    call: DelegatedCall,
    requestIds: readonly string[],
    by: AnswerOptions,
  ): Promise<void> {
    await (await this.#open(call)).release(requestIds, by);
  }

  async takeBack(
    call: DelegatedCall,
    requestIds: readonly string[],
    cancellation: Cancellation,
  ): Promise<void> {
    await (await this.#open(call)).takeBack(requestIds, cancellation);
  }

  async change(call: DelegatedCall, { request, ...passed }: PassedChange): Promise<void> {
    const child = await this.#open(call);
    await this.#ownRequest(child, call, request);
    await child.change(passed);
  }

  definedTools(): ReturnType<Delegation['definedTools']> {
    return this.#sub.door.tools();
  }

  async mirror(call: DelegatedCall, shown: ShownRequests): Promise<Reporting> {
    const { thread } = await this.#open(call);
    return readMirroredRequests(thread, { call, agent: this.agent, shown });
  }

  async cancel(call: DelegatedCall, reason: string, by: AnswerOptions): Promise<void> {
    await giveUp(this.#sub.door, (await this.#open(call)).thread, { reason, by });
  }

  /** Runs the agent for a loop that can't wait for people. */
  async runAtOnce(input: unknown, abortSignal: AbortSignal | undefined): Promise<unknown> {
    const thread = await this.#sub.agent.thread();
    const options = abortSignal === undefined ? {} : { abortSignal };
    const response = await this.#sub.agent.run(this.#options.prompt(input), thread, options);
    const { status, userInputRequests } = response;
    if (status === 'completed') return this.#options.output(response);
    /* Otherwise somebody could approve work in the child thread after this call has failed. */
    await giveUp(this.#sub.door, thread, {
      reason: 'The agent was called in a loop that cannot wait.',
    });
    const asks = userInputRequests.map(({ text }) => text).join(' ');
    throw new Error(
      `Agent '${this.agent}' has not finished (${status}), and this loop can't wait for it, so its requests were cancelled` +
        `${asks === '' ? '' : `: ${asks}`} (thread ${thread.id}). ` +
        'Use the tool in createAgent, createCustomAgent or holdPoint, which show its requests to people and wait for the answers.',
    );
  }

  async #open(call: DelegatedCall, agents: DelegatedWork['agents'] = []): Promise<ChildThread> {
    const { threadId, toolCallId, idempotencyKey } = call;
    return this.#sub.door.openChild(makeChildThreadId(idempotencyKey), {
      threadId,
      toolCallId,
      agents: [...agents],
    });
  }

  #whyNot(agents: DelegatedWork['agents']): string | undefined {
    const path = [...agents, this.agent].map((name) => name ?? 'an agent without a name');
    if (agents.includes(this.agent)) {
      return `Not run: agent '${this.agent}' is already in the path (${path.join(' > ')}); an agent can't call itself, directly or through sub-agents.`;
    }
    if (agents.length < maximumDepth) return undefined;
    return `Not run: the path would have more than ${maximumDepth} agents (${path.join(' > ')}).`;
  }

  /* Another agent's thread in the same store was adopted, or could not be opened. */
  #whyNotHere({ agent }: ToolCallRecord, { thread }: ChildThread): string | undefined {
    if (agent === undefined || agent.name === this.agent || thread.revision > 0) return undefined;
    return `Not resumed: agent '${agent.name}' began this call, and the tool now calls agent '${this.agent}'. What was done is in thread ${agent.threadId}.`;
  }

  /** The open request of the sub-agent that a request in the parent thread mirrors. Throws `answer-mismatch` for another one. */
  async #ownRequest(
    { thread }: ChildThread,
    call: DelegatedCall,
    shown: UserInputRequest,
  ): Promise<UserInputRequest | undefined> {
    const { requestId } = shown;
    const own = thread.activeRequests.find((open) => open.requestId === requestId);
    /* The thread may have been that of an agent with another name when it asked. */
    const [{ agent } = this] = shown.path ?? [];
    if (own === undefined || (await isPassedOn({ ...own }, shown, call, agent))) return own;
    throw new HoldpointError(
      'answer-mismatch',
      `Request ${requestId} differs from the request that agent '${this.agent}' made. Cancel it with agent.cancel(thread).`,
      { requestId },
    );
  }
}
