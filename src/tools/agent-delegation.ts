import type { Tool } from 'ai';
import type { Agent } from '../agent/agent.ts';
import type { CallFailure } from '../agent/calls/answer-receiver.ts';
import {
  type DelegatedCall,
  delegatedCall,
  type DelegatedWork,
  type Delegation,
  type PassedAnswer,
  type Reassignment,
} from '../agent/calls/delegation.ts';
import type { Execution } from '../agent/calls/execute-call.ts';
import { type ChildThread, openChild, type ParentableAgent } from '../agent/child-agent.ts';
import { errorText } from '../content/error-text.ts';
import { timer } from '../content/timer.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import type {
  AskedAnswer,
  UserInputRequest,
  UserInputResponseContent,
} from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import { commitCancelled } from './cancel-delegated.ts';
import { AgentWork, type DelegationOptions, giveUp } from './agent-work.ts';
import { busyMs, type DelegatedResult, executionOf, isPassedOn } from './delegate-call.ts';

/* The number of levels of sub-agents, the outermost agent included. */
const maximumDepth = 8;
const maximumErrorLength = 500;
/* How long to wait before an answer is sent again, in milliseconds. */
const pauses = [100, 500, 2_000];

/** Delegates the calls of an agent tool: each has a child thread, in which the sub-agent works. */
export class AgentDelegation implements Delegation {
  readonly #child: ParentableAgent & Agent<never>;
  readonly #options: DelegationOptions;

  constructor(child: ParentableAgent & Agent<never>, options: DelegationOptions) {
    this.#child = child;
    this.#options = options;
  }

  get agent(): string {
    return this.#options.agent;
  }

  async work(tool: Tool, call: ToolCallRecord, work: DelegatedWork): Promise<Execution> {
    const delegated = delegatedCall(work.threadId, call);
    try {
      const result = await this.#result(delegated, call, work);
      return await executionOf(this.#options, { call, delegated, tool }, result);
    } catch (error) {
      /* Where the work has got to is unknown. It is resumed, like that of a process that died. */
      const why = `Agent '${this.agent}' could not be reached: ${errorText(error)}`;
      return { type: 'lost', error: why.slice(0, maximumErrorLength).toWellFormed() };
    }
  }

  async #result(
    call: DelegatedCall,
    record: ToolCallRecord,
    work: DelegatedWork,
  ): Promise<DelegatedResult> {
    const fault = this.#whyNot(work.agents);
    if (fault !== undefined) return { status: 'failed', error: fault };
    const child = await this.#open(call, work.agents);
    return new AgentWork(this.#child, child, this.#options).result(call, record, work);
  }

  readonly commitCancelled = commitCancelled;

  async check(
    call: DelegatedCall,
    { response, ...asked }: AskedAnswer,
  ): Promise<string | undefined> {
    const child = await this.#open(call);
    return child.check({ ...asked, response: plainAnswer(response, asked.request) });
  }

  async reassign(call: DelegatedCall, reassignment: Reassignment): Promise<void> {
    await (await this.#open(call)).reassign(reassignment);
  }

  async send(
    call: DelegatedCall,
    answer: PassedAnswer,
    signal: AbortSignal,
  ): Promise<CallFailure | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#sendOnce(call, answer);
      } catch (error) {
        if (signal.aborted) throw error;
        if (HoldpointError.isInstance(error)) {
          if (isTooLate(error)) throw error;
          /* The child thread can't be opened: an answer that did not arrive must not count as sent. */
          return {
            status: 'failed',
            error: `The answer could not be sent to agent '${this.agent}': ${error.message}`,
          };
        }
        await timer(pauses[attempt] ?? busyMs, signal);
      }
    }
  }

  async cancel(call: DelegatedCall, reason: string): Promise<void> {
    await giveUp(this.#child, (await this.#open(call)).thread, reason);
  }

  /** Runs the agent for a loop that can't wait for people. */
  async runAtOnce(input: unknown, abortSignal: AbortSignal | undefined): Promise<unknown> {
    const thread = await this.#child.thread();
    const options = abortSignal === undefined ? {} : { abortSignal };
    const response = await this.#child.run(this.#options.prompt(input), thread, options);
    const { status, userInputRequests } = response;
    if (status === 'completed') return this.#options.output(response);
    /* Otherwise somebody could approve work in the child thread after this call has failed. */
    await giveUp(this.#child, thread, 'The agent was called in a loop that cannot wait.');
    const asks = userInputRequests.map(({ text }) => text).join(' ');
    throw new Error(
      `Agent '${this.agent}' has not finished (${status}), and this loop can't wait for it, so its requests were cancelled` +
        `${asks === '' ? '' : `: ${asks}`} (thread ${thread.id}). ` +
        'Use the tool in createAgent, createCustomAgent or holdPoint, which show its requests to people and wait for the answers.',
    );
  }

  async #open(call: DelegatedCall, agents: DelegatedWork['agents'] = []): Promise<ChildThread> {
    const { threadId, toolCallId, idempotencyKey } = call;
    return this.#child[openChild](`call-${idempotencyKey}`, {
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

  async #sendOnce(
    call: DelegatedCall,
    { request, response, principal, channel }: PassedAnswer,
  ): Promise<CallFailure | undefined> {
    const child = await this.#open(call);
    const { requestId } = request;
    const own = child.thread.activeRequests.find((open) => open.requestId === requestId);
    if (own !== undefined && !(await isPassedOn({ ...own }, request, call, this.agent))) {
      return this.#refuse(child, `request ${requestId} differs from the one that was answered`);
    }
    try {
      for (const vote of votesFor(request)) await child.respond(vote.answer, senderOf(vote));
      await child.respond(plainAnswer(response, request), senderOf({ principal, channel }));
      return undefined;
    } catch (error) {
      if (!HoldpointError.isInstance(error) || isTooLate(error)) throw error;
      return this.#refuse(child, error.message);
    }
  }

  async #refuse(child: ChildThread, why: string): Promise<CallFailure> {
    await giveUp(this.#child, child.thread, 'The answer could not be sent.');
    return {
      status: 'failed',
      error: `The answer could not be sent to agent '${this.agent}': ${why}`,
    };
  }
}

/** The approvals that came before the one which decided a request: the sub-agent counts them itself. */
function votesFor(request: UserInputRequest) {
  if (request.type !== 'approval-request') return [];
  const { requestId, votes = [] } = request;
  return votes.map(({ reason, remember, principal, channel }) => {
    const says = { ...(reason === undefined ? {} : { reason }), ...(remember && { remember }) };
    const yes = { type: 'approval-response' as const, requestId, approved: true, ...says };
    return { answer: plainAnswer(yes, request), principal, channel };
  });
}

function senderOf({ principal, channel }: Pick<PassedAnswer, 'principal' | 'channel'>) {
  return { principal, ...(channel === undefined ? {} : { channel }) };
}

/**
 * The answer without the digest and call that it repeats: those of the original request differ from the mirrored ones. An approval of an
 * edited input carries that input.
 */
function plainAnswer(
  response: UserInputResponseContent,
  request: UserInputRequest,
): UserInputResponseContent {
  if (response.type !== 'approval-response') return response;
  const { digest: _digest, toolCall: _shown, ...answer } = response;
  const isEdited = request.type === 'approval-request' && request.edit !== undefined;
  return isEdited && response.approved ? { input: request.toolCall?.input, ...answer } : answer;
}

/* The request already has an answer, or is closed. */
function isTooLate({ code }: HoldpointError): boolean {
  return code === 'already-answered' || code === 'request-closed';
}
