import type { ApprovalRequestContent } from '../content/approval.ts';
import type { Remember } from '../content/approval-terms.ts';
import type { Grant } from '../content/grant.ts';
import type { AnswerableQuestion } from '../content/question.ts';
import type { RequestRights } from '../content/request-rights.ts';
import type { ToolCall } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { AgentResponse } from './agent-response.ts';
import type { AgentStream } from './agent-stream.ts';
import type { Question } from './calls/question-call.ts';
import type { RequestedApproval } from './calls/requested-approval.ts';
import type { DeliveredOutcome, SettledOutcome } from './calls/delivered-outcome.ts';
import type { ImportedHistory } from './input/import-history.ts';
import type { AnswerOptions, InputItem, RespondOptions, RunInput } from './input/parse-input.ts';
import type { RequestList, RequestListQuery } from './list-requests.ts';
import type { AgentEvents, AgentListener } from './run/agent-events.ts';
import type { RunOptions } from './run/run-options.ts';

/**
 * A loop that takes steps with a language model or a function of the app, asks people where a rule says so, and keeps everything in
 * threads. `CALL` is `ToolCall<typeof tools>`, and types the calls in its responses and threads; `OUTPUT` is the type of
 * `response.output`. Every agent can be assigned to the plain `Agent`.
 */
export interface Agent<
  RUNTIME_CONTEXT = Record<string, unknown>,
  CALL extends ToolCall = ToolCall,
  OUTPUT = unknown,
