import type { ModelMessage } from 'ai';
import type { AgentResponse } from '../agent/agent-response.ts';
import type { Agent } from '../agent/agent.ts';
import type { DelegatedCall, DelegatedWork } from '../agent/calls.ts';
import type { ChildThread, ParentableAgent } from '../agent/child-agent.ts';
import type { AnswerOptions } from '../agent/input.ts';
import { readErrorText } from '../content/error-text.ts';
import type { ToolCallRecord, WorkingAgent } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { type EndedRequest, isSamePlace } from '../thread/thread-head.ts';
import { busyMs, type DelegatedResult, reportWhileStarted } from './delegate-call.ts';
import { cancelChild, giveUp } from './cancel-delegated.ts';
import { mayStandAbove, readMirroredRequests } from './mirror-requests.ts';

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
  input: INPUT;
  /** The `runtimeContext` of the parent's run; `undefined` in a worker, and where somebody other than the requesters continues the turn. */
  runtimeContext: unknown;
  /** The person who approved this call, and the channel; `undefined` if nobody was asked. */
  approvedBy: AnswerOptions | undefined;
}

/* How often a sub-agent is checked that waits for something other than people, in milliseconds. */
const checkMs = 60_000;
/** A function of the app threw. Only another version of the app can continue the work. */
class Unusable extends Error {}

/** A sub-agent's work on one delegated call, in the child thread. */
export class AgentWork {
  readonly #agent: Agent<never> & ParentableAgent;
  readonly #child: ChildThread;
  readonly #options: DelegationOptions;

  constructor(
    agent: Agent<never> & ParentableAgent,
    child: ChildThread,
    options: DelegationOptions,
  ) {
    this.#agent = agent;
    this.#child = child;
    this.#options = options;
  }

  /** Runs the sub-agent until it has finished or waits. */
  async result(
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
      const cancelled = thread.activeRequests
        .map(({ requestId }) => work.cancelledBy(requestId))
        .find((by) => by !== undefined);
      if (cancelled !== undefined) {
        const reason = 'The request was cancelled in the parent thread.';
        await cancelChild(this.#agent, thread, { reason, by: cancelled });
      }
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
    const { input } = call;
    const { principal, requesters, cause, approval, runtimeContext: given } = work;
    const { agent, prompt, runtimeContext: contextOf } = this.#options;
    const { thread } = this.#child;
    /* A call of the sub-agent was lost below. A run without input looks again at once: somebody may have settled that call. */
    const isLostBelow = thread.calls.some(
      ({ status, agent: below }) => status === 'deferred' && below?.lostCalls !== undefined,
    );
    const seen = { input, runtimeContext: given, approvedBy: findApprover(approval) };
    const runtimeContext = callAppFunction('runtimeContext', () => contextOf(seen));
    const report = async (): Promise<void> => {
      const mirrored = await readMirroredRequests(thread, { call, agent, shown: work.shown() });
      work.report(reportWhileStarted(record, mirrored));
    };
    const options = { runtimeContext, abortSignal };
    const first = callAppFunction('prompt', () => prompt(input));
    const messageId = 'call';
    const above = mayStandAbove(work.mayStand, call, agent);
    return reportDuring(this.#agent, this.#child, report, async () =>
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

  /** The sub-agent's run failed. The child thread says when it is retried; without that, the state of the work is unknown. */
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

  /** Ends the work, unless a person stopped it and the sub-agent's requests are open: a stop ends no request, and its answer resumes the work. */
  async #stop(why: string, work: DelegatedWork): Promise<DelegatedResult> {
    const { thread } = this.#child;
    const by = work.stoppedBy();
    if (by === undefined || thread.activeRequests.length === 0) return this.#fail(why, by);
    await this.#agent.stop(thread, by);
    return this.#waiting();
  }

  /** Ends the work: no request of the sub-agent stays open, and no approved call starts afterwards. */
  async #fail(why: string, by?: AnswerOptions): Promise<DelegatedResult> {
    const reason = 'The call in the parent thread has failed.';
    await giveUp(this.#agent, this.#child.thread, { reason, by });
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

  /** Whether a request is still open that the parent thread has closed as answered: older versions counted the votes there. */
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
    const dueMs = (thread.resumeAt ?? Infinity) - this.#agent.now();
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

/** What a function of the app makes. */
function callAppFunction<MADE>(what: string, make: () => MADE): MADE {
  try {
    return make();
  } catch (error) {
    throw new Unusable(`can't run: \`${what}\` of agentTool threw: ${readErrorText(error)}`);
  }
}

/** Who approved a call. */
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
  const { status, recoverAt, agent: below, toolCallId, toolName } = call;
  if (status === 'deferred') return below?.lostCalls ?? [];
  /* The others are recovered by themselves. */
  const isPeoples = status === 'indeterminate' && recoverAt === undefined;
  if (!isPeoples || !isRecordedAsLost(thread, call)) return [];
  return [{ agent, threadId: thread.id, toolCallId, toolName }];
}

/** Whether the log says that a call is lost. Before that, a call whose run has lost its lease is shown as indeterminate, without `recoverAt`. */
function isRecordedAsLost({ events }: AgentThread, call: ToolCallRecord): boolean {
  const last = events.findLast(
    (event) =>
      (event.type === 'call-started' || event.type === 'call-lost') && isSamePlace(event, call),
  );
  return last?.type === 'call-lost';
}

const reportedTypes = [
  'request-opened',
  'request-voted',
  'vote-withdrawn',
  'request-reassigned',
  'request-answered',
  'request-closed',
] as const;
/* How often the requests are checked that another process has opened, in milliseconds: the run of the agent reads them. */
const reportMs = 1_000;

/** Reports an agent's open requests, whenever they change, to the thread of the call on which it works, until the work ends. */
async function reportDuring<RESULT>(
  agent: Agent<never>,
  child: ChildThread,
  report: () => Promise<void>,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  const { thread } = child;
  let isOver = false;
  let last = '[]';
  const check = async (): Promise<void> => {
    const requests = JSON.stringify(thread.activeRequests);
    if (isOver || requests === last) return;
    last = requests;
    await report();
  };
  let checking = check();
  const checkNext = (read?: () => Promise<void>): void => {
    /* What can't be read now is reported at the next check, or with the result. */
    checking = checking.then(async () => read?.()).then(check, () => {});
  };
  const unsubscribe = reportedTypes.map((type) =>
    agent.on(type, ({ threadId }) => {
      if (threadId === thread.id) checkNext(async () => child.update());
    }),
  );
  const timer = setInterval(() => checkNext(), reportMs);
  try {
    return await work();
  } finally {
    isOver = true;
    clearInterval(timer);
    for (const end of unsubscribe) end();
  }
}
