import type { AgentResponse, ModelDelta } from '../../agent.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { CallsByPlace } from '../../thread/calls-by-place.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { mapDecisions, readItem, type FinishedStepEvent } from '../../view/thread-items.ts';
import type { AgUiViewOptions } from './ag-ui-handler-options.ts';
import { listLatestMessages } from './client-messages.ts';
import type { RunAgentInput } from './run-agent-input.ts';
import type { AgUiEvent, AgUiMessage } from './ag-ui-event.ts';
import { readCallResults, type CallResult, KnownCalls, makeResultEvent } from './call-results.ts';
import { makeInteractionEnded, mapRequests, type InterruptFacts } from './interrupts.ts';
import { PresentInputs } from './present-inputs.ts';
import { makeRunEnd } from './run-end.ts';
import {
  StepEvents,
  makeStepMessageId,
  makeStepMessages,
  makeUserTextEvents,
} from './step-events.ts';
import {
  orderSnapshots,
  listRetractedIds,
  showsExactly,
  listThreadMessages,
  readUserMessage,
} from './thread-messages.ts';

/** The events of one client's run: the model's deltas and the recorded events, in the thread's order. */
export class RunEvents {
  readonly #input: RunAgentInput;
  readonly #options: AgUiViewOptions;
  readonly #heldMessages: ReadonlySet<string>;
  /** The revision of the last event that the client has. */
  #revision = 0;
  /** The conversation before the run, if the client shows a different one. */
  #before: AgUiMessage[] | undefined;
  #calls = new KnownCalls();
  readonly #records = new CallsByPlace();
  readonly #inputs = new PresentInputs(this.#records);
  /** The number of events in the thread when these facts were read. */
  #known = 0;
  #decisions: ReturnType<typeof mapDecisions> = new Map();
  #requests: ReturnType<typeof mapRequests> = new Map();
  #hasBegun = false;
  #step: StepEvents;

