import type { ModelMessage } from 'ai';
import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import type { ToolCall, ToolCallRecord } from '../content/tool-call.ts';
import type { UserInputRequestContent } from '../content/user-input.ts';
import { deepFreeze } from './deep-freeze.ts';
import type { ThreadEvent } from './thread-event.ts';
import { type ThreadJson, threadToJson } from './thread-json.ts';
import type { ThreadLog } from './thread-log.ts';
import { callsOf, type RunFailure } from './thread-state.ts';
import { nextDeadlineOf, statusOf, type ThreadStatus } from './thread-status.ts';

/**
 * A conversation and where it stands: a handle on the thread in the agent's store. A run brings it up to date;
 * nothing outside changes it. Everything here is read off `events`, and is frozen.
 * `JSON.stringify(thread)` is the whole of it, for `agent.restore` in any process.
 */
export class AgentThread<CALL extends ToolCall = ToolCall> {
  readonly #log: ThreadLog;
  readonly #now: () => number;

  /** Threads are opened by `agent.thread(id)`. */
  constructor(log: ThreadLog, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  get id(): string {
    return this.#log.state.threadId;
  }

  /** How many events the thread has. */
  get revision(): number {
    return this.#log.revision;
  }

  get status(): ThreadStatus {
    return statusOf(this.#log.state.head, this.#now());
  }

  /** The name of the agent that the thread belongs to. */
  get agent(): string | undefined {
    return this.#log.state.head.agent;
  }

  /**
   * When the thread needs a run, in milliseconds since 1970, 0 for at once; `undefined` while only people or the app can move it.
   * A scheduler of your own needs nothing else: `agent.run([], thread, { onlyWhenDue: true })` at this time.
   */
  get resumeAt(): number | undefined {
    return nextDeadlineOf(this.#log.state.head);
  }

  /** Why the latest runs failed, and when it is tried again; `undefined` once something has come in or a run has succeeded. */
  get failure(): Readonly<RunFailure> | undefined {
    return deepFreeze(this.#log.state.head.failure);
  }

  /**
   * The model's history. An open step's assistant message is there; its tool message comes when the last of
   * its results is in. Requests and answers never are, but for a provider's own: about calls that it runs itself.
   */
  get messages(): readonly ModelMessage[] {
    return deepFreeze(this.#log.state.messages.slice());
  }

  /** What people are asked and have not answered, oldest first. */
  get activeRequests(): readonly UserInputRequestContent<CALL>[] {
    return this.#log.state.head.openRequests.map(({ request }) =>
      request.type === 'approval-request' ? withAnswers<CALL>(request) : structuredClone(request),
    );
  }

  /** The approvals among `activeRequests`. */
  get activeApprovalRequests(): readonly ApprovalRequestContent<CALL>[] {
    return this.activeRequests.filter((request) => request.type === 'approval-request');
  }

  /** Every call a model proposed here, oldest first, and what became of it. */
  get calls(): readonly ToolCallRecord<CALL>[] {
    return typed(deepFreeze(callsOf(this.#log.state, this.#now())));
  }

  /** What happened, oldest first: who was asked what, who answered, what ran and what came out. */
  get events(): readonly ThreadEvent[] {
    return deepFreeze(this.#log.state.events.slice());
  }

  toJSON(): ThreadJson {
    return threadToJson(this.#log.state);
  }
}

/* The log holds names and JSON. That they are of the tools which the app has now is what the types of `ToolCall` assume. */
function typed<CALL extends ToolCall>(
  calls: readonly ToolCallRecord[],
): readonly ToolCallRecord<CALL>[];
function typed(calls: readonly ToolCallRecord[]): readonly ToolCallRecord[] {
  return calls;
}
