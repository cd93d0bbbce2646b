import { actTerms } from '../content/act.ts';
import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import type { EventBuffer } from '../content/event-buffer.ts';
import type { Grant } from '../content/grant.ts';
import { withQuestionAnswers } from '../content/answerable.ts';
import type { AnswerableQuestion } from '../content/question.ts';
import type { Remember } from '../content/approval-terms.ts';
import type { RequestRights } from '../content/request-rights.ts';
import { HoldpointError } from '../errors.ts';
import { identifyStrictly, isSamePrincipal, whyNobody } from '../policy/same-person.ts';
import { AgentThread } from '../thread/agent-thread.ts';
import type { StoreClock } from '../thread/store-clock.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import type { AgentResponse } from './agent-response.ts';
import { type AgentStream, type AgentStreamEvent, RunStream } from './agent-stream.ts';
import type { Act, SingleAct } from './acts/act.ts';
import { refuseChildInput } from './acts/act-refusals.ts';
import { performAct } from './acts/acts.ts';
import { type AgentDoor, agentDoor, type KnownPeople } from './agent-door.ts';
import type { Agent } from './agent.ts';
import type { DeliveredOutcome, SettledOutcome } from './calls/delivered-outcome.ts';
import { askDuringCall, type Question } from './calls/question-call.ts';
import { requestApproval, type RequestedApproval } from './calls/requested-approval.ts';
import { openChildThread } from './child-thread.ts';
import { listActiveGrants, revokeGrant } from './grants.ts';
import { findToolsAt, pickInputSchemas } from './input-schemas.ts';
import { type ImportedHistory, importHistory, parseHistory } from './input/import-history.ts';
import {
  parseActor,
  parseAnswerer,
  parseInput,
  type AnswerOptions,
  type InputItem,
  type RespondOptions,
  type RunInput,
} from './input/parse-input.ts';
import { listRequests, type RequestList, type RequestListQuery, seeRows } from './list-requests.ts';
import { recordCaller } from './note-caller.ts';
import { findLoggedRights, listRights, type RequestReference } from './thread-rights.ts';
import { checkRunOptions } from './known-settings.ts';
import { runThread } from './run-thread.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { AgentEvents, AgentListener } from './run/agent-events.ts';
import type { RunOptions } from './run/run-options.ts';
import {
  adoptThread,
  cancelUnasked,
  checkAnswers,
  deleteThread,
  makeCancelledResponse,
  stopThread,
} from './thread-changes.ts';
import { makeLostIdError, ThreadHandles } from './thread-handles.ts';

/** An agent: each method brings the thread up to date, checks its input, and appends. */
export class HoldpointAgent implements Agent<unknown> {
  readonly #context: AgentContext;
  readonly #threads: ThreadHandles;
  readonly #door: AgentDoor;

  constructor(context: AgentContext, kept: { store: ThreadStore; clock: StoreClock }) {
    this.#context = context;
    this.#threads = new ThreadHandles(context, kept);
    this.#door = this.#openDoor(kept.store);
  }

  /* On the prototype, so that a copy of the agent's fields has no door. */
  get [agentDoor](): AgentDoor {
    return this.#door;
  }

  get name(): string | undefined {
    return this.#context.name;
  }

  now(): number {
    return this.#context.now();
  }

