import type { AgentResponse } from '../../../agent/agent-response.ts';
import type { ModelDelta } from '../../../agent/model/streaming-model.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ThreadEvent, ThreadEventOf } from '../../../thread/thread-event.ts';
import type { AgUiEvent, AgUiMessage } from './ag-ui-event.ts';
import { resultEvent, callResults } from './call-results.ts';
import { interactionEnded } from './interaction-events.ts';
import { KnownCalls } from './known-calls.ts';
import { latestMessages } from '../input/new-messages.ts';
import type { RunAgentInput } from '../input/run-agent-input.ts';
import { runEnd } from './run-end.ts';
import { type CallResult, stepMessages, stepMessageId } from './step-messages.ts';
import { StepEvents, textEvents } from './step-events.ts';
import type { ThreadViewOptions } from '../telling-options.ts';
import { retractedIds, showsExactly, threadMessages, userMessage } from './thread-messages.ts';

/** Tells a client of one run: what the model is saying, and what is in the thread, in the thread's order. */
export class RunEvents {
  readonly #input: RunAgentInput;
  readonly #options: ThreadViewOptions;
  readonly #heldMessages: ReadonlySet<string>;
  /** Of the last event that the client knows. */
  #revision = 0;
  /** The conversation before the run, for a client that shows another. */
  #before: AgUiMessage[] | undefined;
  #calls = new KnownCalls();
  #hasBegun = false;
  #step: StepEvents;

  constructor(input: RunAgentInput, options: ThreadViewOptions) {
    this.#input = input;
    this.#options = options;
    this.#heldMessages = new Set(input.messages.map(({ id }) => id));
    this.#step = this.#stepEvents(0);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Looks what of the thread, as it is before the run, the client has. */
  open(thread: AgentThread): void {
    const messages = this.#messages(thread);
    const known = new Set([...messages.map(({ id }) => id), ...retractedIds(thread)]);
    const { messages: list } = this.#input;
    const news = new Set(
      latestMessages(list).filter(({ role, id }) => role === 'user' && !known.has(id)),
    );
    const held = list.filter((message) => !news.has(message));
    this.#before = showsExactly(held, messages) ? undefined : messages;
    this.#continueFrom(thread, messages);
  }

  /** The beginning; for a client that shows another conversation, that of the thread, from which the run goes on. */
  begin({ id, events }: AgentThread): AgUiEvent[] {
    this.#hasBegun = true;
    const { threadId, runId } = this.#input;
    const started: AgUiEvent = { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' };
    if (this.#before === undefined) return [started];
    const said = [...events.keys()]
      .slice(this.#revision)
      .flatMap((index) => userMessage(id, events, index))
      .filter((message) => this.#heldMessages.has(message.id));
    return [started, { type: 'MESSAGES_SNAPSHOT', messages: [...this.#before, ...said] }];
  }

  /** What the model is saying. */
  hear(delta: ModelDelta): AgUiEvent[] {
    return this.#step.hear(delta);
  }

  /** What has happened since. */
  news(thread: AgentThread): AgUiEvent[] {
    if (thread.revision <= this.#revision) return [];
    const { events } = thread;
    const told: AgUiEvent[] = [];
    for (; this.#revision < events.length; this.#revision += 1) {
      const event = events[this.#revision];
      const news = event === undefined ? [] : this.#fromEvent(thread, event, this.#revision);
      told.push(...news);
      if (news.some(({ type }) => type === 'MESSAGES_SNAPSHOT')) {
        /* The rest is in it. */
        this.#continueFrom(thread, this.#messages(thread));
        break;
      }
    }
    return told;
  }

  /** The whole conversation. */
  snapshot(thread: AgentThread): AgUiEvent {
    return { type: 'MESSAGES_SNAPSHOT', messages: this.#messages(thread) };
  }

  /** The end of the run. */
  end(thread: AgentThread, status: AgentResponse['status'] | undefined): AgUiEvent[] {
    return [
      ...this.#step.halt(),
      ...runEnd(this.#input, thread, { status, snapshot: () => this.snapshot(thread) }),
    ];
  }

  /** From here on is told: the client has these messages, and all that is in the thread. */
  #continueFrom({ events }: AgentThread, messages: readonly AgUiMessage[]): void {
    this.#calls = new KnownCalls(messages);
    this.#revision = events.length;
    this.#step = this.#stepEvents(events.filter(({ type }) => type === 'step-finished').length);
  }

  #fromEvent(thread: AgentThread, event: ThreadEvent, index: number): AgUiEvent[] {
    switch (event.type) {
      case 'step-finished':
        return this.#finishStep(thread, event);
      case 'message-added':
        return userMessage(thread.id, thread.events, index)
          .filter(({ id }) => !this.#heldMessages.has(id))
          .flatMap(({ id, content }) =>
            typeof content === 'string'
              ? textEvents(id, 'user', content)
              : [...this.#step.halt(), this.snapshot(thread)],
          );
      case 'message-retracted':
        return [...this.#step.halt(), this.snapshot(thread)];
      case 'request-answered':
      case 'request-closed':
        return interactionEnded(event, thread.events);
      case 'call-ended': {
        const call = thread.calls.find(
          (each) => each.step === event.step && each.index === event.index,
        );
        return this.#results(thread, call === undefined ? [] : callResults(call, this.#options));
      }
      default:
        return [];
    }
  }

  #finishStep(thread: AgentThread, event: ThreadEventOf<'step-finished'>): AgUiEvent[] {
    const content = stepMessages(thread.id, event, this.#options);
    const { events, isConfirmed } = this.#step.finish({
      ...content,
      calls: this.#calls.newCalls(content),
    });
    this.#step = this.#stepEvents(event.step + 1);
    return [
      ...events,
      ...this.#results(thread, content.results),
      ...(isConfirmed ? [] : [this.snapshot(thread)]),
    ];
  }

  #results({ id }: AgentThread, results: readonly CallResult[]): AgUiEvent[] {
    return this.#calls.newResults(results).map((result) => resultEvent(id, result));
  }

  #stepEvents(step: number): StepEvents {
    const { sendReasoning = true } = this.#options;
    return new StepEvents(stepMessageId(this.#input.threadId, step), sendReasoning);
  }

  #messages(thread: AgentThread) {
    return threadMessages(thread, { ...this.#options, held: this.#input.messages });
  }
}
