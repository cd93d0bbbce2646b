import type { ApprovalRequestContent } from '../content/approval.ts';
import type { QuestionRequestContent } from '../content/question.ts';
import type { ToolCall } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadEventType } from '../thread/thread-event.ts';
import type { AgentResponse } from './agent-response.ts';
import type { AgentStream } from './agent-stream.ts';
import type { Question } from './calls/question-call.ts';
import type { DeliveredOutcome, SettledOutcome } from './input/accept-outcome.ts';
import type { AnswerOptions, InputItem, RunInput } from './input/run-input.ts';
import type { AgentListener } from './run/agent-events.ts';
import type { RunOptions } from './run/run-options.ts';

/**
 * A language model with tools, a loop that asks before it acts, and threads that remember. `CALL` is `ToolCall<typeof tools>`, and
 * types the calls in its responses and threads; every agent can be assigned to the plain `Agent`.
 */
export interface Agent<
  RUNTIME_CONTEXT = Record<string, unknown>,
  CALL extends ToolCall = ToolCall,
> {
  /** The name that the agent's threads are kept under. */
  readonly name: string | undefined;
  /**
   * The time by which the agent's threads go, in milliseconds since 1970: the `now` that it was given, else the store's clock, else
   * `Date.now`. Compare `thread.resumeAt` with this.
   */
  now(): number;
  /**
   * Opens the thread of this id from the store, or starts it; without an id, a new one. Writes nothing, with one exception: where a run
   * is found to be gone in the middle of a call, that is recorded (`call-lost`), so that everybody can see it. A thread of an agent of
   * another name can be opened and read, and no more.
   */
  thread(threadId?: string): Promise<AgentThread<CALL>>;
  /**
   * Takes text, messages or answers, and runs until the model has spoken, people are asked, or the steps are used
   * up. Everything is checked before anything is recorded; an approved call starts at most once.
   *
   * Rejects with a `HoldpointError` for bad input (see its codes), with the provider's error, or with the reason of an
   * aborted `abortSignal`; the thread can go on after each, with `run([], thread)`.
   */
  run(
    input: RunInput,
    thread: AgentThread,
    options?: RunOptions<RUNTIME_CONTEXT>,
  ): Promise<AgentResponse<CALL>>;
  /**
   * The same run, followed while it goes: what the model says as it says it, and what happens once it is durable. Read it to its end,
   * or leave it with `break`: a run whose reader just stops asking holds the thread.
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
  ): AgentStream<CALL>;
  /** Records answers durably and runs nothing: for webhooks and inboxes. `run([], thread)` goes on, anywhere. */
  respond(
    answers: InputItem | readonly InputItem[],
    thread: AgentThread,
    options?: AnswerOptions,
  ): Promise<void>;
  /**
   * Asks for a person's word on something that is no tool call, at a step of the app's own. The
   * answer comes through `run` or `respond` as any other, and is told by the `request-answered` event. Rejects with `invalid-input`
   * for an `expiresAfterMs` that is no number of milliseconds.
   */
  requestApproval(
    thread: AgentThread,
    request: { text: string; reason?: string; expiresAfterMs?: number },
  ): Promise<ApprovalRequestContent<CALL>>;
  /**
   * Asks a person for a call that goes on elsewhere: one that is deferred, or on its way there. The call stays as it is, and the answer
   * to the question, by `run` or `respond` as any other, is brought to the tool by the next run; `replyTo`, any JSON, is what it is
   * reached by, and nobody is shown it. A call asks one thing at a time: the same again is harmless, another question closes the one
   * before. One that expires is closed, and the tool is told nothing; it expires with its call at the latest. All close when the call ends.
   * Refused with `not-allowed` for a call in another state, or one whose time is over; `unknown-call`, `invalid-input`.
   */
  requestAnswer(
    thread: AgentThread,
    toolCallId: string,
    question: Question,
    options?: { replyTo?: unknown },
  ): Promise<QuestionRequestContent>;
  /**
   * Says what became of a call whose outcome is unknown (`indeterminate`): a person looked. `retry` is a new approval of the same
   * call. `run([], thread)` goes on. Refused with `not-allowed` for a call in another state, which is every state of a call that the
   * provider runs, `already-answered` when it has another outcome, `unknown-call`.
   */
  settle(
    thread: AgentThread,
    toolCallId: string,
    outcome: SettledOutcome,
    options?: AnswerOptions,
  ): Promise<void>;
  /**
   * Brings the result of a deferred call: one whose `execute` returned `later`, or whose tool has none; or of one whose outcome is
   * unknown. Once, from any
   * process; the same again is harmless, another is refused with `already-answered`. `run([], thread)` goes on.
   */
  deliver(
    thread: AgentThread,
    toolCallId: string,
    outcome: DeliveredOutcome,
    options?: AnswerOptions,
  ): Promise<void>;
  /**
   * Withdraws the last message from the app while it has no reply: one that the provider refuses, a typing error. It leaves the
   * history; the log keeps it, and that it was withdrawn. With `messageId`, only the message of that id. Gives the thread back as it
   * stood before the message.
   *
   * Rejects with `not-allowed` where the last message is another or has a reply, and with `thread-busy` while the thread is being run.
   */
  retract(thread: AgentThread, messageId?: string, options?: AnswerOptions): Promise<void>;
  /**
   * Ends the run that is at work on the thread, in whichever process it is, and the turn with it: the model is not asked again before
   * the next message or answer, or the result of a call that is deferred. What it has said so far is kept where the run streams; tools get
   * the abort signal, and their results are recorded, late ones too; approved calls that have not begun are cancelled; what people are
   * asked stays open. The run resolves with `cancelled`; with `waiting` or `indeterminate` where a call is open. Where no run is at work, a
   * turn that is due, after a failure or in a process that died, ends likewise.
   *
   * Resolves when the run has ended: another process notices within a second. A tool that ignores its signal is waited for as long as
   * `abortGraceMs` says, and a process that does not notice for five seconds more: `thread.status` is `running` then, and whoever finds its
   * lease over ends the turn.
   */
  stop(thread: AgentThread, options?: AnswerOptions): Promise<void>;
  /** Cancels open requests, deferred calls, and approved calls that have not begun; the model will be told. */
  cancel(thread: AgentThread, reason?: string): Promise<AgentResponse<CALL>>;
  /**
   * Puts a thread's JSON form, text or object, into the store and gives the handle: written if the store has none,
   * opened if it has these events or more, refused with `thread-diverged` otherwise. It trusts its caller:
   * never give it JSON from a client.
   */
  restore(json: unknown): Promise<AgentThread<CALL>>;
  /**
   * Makes the thread this agent's own: for an agent that was renamed, or takes over from another. `store.list({ agent: 'old' })` finds
   * the threads. Rejects with `thread-busy` while the thread is being run.
   */
  adopt(thread: AgentThread): Promise<void>;
  /**
   * Removes the thread from the store: its log and its summary. What backups and the database's own journals keep is not reached. The
   * id is free again; handles on the deleted thread reject with `thread-deleted`. Rejects with `thread-busy` while the thread is being
   * run.
   */
  delete(thread: AgentThread): Promise<void>;
  /** Calls `listener` at each event of a type that this agent appends, once it is durable. Returns what ends it. */
  on<TYPE extends ThreadEventType>(type: TYPE, listener: AgentListener<TYPE>): () => void;
}