  constructor(input: RunAgentInput, options: AgUiViewOptions) {
    this.#input = input;
    this.#options = options;
    this.#heldMessages = new Set(input.messages.map(({ id }) => id));
    this.#step = this.#startStep(0);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Compares the thread before the run with what the client has. */
  compare(thread: AgentThread): void {
    const messages = this.#listMessages(thread);
    const known = new Set([...messages.map(({ id }) => id), ...listRetractedIds(thread)]);
    const { messages: list } = this.#input;
    const added = new Set(
      listLatestMessages(list).filter(({ role, id }) => role === 'user' && !known.has(id)),
    );
    const held = list.filter((message) => !added.has(message));
    this.#before = showsExactly(held, messages) ? undefined : messages;
    this.#continueFrom(thread, messages);
  }

  /** The beginning, with snapshots of the conversation before the run for a client that shows a different one. */
  begin({ id, events }: AgentThread): AgUiEvent[] {
    this.#hasBegun = true;
    const { threadId, runId } = this.#input;
    const started: AgUiEvent = { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' };
    if (this.#before === undefined) return [started];
    const added = [...events.keys()]
      .slice(this.#revision)
      .flatMap((index) => readUserMessage(id, events, index))
      .filter((message) => this.#heldMessages.has(message.id));
    return [started, ...orderSnapshots([...this.#before, ...added], this.#input.messages)];
  }

  /** The events for a delta of the model. */
  addDelta(delta: ModelDelta): AgUiEvent[] {
    return this.#step.addDelta(delta);
  }

  /** Makes the events of what the thread has recorded since the last update, up to `last` or all. */
  update(thread: AgentThread, last?: ThreadEvent): AgUiEvent[] {
    if (thread.revision <= this.#revision) return [];
    const { events } = thread;
    const end = last === undefined ? events.length : events.lastIndexOf(last) + 1;
    const emitted: AgUiEvent[] = [];
    this.#readFacts(thread);
    for (; this.#revision < end; this.#revision += 1) {
      const event = events[this.#revision];
      const next = event === undefined ? [] : this.#convertEvent(thread, event, this.#revision);
      emitted.push(...next);
      if (next.some(({ type }) => type === 'MESSAGES_SNAPSHOT')) {
        /* The snapshot contains the rest, apart from the ends of requests. */
        emitted.push(...this.#endRequests(events.slice(this.#revision + 1)));
        this.#continueFrom(thread, this.#listMessages(thread));
        break;
      }
    }
    return emitted;
  }

  #endRequests(events: readonly ThreadEvent[]): AgUiEvent[] {
    return events.flatMap((event) => {
      const item = readItem(event, this.#records);
      return item?.type === 'request-end' ? makeInteractionEnded(item.event, this.#requests) : [];
    });
  }

  /* A stream calls this for each event of an append. */
  #readFacts(thread: AgentThread): void {
    const { events } = thread;
    if (events.length === this.#known) return;
    this.#known = events.length;
    this.#records.update(thread.calls);
    this.#inputs.update(thread);
    this.#decisions = mapDecisions(events);
    this.#requests = mapRequests(events);
  }

  /** The whole conversation. */
  snapshot(thread: AgentThread): AgUiEvent {
    return { type: 'MESSAGES_SNAPSHOT', messages: this.#listMessages(thread) };
  }

  /** The end of the run. */
  end(
    thread: AgentThread,
    status: AgentResponse['status'] | undefined,
    facts: InterruptFacts,
  ): AgUiEvent[] {
    const snapshot = () => this.snapshot(thread);
    return [
      ...this.#step.close(),
      ...makeRunEnd(this.#input, thread, { status, snapshot, ...facts }),
    ];
  }

  /** Notes that the client now has all messages of the thread; later events are emitted. */
  #continueFrom(thread: AgentThread, messages: readonly AgUiMessage[]): void {
    const { events } = thread;
    this.#readFacts(thread);
    this.#inputs.noteAll();
    this.#calls = new KnownCalls(messages);
    this.#revision = events.length;
    this.#step = this.#startStep(events.filter(({ type }) => type === 'step-finished').length);
  }

  #convertEvent(thread: AgentThread, event: ThreadEvent, index: number): AgUiEvent[] {
    const item = readItem(event, this.#records);
    switch (item?.type) {
      case 'step':
        return this.#finishStep(thread, item.event);
      case 'message':
        return readUserMessage(thread.id, thread.events, index)
          .filter(({ id }) => !this.#heldMessages.has(id))
          .flatMap(({ id, content }) =>
            typeof content === 'string'
              ? makeUserTextEvents(id, content)
              : [...this.#step.close(), this.snapshot(thread)],
          );
      case 'retraction':
        return [...this.#step.close(), this.snapshot(thread)];
      case 'request-end':
        return makeInteractionEnded(item.event, this.#requests);
      case 'call-ended':
        return (
          this.#showPresent(thread, item.call) ??
          this.#convertResults(thread, readCallResults(item, this.#decisions, this.#options))
        );
      case 'request':
      case 'call-started':
      case 'call-deferred':
      case 'input-remade':
        return this.#showPresent(thread, item.call) ?? [];
      case 'request-progress':
      case undefined:
        return [];
    }
  }

  /**
   * Shows a call again of which the client has an earlier input; `undefined` if it has the present one. Only a snapshot can do that: a
   * call is sent once.
   */
  #showPresent(thread: AgentThread, call: ToolCallRecord | undefined): AgUiEvent[] | undefined {
    if (call === undefined || !this.#inputs.isOutdated(call)) return undefined;
    return [...this.#step.close(), this.snapshot(thread)];
  }

  #finishStep(thread: AgentThread, event: FinishedStepEvent): AgUiEvent[] {
    const messages = makeStepMessages(thread.id, this.#inputs.apply(event), this.#options);
    const { events, isConfirmed } = this.#step.finish({
      ...messages,
      calls: this.#calls.addCalls(messages),
    });
    this.#step = this.#startStep(event.step + 1);
    return [
      ...events,
      ...this.#convertResults(thread, messages.results),
      ...(isConfirmed ? [] : [this.snapshot(thread)]),
    ];
  }

  #convertResults({ id }: AgentThread, results: readonly CallResult[]): AgUiEvent[] {
    return this.#calls.addResults(results).map((result) => makeResultEvent(id, result));
  }

  #startStep(step: number): StepEvents {
    const { sendReasoning = true } = this.#options;
    return new StepEvents(makeStepMessageId(this.#input.threadId, step), sendReasoning);
  }

  #listMessages(thread: AgentThread) {
    return listThreadMessages(thread, { ...this.#options, held: this.#input.messages });
  }
}