  async thread(
    ...given: [] | [threadId: string, history?: ImportedHistory | undefined]
  ): Promise<AgentThread> {
    const [threadId, history] = given;
    if (threadId === undefined && given.length > 0) throw makeLostIdError();
    if (history === undefined) return this.#threads.open(threadId);
    const imported = await parseHistory(history, this.#context);
    const thread = await this.#threads.open(threadId);
    await importHistory(this.#threads.logOf(thread), imported, this.#context.now);
    return thread;
  }

  async restore(json: unknown): Promise<AgentThread> {
    return this.#threads.restore(json);
  }

  async run(
    input: RunInput,
    thread: AgentThread,
    options: RunOptions<unknown> = {},
  ): Promise<AgentResponse> {
    const checked = checkRunOptions('run', options);
    return runThread(this.#context, this.#threads, thread, { input, options: checked });
  }

  async resume(thread: AgentThread, options?: RunOptions<unknown>): Promise<AgentResponse> {
    return this.run([], thread, options);
  }

  stream(input: RunInput, thread: AgentThread, options: RunOptions<unknown> = {}): AgentStream {
    const checked = checkRunOptions('stream', options);
    const run = async (buffer: EventBuffer<AgentStreamEvent>, abortSignal: AbortSignal) =>
      runThread(this.#context, this.#threads, thread, {
        input,
        options: { ...checked, abortSignal },
        buffer,
      });
    return new RunStream(run, checked.abortSignal);
  }

  async respond(
    answers: InputItem | readonly InputItem[],
    thread: AgentThread,
    { principal, channel, onlyIfUnspent }: RespondOptions = {},
  ): Promise<void> {
    const by = this.#parseActor({ principal, channel });
    const log = await this.#current(thread);
    const once = onlyIfUnspent === true ? { above: { onlyIfUnspent } } : {};
    const parsed = { ...parseInput(answers, by), ...once };
    if (parsed.messages.length > 0) {
      throw new HoldpointError(
        'invalid-input',
        'agent.respond takes only answers; pass messages to agent.run.',
      );
    }
    refuseChildInput(log.state, parsed);
    const { record } = await checkAnswers(this.#context, log, parsed, this.#context.mayAnswer);
    await record();
  }

  async rights(
    requests: AgentThread | readonly RequestReference[],
    options: AnswerOptions,
  ): Promise<RequestRights[]> {
    const by = parseAnswerer(options);
    if (!(requests instanceof AgentThread))
      return listRights(this.#context, this.#threads, requests, by);
    const log = await this.#current(requests);
    return Promise.all(
      log.state.head.openRequests.map(async ({ request }) =>
        findLoggedRights(this.#context, log, request, by),
      ),
    );
  }

  async requests(query: RequestListQuery): Promise<RequestList> {
    await this.#threads.syncClock();
    return listRequests(this.#context, this.#threads, query);
  }

  async requestApproval(
    thread: AgentThread,
    asked: RequestedApproval,
  ): Promise<ApprovalRequestContent> {
    const log = await this.#current(thread);
    return withAnswers(await requestApproval(log, this.#context, asked));
  }

  async withdraw(thread: AgentThread, requestId: string, options: AnswerOptions): Promise<void> {
    await this.#perform(thread, { type: 'withdraw', requestId }, options);
  }

  async reassign(
    thread: AgentThread,
    requestId: string,
    to: string,
    options: AnswerOptions,
  ): Promise<void> {
    await this.#perform(thread, { type: 'reassign', requestId, to }, options);
  }

  async remember(
    thread: AgentThread,
    requestId: string,
    remember: Remember,
    options: AnswerOptions,
  ): Promise<void> {
    await this.#perform(thread, { type: 'remember', requestId, remember }, options);
  }

  async grants(thread?: AgentThread): Promise<Grant[]> {
    return listActiveGrants(this.#context, thread && (await this.#current(thread)));
  }

  async revoke(grant: Grant, options: AnswerOptions = {}): Promise<void> {
    const by = this.#parseActor(options);
    await revokeGrant(this.#context, this.#threads, { grant, by });
  }

  async requestAnswer(
    thread: AgentThread,
    toolCallId: string,
    question: Question,
    { replyTo }: { replyTo?: unknown } = {},
  ): Promise<AnswerableQuestion> {
    const log = await this.#current(thread);
    const asked = { toolCallId, question, replyTo };
    return withQuestionAnswers(await askDuringCall(log, this.#context, asked));
  }

  async settle(
    thread: AgentThread,
    toolCallId: string,
    outcome: SettledOutcome,
    options: AnswerOptions = {},
  ): Promise<void> {
    await this.#perform(thread, { type: 'settle', toolCallId, outcome }, options);
  }

  async deliver(
    thread: AgentThread,
    toolCallId: string,
    outcome: DeliveredOutcome,
    options: AnswerOptions = {},
  ): Promise<void> {
    await this.#perform(thread, { type: 'deliver', toolCallId, outcome }, options);
  }

  async retract(
    thread: AgentThread,
    messageId?: string,
    options: AnswerOptions = {},
  ): Promise<void> {
    await this.#perform(thread, { type: 'retract', messageId }, options);
  }

  async stop(thread: AgentThread, options: AnswerOptions = {}): Promise<void> {
    await stopThread(this.#context, await this.#current(thread), this.#parseActor(options));
  }

  async cancel(
    thread: AgentThread,
    reason: string = actTerms.cancel.reason,
    options: AnswerOptions = {},
  ): Promise<AgentResponse> {
    const { state } = await this.#perform(thread, { type: 'cancel', reason }, options);
    return makeCancelledResponse(thread, state);
  }

  async adopt(thread: AgentThread): Promise<void> {
    const log = this.#threads.logOf(thread);
    await this.#threads.pull(log);
    await adoptThread(this.#context, log);
  }

  async delete(thread: AgentThread): Promise<void> {
    await deleteThread(this.#context, await this.#current(thread));
  }

  on<TYPE extends keyof AgentEvents>(type: TYPE, listener: AgentListener<TYPE>): () => void {
    return this.#context.events.on(type, listener);
  }

  #openDoor(store: ThreadStore): AgentDoor {
    const context = this.#context;
    const threads = this.#threads;
    return {
      store,
      people: describePeople(context),
      tools: () => context.definedTools(),
      inputSchemas: async (path) =>
        pickInputSchemas(await findToolsAt(path, await context.definedTools())),
      openChild: async (threadId, parent) =>
        openChildThread(context, threads, { threadId, parent }),
      cancelForParent: async (thread, cancellation) =>
        cancelUnasked(context, await this.#current(thread), cancellation),
      seeRequests: async (rows, by) => {
        await threads.syncClock();
        return seeRows(context, threads, rows, parseAnswerer(by));
      },
      noteCaller: async (thread, decide) =>
        recordCaller(context, await this.#current(thread), decide),
    };
  }

  #parseActor(given: AnswerOptions): AnswerOptions {
    return parseActor(given, this.#context.principalId);
  }

  /** Performs an act in a thread. Resolves with the thread's log. */
  async #perform<TYPE extends SingleAct>(
    thread: AgentThread,
    act: Act<TYPE>,
    options: AnswerOptions,
  ): Promise<ThreadLog> {
    const by = this.#parseActor(options);
    const log = await this.#current(thread);
    await performAct({ context: this.#context, log, act, by });
    return log;
  }

  /** The log of a thread, read to its end. */
  async #current(thread: AgentThread): Promise<ThreadLog> {
    const log = this.#threads.logOf(thread);
    await this.#threads.update(log);
    return log;
  }
}

/** Describes what an agent knows of people. */
function describePeople({
  principalId,
  report,
}: Pick<AgentContext, 'principalId' | 'report'>): KnownPeople {
  return {
    isSomebody: ({ principal, threadId }) => {
      const fault = whyNobody(principal, principalId);
      if (fault === undefined) return true;
      const problem = `The principal that it returned names nobody: ${fault}. The request was refused.`;
      const about = threadId === undefined ? {} : { threadId };
      report({ setting: 'authorize', kind: 'invalid', problem, ...about });
      return false;
    },
    principalId,
    identify: (principal) => identifyStrictly(principal, principalId),
    isSame: (one, other) => isSamePrincipal(one, other, principalId),
  };
}
