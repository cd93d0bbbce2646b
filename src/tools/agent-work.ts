import type { ModelMessage, Tool } from 'ai';
import {
  type AgentResponse,
  type Agent,
  type DelegatedCall,
  type DelegatedWork,
  type Execution,
  makeOutcome,
  type AgentDoor,
  type ChildThread,
  type AnswerOptions,
} from '../agent.ts';
import { readErrorText } from '../content/app-errors.ts';
import type { ToolCallRecord, WorkingAgent, CallPlace } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { Proposal } from '../thread/proposal.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { type EndedRequest, isSamePlace, callAt, needsSettling } from '../thread/thread-head.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import { giveUp } from './cancel-delegated.ts';
import {
  endsRequest,
  isEnded,
  mayStandAbove,
  readMirroredRequests,
  reportDuring,
} from './mirror-requests.ts';

/** The checked options of an agent tool. */
export interface DelegationOptions {
  /** The sub-agent's name. */
  agent: string;
  /** Makes the sub-agent's message. */
  prompt: (input: unknown) => string | ModelMessage;
  /** Makes the call's output. */
  output: (response: AgentResponse) => unknown;
  /** Makes the runtime context of the sub-agent's runs. */
  runtimeContext: (call: AgentCall<unknown>) => unknown;
  expiresAfterMs: number | undefined;
}

/** A call of an agent tool, as `runtimeContext` of `agentTool` receives it. */
export interface AgentCall<INPUT> {
  /** The input of the call. */
  input: INPUT;
  /** The `runtimeContext` of the parent's run; `undefined` in a worker, and where another person than the requesters continues the turn. */
  runtimeContext: unknown;
  /** The person who approved this call, and the channel; `undefined` if it needed no answer. */
  approvedBy: AnswerOptions | undefined;
}

/*
 * The interval of checks of a sub-agent that another process runs, or whose request has only ended in the parent thread, in milliseconds.
 */
const busyMs = 5_000;
/* The interval of checks of a sub-agent that waits for something other than people, in milliseconds. */
const checkMs = 60_000;
/** A function of the app threw. Only another version of the app can continue the work. */
class Unusable extends Error {}

/** A sub-agent, with its door. */
export interface SubAgent {
  readonly agent: Agent<never>;
  readonly door: AgentDoor;
}

/** A sub-agent's work on one delegated call, in the child thread. */
export class AgentWork {
  readonly #sub: SubAgent;
  readonly #child: ChildThread;
  readonly #options: DelegationOptions;

  constructor(sub: SubAgent, child: ChildThread, options: DelegationOptions) {
    this.#sub = sub;
    this.#child = child;
    this.#options = options;
  }

  /** Runs the sub-agent until it has finished or waits, and repeats its requests in the thread of the call. */
  async execute(
    call: DelegatedCall,
    { tool, record }: { tool: Tool; record: ToolCallRecord },
    work: DelegatedWork,
  ): Promise<Execution> {
    const result = await this.#result(call, record, work);
    const { agent } = this.#options;
    const { toolCallId } = call;
    const shown = work.shown();
    const requests = await readMirroredRequests(this.#child.thread, { call, agent, shown });
    switch (result.status) {
      case 'failed':
        return { type: 'ended', outcome: { status: 'failed', error: result.error }, requests };
      case 'succeeded':
        return {
          type: 'ended',
          outcome: await makeOutcome(tool, { toolCallId, input: work.input }, result.output),
          requests,
        };
      case 'waiting':
        return {
          type: 'delegated',
          events: (proposal, at) => {
            const repeated = requests(proposal, at);
            const wait = { name: agent, ...result };
            return [...repeated, makeWaitEvent({ proposal, repeated }, record, wait, at)];
          },
        };
    }
  }

  async #result(
    call: DelegatedCall,
    record: ToolCallRecord,
    work: DelegatedWork,
  ): Promise<DelegatedResult> {
    const { thread } = this.#child;
    const { id, revision } = thread;
    if (record.agent !== undefined && revision === 0) {
      const error = `Child thread ${id} of agent '${this.#options.agent}' was deleted.`;
      return { status: 'failed', error };
    }
    if (work.isStopped) return this.#stop('was stopped with its parent run.', work);
    const signal = AbortSignal.any([work.signal, ...this.#timeLimit(record, work.now())]);
    try {
      signal.throwIfAborted();
      const cancelledBy = new Map(
        thread.activeRequests.flatMap(({ requestId }): [string, AnswerOptions][] => {
          const by = work.cancelledBy(requestId);
          return by === undefined ? [] : [[requestId, by]];
        }),
      );
      const reason = 'The request was cancelled in the parent thread.';
      if (cancelledBy.size > 0) await this.#child.cancelRequests({ reason, cancelledBy });
      if (await this.#isUndecided(work)) {
        return await this.#fail(
          'waits for more answers to a request that the parent thread has closed as answered.',
        );
      }
      return await this.#resultOf(
        await this.#run(call, record, { work, abortSignal: signal }),
        revision,
      );
    } catch (error) {
      if (!signal.aborted) return this.#afterFailure(error);
      if (work.isResumedLater()) return this.#waiting(0);
      return this.#stop(`was stopped: ${readErrorText(error)}`, work);
    }
  }