> {
  /** The name that the agent's threads are kept under. */
  readonly name: string | undefined;
  /**
   * The agent's clock, in milliseconds since 1970: the `now` it was created with, else the store's clock, else `Date.now`. Compare
   * `thread.nextDeadline` with it.
   */
  now(): number;
  /**
   * Opens the thread with this id from the store, or starts it; called without arguments, starts a new one. Writes nothing, with one
   * exception: when a run died in the middle of a call, that is recorded (`call-lost`), so that everybody can see it. A thread of another
   * agent can be opened and read, but not run.
   *
   * With `history.messages`, a new thread begins with that conversation, and is recorded when the promise resolves. Its tool calls,
   * results and approvals are history for the model: nothing in it can be answered, run or settled. If it ends with a message of the user
   * or a tool, `run([], thread)` replies. A thread that began with the same messages is opened, so the same call can be made each time.
   *
   * @example
   * const thread = await agent.thread('trip-42', { messages, principal: 'migration', openCalls: 'close' });
   *
   * Rejects with a `TypeError` for the id `undefined`, which is usually a lost one; with `invalid-input` and the position of a message that
   * can't be kept, such as a call without a result; with `thread-diverged` if the thread exists and did not begin with these messages; with
   * `wrong-agent` for a thread of another agent.
   */
  thread(
    ...given: [] | [threadId: string, history?: ImportedHistory | undefined]
  ): Promise<AgentThread<CALL>>;
  /**
   * Takes text, messages or answers, and runs until the model has replied, a person is asked, or the steps are used up. The whole input
   * is checked before anything is recorded; an approved call starts at most once.
   *
   * Rejects with a `HoldpointError` for bad input (see its codes), with the provider's error, or with the reason of an aborted
   * `abortSignal`. After each of these `resume(thread)` resumes the thread.
   */
  run(
    input: RunInput,
    thread: AgentThread,
    options?: RunOptions<RUNTIME_CONTEXT>,
  ): Promise<AgentResponse<CALL, OUTPUT>>;
  /**
   * Resumes the thread from what is recorded: after a failure or a crash, and after answers that `respond` recorded. It is
   * `run([], thread, options)`, and returns the requests that are open if people are still asked.
   */
  resume(
    thread: AgentThread,
    options?: RunOptions<RUNTIME_CONTEXT>,
  ): Promise<AgentResponse<CALL, OUTPUT>>;
  /**
   * The same run as a stream: the model's output as it arrives, and the thread's events once they are durable. Read it to its end, or
   * leave it with `break`: a run whose reader stops reading holds the thread.
   *
   * @example
   * const stream = agent.stream('Book me a flight to Paris on Friday.', thread);
   * for await (const event of stream) {
   *   if (event.type === 'text-delta') process.stdout.write(event.text);
   * }
   * const response = await stream.response;
   */
  stream(
    input: RunInput,
    thread: AgentThread,
    options?: RunOptions<RUNTIME_CONTEXT>,
  ): AgentStream<CALL, OUTPUT>;
  /** Records answers durably and runs nothing: for webhooks and inboxes. `run([], thread)` then resumes the thread, in any process. */
  respond(
    answers: InputItem | readonly InputItem[],
    thread: AgentThread,
    options?: RespondOptions,
  ): Promise<void>;
  /**
   * Finds a person's rights to requests, without answering: to the open requests of a thread, or to any requests by their ids, such as
   * `thread.activeRequests` or rows of `store.requests`. One result for each, in the same order. It reads the log, applies the checks that
   * an answer passes, and writes nothing. A request that is not open is `closed`. Rejects with `wrong-agent` for a thread of another agent.
   * A `mayAnswer` that throws refuses here, and is reported (`setting-failed`).
   *
   * @example
   * const [rights] = await agent.rights([request], { principal });
   * if (rights?.mayAnswer) showButtons(request, rights);
   */
  rights(
    requests: AgentThread | readonly Pick<RequestRights, 'requestId' | 'threadId'>[],
    options: AnswerOptions,
  ): Promise<RequestRights[]>;
  /**
   * Lists the requests of all threads of this agent for one person: by default the open ones that wait for them, the oldest first. It is
   * `store.requests.list` with the person's rights applied: once ten times `limit` rows were read for a page that has a request, the page
   * ends short and still has a `next`. `limit` is 100 by default.
   *
   * Rights are derived from the rows, which may be a moment older than the threads; threads are read only for requests of sub-agents. The
   * caller is not checked: the query says whose list it is.
   *
   * Rejects with a `TypeError` if the agent's store keeps no requests, and for an unknown or invalid option.
   *
   * @example
   * const { requests, next } = await agent.requests({ principal: 'ada', as: ['ada', 'finance'], order: 'risk' });
   * for (const { request, rights } of requests) console.log(request?.text, rights.mayEdit);
   */
  requests(query: RequestListQuery): Promise<RequestList<CALL>>;
  /**
   * Asks a person to approve something that is not a tool call, such as a stage of the app's own workflow. The answer comes through `run`
   * or `respond` like any other; `response.decisions` and `thread.decisions` have its decision.
   *
   * A second request with the same `key` returns the first one, open or decided, so that a stage that is repeated after a crash does not
   * ask twice. That holds even if its text differs, so the key must identify what is approved. The other fields are those of a rule's
   * `user-approval`, such as `approvers` and `quorum`. Rejects with `invalid-input` for fields that are not valid.
   */
  requestApproval(
    thread: AgentThread,
    request: RequestedApproval,
  ): Promise<ApprovalRequestContent<CALL>>;
  /**
   * Takes back the principal's approval of a request that needs several (`quorum`) and is not decided yet. Rejects with `not-allowed` if
   * the principal has not approved it, and with `request-closed` or `not-found`.
   */
  withdraw(thread: AgentThread, requestId: string, options: AnswerOptions): Promise<void>;
  /**
   * Lets another person answer an approval request instead of the principal, who must be allowed to answer it. `to` is a name, role or team
   * that `mayAnswer` resolves, like those in `approvers`. In a quorum, both together have one vote, and it counts only while the principal
   * may answer. A sub-agent's request is reassigned in the outermost agent's thread. Rejects with `not-allowed` for a principal who may not
   * answer, for a child thread, and for an agent without `mayAnswer`; and with `request-closed` or `not-found`.
   */
  reassign(
    thread: AgentThread,
    requestId: string,
    to: string,
    options: AnswerOptions,
  ): Promise<void>;
  /**
   * Makes a standing approval from an approval that the principal has given before, as if that answer had asked for it with `remember`: for
   * a page that offers it after the answer. It covers only later calls, within what the request's `remember` allows, and is revoked like
   * any other. Only the person who approved may, for a request that needed nobody else, was not edited and is not of the highest risk
   * (`critical`); the tool must be the one that was shown, and `mayAnswer` is asked again.
   *
   * @example
   * await agent.remember(thread, request.requestId, { scope: 'thread', match: ['channel'], uses: 10 }, { principal });
   *
   * Rejects with `not-allowed` for any other approval or person, with `invalid-answer` for one that is wider than the request allows, with
   * `already-answered` if it is remembered already, with `missing-tool` if this agent lacks the tool, and with `not-found`.
   */
  remember(
    thread: AgentThread,
    requestId: string,
    remember: Remember,
    options: AnswerOptions,
  ): Promise<void>;
  /**
   * The standing approvals in effect: those that the store keeps for this agent, oldest id first, and with a `thread`, before them, those
   * of that thread.
   */
  grants(thread?: AgentThread): Promise<Grant[]>;
  /**
   * Revokes a standing approval of this agent: no process starts a call on it any more. Calls that have started continue. The thread in
   * which it was made records who revoked it. Rejects with `not-found` if it has ended already, or is another agent's.
   */
  revoke(grant: Grant, options?: AnswerOptions): Promise<void>;
  /**
   * Asks a person a question on behalf of a call that continues elsewhere: one that is deferred, or about to be. The call's status does not
   * change. The answer comes through `run` or `respond` like any other, and the next run sends it to the tool. `replyTo`, any JSON, is
   * passed to the tool's receiver with the answer, and people never see it.
   *
   * A call has one open question at a time: the same question again changes nothing, another one closes the first. A question that expires
   * is closed without a message to the tool; it expires with its call at the latest, and closes when the call ends. Rejects with
   * `not-allowed` for a call in another state or past its deadline, with `not-found`, or with `invalid-input`.
   */
  requestAnswer(
    thread: AgentThread,
    toolCallId: string,
    question: Question,
    options?: { replyTo?: unknown },
  ): Promise<AnswerableQuestion>;
  /**
   * Settles a call whose outcome is unknown (`indeterminate`), after a person has found out what happened. `retry` is a new approval of the
   * same call; if the call was not for anybody to approve (`approvers`, `notRequester`, `quorum`, `requireReason`), or `mayAnswer` refuses
   * the approval of this person, or the thread is a sub-agent's, it is asked again on the same terms. `run([], thread)` resumes the thread.
   * Rejects with `not-allowed` for a call in another state, which includes every call that the provider runs, with `already-answered` if
   * the call already has a different outcome, or with `not-found`.
   */
  settle(
    thread: AgentThread,
    toolCallId: string,
    outcome: SettledOutcome,
    options?: AnswerOptions,
  ): Promise<void>;
  /**
   * Delivers the outcome of a deferred call (its `execute` returned `later`, or its tool has no `execute`), or of an indeterminate one.
   * From any process, once: the same outcome again changes nothing, a different one is refused with `already-answered`. `run([], thread)`
   * resumes the thread.
   */
  deliver(
    thread: AgentThread,
    toolCallId: string,
    outcome: DeliveredOutcome,
    options?: AnswerOptions,
  ): Promise<void>;
  /**
   * Retracts the app's last message while it has no reply: one that the provider rejects, or a typing error. The message leaves the
   * history; the log keeps it and records the retraction, and the thread is as it was before the message. With `messageId`, only the
   * message with that id.
   *
   * Rejects with `not-allowed` if the last message is another one or has a reply, and for a child thread; with `thread-busy` while the
   * thread is being run.
   */
  retract(thread: AgentThread, messageId?: string, options?: AnswerOptions): Promise<void>;
  /**
   * Ends the thread's current run, in whichever process, and its turn: the model is not asked again before the next message, the next
   * answer, or the result of a deferred call. A run with `resumeStopped` resumes a turn whose reply had not begun. Text that was streamed
   * so far is kept. Tools get the abort signal, and their results are recorded, late ones too. Open requests stay open. Calls that needed
   * no approval and have not started are cancelled; those that people have approved are `held`, and so are further attempts of approved
   * calls: nothing starts them before a person who may reject them resumes the thread with `resumeStopped`. The run resolves with
   * `cancelled`, or with `waiting` or `indeterminate` if a call is still open. Without a current run, a turn that is due, after a failure
   * or a crash, is ended the same way.
   *
   * Resolves when the run has ended; another process notices within a second. It waits `abortGraceMs` for tools that ignore their signal,
   * and five more seconds for a process that does not react. After that `thread.status` is still `running`, and the turn ends once the
   * lease has expired.
   */
  stop(thread: AgentThread, options?: AnswerOptions): Promise<void>;
  /**
   * Cancels open requests, deferred calls, and approved calls that have not started. In the next run the model receives that they were
   * cancelled. Ending a request is an answer to it, and taking back an approval is one: rejects with `not-allowed`, and cancels nothing, if
   * there is a request that the principal could not reject, or an approved call and no principal. The log records who cancelled.
   */
  cancel(
    thread: AgentThread,
    reason?: string,
    options?: AnswerOptions,
  ): Promise<AgentResponse<CALL>>;
  /**
   * Restores a thread from its JSON form (text or object) and returns its handle. Written if the store does not have the thread, opened
   * if the store has these events or more, refused with `thread-diverged` otherwise. It trusts its caller: never pass it JSON from a
   * client.
   */
  restore(json: unknown): Promise<AgentThread<CALL>>;
  /**
   * Makes this agent the owner of the thread: for an agent that was renamed, or that takes over from another. `store.list({ agent: 'old'
   * })` finds the threads. Rejects with `thread-busy` while the thread is being run.
   */
  adopt(thread: AgentThread): Promise<void>;
  /**
   * Deletes the thread's log and summary from the store. Backups and the database's own journals are not reached. The id can be used
   * again; handles on the deleted thread reject with `thread-deleted`. Rejects with `thread-busy` while the thread is being run.
   */
  delete(thread: AgentThread): Promise<void>;
  /**
   * Calls `listener` for each event of a type that this agent appends, once it is durable. `setting-failed` is not in the log: it reports a
   * mistake in a setting of yours, such as a rule, each time it is evaluated. Returns a function that removes the listener.
   */
  on<TYPE extends keyof AgentEvents>(type: TYPE, listener: AgentListener<TYPE>): () => void;
}
