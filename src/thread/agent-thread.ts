import type { ModelMessage } from 'ai';
import { makeAnswerable } from '../content/answerable.ts';
import type { ApprovalRequestContent } from '../content/approval.ts';
import type { ThreadCaller } from '../content/caller.ts';
import type { Grant } from '../content/grant.ts';
import type { ToolCall, ToolCallRecord } from '../content/tool-call.ts';
import { type UserInputRequestContent, type RequestDecision } from '../content/user-input.ts';
import { freezeDeep } from '../json/json-value.ts';
import type { ThreadEvent } from './thread-event.ts';
import {
  type RunFailure,
  type EndedRequest,
  computeNextDeadline,
  computeThreadStatus,
} from './thread-head.ts';
import { type ThreadJson, convertThreadToJson } from './thread-json.ts';
import type { ThreadLog } from './thread-log.ts';
import { listCalls, type ThreadState } from './thread-state.ts';
import type { ThreadStatus } from './thread-store.ts';
import { findDecisionStatus, isRequestEvent, readRequestId } from './request-events.ts';

/**
 * A handle on a conversation in the agent's store. A run brings it up to date. Everything that it returns is derived from `events`, and
 * frozen. `JSON.stringify(thread)` is the whole thread, for `agent.restore` in any process.
 */
export class AgentThread<CALL extends ToolCall = ToolCall> {
  readonly #log: ThreadLog;
  readonly #now: () => number;
  /** The events as they were last handed out: a reader of a stream asks at each event. */
  #read: { from: object; events: readonly ThreadEvent[] } | undefined;

  readonly #opener: object;

  /** Use `agent.thread(id)`. */
  constructor(log: ThreadLog, now: () => number, opener: object) {
    this.#log = log;
    this.#now = now;
    this.#opener = opener;
  }

  /** Reads the log of a handle, for its opener only. */
  static readLog(thread: AgentThread, opener: object): ThreadLog | undefined {
    return #opener in thread && thread.#opener === opener ? thread.#log : undefined;
  }

  /** The id of the thread, which everything else calls `threadId`. */
  get id(): string {
    return this.#log.state.threadId;
  }

  /** The number of events of the thread. */
  get revision(): number {
    return this.#log.revision;
  }

  /** The status of the thread, as far as this handle has read it. */
  get status(): ThreadStatus {
    return computeThreadStatus(this.#log.state.head, this.#now());
  }

  /** The name of the agent that the thread belongs to. */
  get agent(): string | undefined {
    return this.#log.state.head.agent;
  }

  /**
   * The time when the thread needs a run, in milliseconds since 1970; 0 means now, and `undefined` that it waits only for people or the
   * app. A scheduler only has to call `agent.run([], thread, { onlyWhenDue: true })` at this time.
   */
  get nextDeadline(): number | undefined {
    return computeNextDeadline(this.#log.state.head);
  }

  /** The failure of the latest runs, with the time of the retry. `undefined` after an input has arrived or a run has succeeded. */
  get failure(): Readonly<RunFailure> | undefined {
    return freezeDeep(this.#log.state.head.failure);
  }

  /** The caller from outside that waits for the outcome, if a gate made the thread; as far as this handle has read it. */
  get caller(): Readonly<ThreadCaller> | undefined {
    return freezeDeep(this.#log.state.head.caller);
  }

  /**
   * The message history for the model. It has the assistant message of an open step; the tool message follows when all calls of the step
   * have ended. Requests and answers are not part of it, except those about calls that the provider runs.
   */
  get messages(): readonly ModelMessage[] {
    return freezeDeep(this.#log.state.messages.slice());
  }

  /** The requests that have no answer, oldest first. */
  get activeRequests(): readonly UserInputRequestContent<CALL>[] {
    return this.#log.state.head.openRequests.map(({ request }) => makeAnswerable<CALL>(request));
  }

  /** The approval requests among `activeRequests`. */
  get activeApprovalRequests(): readonly ApprovalRequestContent<CALL>[] {
    return this.activeRequests.filter((request) => request.type === 'approval-request');
  }

  /** The standing approvals of this thread, oldest first: neither revoked, nor used up, nor expired. */
  get grants(): readonly Grant[] {
    const { grants } = this.#log.state.head;
    return freezeDeep(
      grants
        .map(({ grant }) => grant)
        .filter(({ expiresAt = Infinity }) => expiresAt > this.#now()),
    );
  }

  /** The decisions of the requests that are no longer open, in the order in which they ended. */
  get decisions(): readonly RequestDecision[] {
    return [...this.#log.state.endedRequests.values()].map(describeDecision);
  }

  /** The progress that the latest step of a custom agent saved. */
  get progress(): unknown {
    return freezeDeep(this.#log.state.head.progress);
  }

  /** Every call that the model proposed, oldest first, with its status and outcome. */
  get calls(): readonly ToolCallRecord<CALL>[] {
    return assumeCallType(freezeDeep(listCalls(this.#log.state, this.#now())));
  }

  /** The events of the log, oldest first: questions, answers, calls and outcomes. */
  get events(): readonly ThreadEvent[] {
    const { events } = this.#log.state;
    if (this.#read?.from !== events || this.#read.events.length !== events.length) {
      this.#read = { from: events, events: freezeDeep(events.slice()) };
    }
    return this.#read.events;
  }

  /**
   * Reads the log from its beginning and verifies all of it. Opening a long thread verifies only the events after its latest snapshot:
   * earlier `events` are as the store has them. In a store that keeps requests, those of the thread are compared with the log. Rejects with
   * `log-tampered` if anything was changed.
   */
  verify(): Promise<void> {
    return this.#log.verify();
  }

  /** The whole thread in its versioned form, for `JSON.stringify` and `agent.restore`. */
  toJSON(): ThreadJson {
    return convertThreadToJson(this.#log.state);
  }
}

/* The log holds names and JSON. The types of `ToolCall` assume that they fit the tools which the app has now. */
function assumeCallType<CALL extends ToolCall>(
  calls: readonly ToolCallRecord[],
): readonly ToolCallRecord<CALL>[];
function assumeCallType(calls: readonly ToolCallRecord[]): readonly ToolCallRecord[] {
  return calls;
}

/** Describes the decision of a request that is no longer open. */
export function describeDecision(ended: EndedRequest): RequestDecision {
  const { request, response, principal, channel, closedBy } = ended;
  return freezeDeep({
    status: findDecisionStatus(ended),
    request,
    ...(response === undefined ? {} : { response }),
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
    ...(closedBy === undefined ? {} : { closedBy }),
  });
}

/** Lists the decisions of the requests that ended in these events, oldest first. */
export function listDecisions(
  { endedRequests }: Readonly<ThreadState>,
  events: readonly ThreadEvent[],
): RequestDecision[] {
  const ids = events.filter((event) => isRequestEvent(event, 'ends')).map(readRequestId);
  return [...new Set(ids)].flatMap((id) => {
    const ended = endedRequests.get(id);
    return ended === undefined ? [] : describeDecision(ended);
  });
}