  async #run(
    call: DelegatedCall,
    record: ToolCallRecord,
    { work, abortSignal }: { work: DelegatedWork; abortSignal: AbortSignal },
  ): Promise<AgentResponse> {
    const { input, principal, requesters, cause, approval, runtimeContext: given } = work;
    const { agent, prompt, runtimeContext: contextOf } = this.#options;
    const { thread } = this.#child;
    /* A call of the sub-agent was lost below. A run without input checks again at once: a person may have settled that call. */
    const isLostBelow = thread.calls.some(
      ({ status, agent: below }) => status === 'deferred' && below?.lostCalls !== undefined,
    );
    const seen = { input, runtimeContext: given, approvedBy: findApprover(approval) };
    const runtimeContext = callAppFunction('runtimeContext', () => contextOf(seen));
    const report = async (): Promise<void> => {
      const mirrored = await readMirroredRequests(thread, { call, agent, shown: work.shown() });
      work.report((proposal, at) =>
        callAt(proposal.head, record)?.status === 'started' ? mirrored(proposal, at) : [],
      );
    };
    const options = { runtimeContext, abortSignal };
    const first = callAppFunction('prompt', () => prompt(input));
    const messageId = 'call';
    const above = mayStandAbove(work.mayStand, call, agent);
    return reportDuring(this.#sub.agent, this.#child, report, async () =>
      isLostBelow
        ? this.#child.run([], options, requesters, cause, above)
        : this.#child.run(first, { ...options, messageId, principal }, requesters, cause, above),
    );
  }

  /** Aborts when the sub-agent's time is over. Timers take at most 2^31 ms; the expiry in the log covers longer times. */
  #timeLimit({ expiresAt = Infinity }: ToolCallRecord, now: number): AbortSignal[] {
    const left = Math.max(0, expiresAt - now);
    return left < 2 ** 31 ? [AbortSignal.timeout(Math.ceil(left))] : [];
  }

  async #resultOf(response: AgentResponse, revision: number): Promise<DelegatedResult> {
    switch (response.status) {
      case 'completed':
        return {
          status: 'succeeded',
          output: callAppFunction('output', () => this.#options.output(response)),
        };
      case 'cancelled':
        return this.#fail('was stopped before it finished.');
      case 'max-steps':
        return this.#fail('has used up its maxSteps.');
      case 'stuck':
        return this.#stuck();
      case 'running':
        return this.#waiting(busyMs);
      case 'waiting':
      case 'indeterminate':
        /* A sub-agent that is due and made no progress is checked later: it would be resumed in a loop. */
        return this.#waiting(undefined, this.#child.thread.revision === revision ? busyMs : 0);
    }
  }

  /** Handles a failed run of the sub-agent. The child thread has the time of the retry; without it, the state of the work is unknown. */
  async #afterFailure(error: unknown): Promise<DelegatedResult> {
    const { failure, revision } = this.#child.thread;
    const isRefused = HoldpointError.isInstance(error) && revision === 0;
    if (error instanceof Unusable || isRefused) return this.#fail(readErrorText(error));
    if (failure === undefined) throw error;
    return failure.retryAt === undefined ? this.#stuck() : this.#waiting();
  }

  async #stuck(): Promise<DelegatedResult> {
    const { error = 'unknown' } = this.#child.thread.failure ?? {};
    return this.#fail(`failed: ${error}`);
  }

  /**
   * Ends the work, unless a person stopped it and the sub-agent's requests are open or approved: a stop ends no request and undoes no
   * approval, and the answer, or the release of the approval, resumes the work.
   */
  async #stop(why: string, work: DelegatedWork): Promise<DelegatedResult> {
    const { thread } = this.#child;
    const by = work.stoppedBy();
    if (by === undefined || thread.revision === 0) return this.#fail(why, by);
    await this.#sub.agent.stop(thread, by);
    /* A stopped thread that is due has calls of its own sub-agents, which end or wait in a run. */
    if (thread.nextDeadline === 0) await this.#child.run([], {}, work.requesters, work.cause);
    const approvals = await this.#child.approvals();
    const isOpen = thread.activeRequests.length + approvals.length > 0;
    return isOpen ? this.#waiting(undefined, busyMs) : this.#fail(why, by);
  }

  /** Ends the work: no request of the sub-agent stays open, and no approved call starts afterwards. */
  async #fail(why: string, by?: AnswerOptions): Promise<DelegatedResult> {
    const reason = 'The call in the parent thread has failed.';
    await giveUp(this.#sub.door, this.#child.thread, { reason, by });
    const { id, calls } = this.#child.thread;
    const lost = calls
      .filter(({ status }) => status === 'indeterminate')
      .map(({ toolName, toolCallId }) => `${toolName} (${toolCallId})`);
    const note =
      lost.length === 0
        ? ''
        : ` It is unknown whether these calls in thread ${id} took effect: ${lost.join(', ')}.`;
    return { status: 'failed', error: `Agent '${this.#options.agent}' ${why}${note}` };
  }

  /**
   * Checks whether a request is still open that the parent thread has closed as answered, such as after its thread was restored from a
   * backup.
   */
  async #isUndecided(work: DelegatedWork): Promise<boolean> {
    const { thread } = this.#child;
    const isAnswered = (): boolean =>
      thread.activeRequests.some(({ requestId }) => work.isAnswered(requestId));
    if (!isAnswered()) return false;
    await this.#child.update();
    return isAnswered();
  }

  #waiting(within = Infinity, atLeast = 0): DelegatedResult {
    const { thread } = this.#child;
    /* Such calls are settled, or their outcomes delivered, in the child thread. */
    const isElsewhere = thread.calls.some(
      ({ status, agent }) =>
        status === 'indeterminate' || (status === 'deferred' && agent === undefined),
    );
    const dueMs = (thread.nextDeadline ?? Infinity) - this.#sub.agent.now();
    const resumeAfterMs = Math.max(
      Math.min(dueMs, isElsewhere ? checkMs : Infinity, within),
      atLeast,
    );
    return {
      status: 'waiting',
      threadId: thread.id,
      lostCalls: thread.calls.flatMap((call) => listLostCalls(call, this.#options.agent, thread)),
      asked: thread.activeRequests,
      resumeAfterMs: Number.isFinite(resumeAfterMs) ? resumeAfterMs : undefined,
    };
  }
}

/** Calls a function of the app. */
function callAppFunction<MADE>(what: string, make: () => MADE): MADE {
  try {
    return make();
  } catch (error) {
    throw new Unusable(`can't run: \`${what}\` of agentTool threw: ${readErrorText(error)}`);
  }
}

/** Finds the person who approved a call. */
function findApprover(approval: EndedRequest | undefined): AnswerOptions | undefined {
  const { response, principal, channel } = approval ?? {};
  const isApproved = response?.type === 'approval-response' && response.approved;
  return isApproved ? { principal, ...(channel === undefined ? {} : { channel }) } : undefined;
}

/** The lost calls for which a call of an agent waits: itself, or those of the agent that works on it. */
function listLostCalls(
  call: ToolCallRecord,
  agent: string,
  thread: AgentThread,
): NonNullable<WorkingAgent['lostCalls']> {
  const { status, agent: below, toolCallId, toolName } = call;
  if (status === 'deferred') return below?.lostCalls ?? [];
  if (!needsSettling(call) || !isRecordedAsLost(thread, call)) return [];
  return [{ agent, threadId: thread.id, toolCallId, toolName }];
}

/**
 * Checks whether the log says that a call is lost. Before that, a call whose run has lost its lease is shown as indeterminate, without
 * `recoverAt`.
 */
function isRecordedAsLost({ events }: AgentThread, call: ToolCallRecord): boolean {
  const last = events.findLast(
    (event) =>
      (event.type === 'call-started' || event.type === 'call-lost') && isSamePlace(event, call),
  );
  return last?.type === 'call-lost';
}

/** The state of the work on a delegated call. */
type DelegatedResult =
  | { status: 'succeeded'; output: unknown }
  | { status: 'failed'; error: string }
  | ({ status: 'waiting' } & DelegatedWait);

/** The wait of a delegated call: for people, or for `resumeAfterMs`, 0 to be resumed immediately. A duration, because clocks may differ. */
interface DelegatedWait {
  threadId: string;
  lostCalls: NonNullable<WorkingAgent['lostCalls']>;
  /** The requests that are open in the sub-agent's thread. */
  asked: readonly UserInputRequest[];
  resumeAfterMs: number | undefined;
}

/** The event of a delegated call that waits: when it is resumed. */
function makeWaitEvent(
  { proposal, repeated }: { proposal: Proposal; repeated: readonly ThreadEvent[] },
  call: ToolCallRecord,
  { name, threadId, lostCalls, asked, resumeAfterMs }: DelegatedWait & { name: string },
  at: number,
): ThreadEvent {
  const place = { step: call.step, index: call.index };
  const sinceStart = [...listSinceStart(proposal.state, place), ...repeated];
  /* A request ended while the agent stopped to wait: here, or below, read after `asked` was. */
  const isNews = asked.some((request) => sinceStart.some((event) => endsRequest(event, request)));
  const isStale = asked.length > 0 && asked.every((request) => isEnded(proposal, request));
  const after = isNews ? 0 : Math.min(resumeAfterMs ?? Infinity, isStale ? busyMs : Infinity);
  const agent = { name, threadId, ...(lostCalls.length > 0 ? { lostCalls: [...lostCalls] } : {}) };
  return {
    type: 'call-deferred',
    at,
    ...place,
    agent,
    ...(after === Infinity ? {} : { resumeAt: after === 0 ? 0 : at + after }),
    ...(call.expiresAt === undefined ? {} : { expiresAt: call.expiresAt }),
  };
}

/** Lists the events that were recorded after a call was last started. */
function listSinceStart(
  { events }: Readonly<ThreadState>,
  place: CallPlace,
): readonly ThreadEvent[] {
  const started = events.findLastIndex(
    (event) => event.type === 'call-started' && isSamePlace(event, place),
  );
  return events.slice(started + 1);
}
