import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import type { EventBuffer } from '../content/event-buffer.ts';
import type { QuestionRequestContent } from '../content/question.ts';
import { untilAborted } from '../content/until-aborted.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { deepFreeze } from '../thread/deep-freeze.ts';
import type { StoreClock } from '../thread/store-clock.ts';
import type { ThreadEvent, ThreadEventType } from '../thread/thread-event.ts';
import { isRunning, type ThreadState } from '../thread/thread-state.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import { traceRun } from '../thread/tracing.ts';
import {
  type AgentResponse,
  makeResponse,
  type RecordedReply,
  recordedReply,
} from './agent-response.ts';
import {
  type AgentStream,
  type AgentStreamEvent,
  pushPreliminary,
  RunStream,
} from './agent-stream.ts';
import type { Agent } from './agent.ts';
import { askDuringCall } from './calls/ask-during-call.ts';
import { cancelEvents } from './calls/close-requests.ts';
import type { PreliminaryResult } from './calls/execute-call.ts';
import { type Asked, makeRequest } from './calls/make-request.ts';
import type { Question } from './calls/question-call.ts';
import { defineTools, type ToolDefinitions } from './calls/tool-definitions.ts';
import { acceptInput, refuseRetraction } from './input/accept-input.ts';
import type { DeliveredOutcome, SettledOutcome } from './input/accept-outcome.ts';
import { deliverOutcome, type EndingInput, settleCall } from './input/accept-outcome.ts';
import { withAllowedAnswers } from './input/may-answer.ts';
import { parseAnswerer, type ParsedInput, parseInput } from './input/parse-input.ts';
import type { AnswerOptions, InputItem, RunInput } from './input/run-input.ts';
import { refuseUnknownRunSettings } from './known-settings.ts';
import { nameOf } from './model/traced-model.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { AgentListener } from './run/agent-events.ts';
import { abandonedEvents } from './run/lost-calls.ts';
import type { RunEnd } from './run/run-end.ts';
import type { RunOptions } from './run/run-options.ts';
import { Run } from './run/run.ts';
import { stopRequest, untilEnded } from './run/stop-run.ts';
import { ThreadHandles } from './thread-handles.ts';

/** The end of what runs nothing now; of a recorded reply, with its last step. */
function nothingRun(status: RunEnd['status'], step?: RecordedReply['step']): RunEnd {
  const { finishReason, metadata } = step ?? {};
  return { status, usage: undefined, finishReason, metadata };
}

/** Options that are known; the signal under the one name that is used from here on. */
function checkedRunOptions(
  method: 'run' | 'stream',
  { signal, ...options }: RunOptions<unknown>,
): Omit<RunOptions<unknown>, 'signal'> {
  refuseUnknownRunSettings(method, options);
  if (signal === undefined) return options;
  if (options.abortSignal === undefined) return { ...options, abortSignal: signal };
  throw new TypeError(`agent.${method} was given abortSignal and signal, which are the same.`);
}

/** What a run is played with. */
interface Playing {
  options: RunOptions<unknown>;
  feed: EventBuffer<AgentStreamEvent> | undefined;
  /** Takes the events that the run appended. */
  trace: (events: readonly ThreadEvent[]) => void;
}

function refuseRunning({ threadId, head }: Readonly<ThreadState>, now: number): void {
  if (!isRunning(head, now)) return;
  throw new HoldpointError(
    'thread-busy',
    `Thread ${threadId} is being run; try again when that run has ended.`,
  );
}

/** An agent: what each of its methods does to a thread, from bringing it up to date to what is appended. */
export class HoldpointAgent implements Agent<unknown> {
  readonly #context: AgentContext;
  readonly #threads: ThreadHandles;
  #tools: Promise<ToolDefinitions> | undefined;

  constructor(context: AgentContext, kept: { store: ThreadStore; clock: StoreClock }) {
    this.#context = context;
    this.#threads = new ThreadHandles(context, kept);
  }

  get name(): string | undefined {
    return this.#context.name;
  }

  now(): number {
    return this.#context.now();
  }

  async thread(threadId?: string): Promise<AgentThread> {
    return this.#threads.open(threadId);
  }

  async restore(json: unknown): Promise<AgentThread> {
    return this.#threads.restore(json);
  }

  async run(
    input: RunInput,
    thread: AgentThread,
    options: RunOptions<unknown> = {},
  ): Promise<AgentResponse> {
    return this.#play(input, thread, checkedRunOptions('run', options));
  }

  stream(input: RunInput, thread: AgentThread, options: RunOptions<unknown> = {}): AgentStream {
    const checked = checkedRunOptions('stream', options);
    return new RunStream(
      async (feed, abortSignal) => this.#play(input, thread, { ...checked, abortSignal }, feed),
      checked.abortSignal,
    );
  }

  /** Runs the thread; `feed` is told what happens, and is what makes the model stream. */
  async #play(
    input: RunInput,
    thread: AgentThread,
    options: RunOptions<unknown>,
    feed?: EventBuffer<AgentStreamEvent>,
  ): Promise<AgentResponse> {
    this.#threads.logOf(thread);
    const { name: agentName, model } = this.#context;
    const facts = { threadId: thread.id, agentName, ...nameOf(model) };
    return traceRun(facts, async (trace) => this.#run(input, thread, { options, feed, trace }));
  }

  async #run(
    input: RunInput,
    thread: AgentThread,
    { options, feed, trace }: Playing,
  ): Promise<AgentResponse> {
    const log = this.#threads.logOf(thread);
    const parsed = this.#parsed(input, options);
    options.abortSignal?.throwIfAborted();
    const tools = await this.#definedTools();
    await this.#threads.update(log);
    const asking = withAllowedAnswers(this.#context.mayAnswer, log.state, parsed);
    const allowed = await untilAborted(asking, options.abortSignal);
    const { messageId } = parsed;
    const reply = messageId === undefined ? undefined : recordedReply(log.state, messageId);
    const messagesBefore = reply?.begin ?? log.state.messages.length;
    const onEvents = (events: readonly ThreadEvent[]): void => {
      trace(events);
      if (feed !== undefined) for (const event of events) feed.push(deepFreeze(event));
    };
    const onPreliminary = feed && ((result: PreliminaryResult) => pushPreliminary(feed, result));
    const setting = { log, tools, options, receiver: feed, onEvents, onPreliminary };
    const run = new Run(this.#context, setting);
    const isRepeated = reply?.isOver === true && parsed.answers.length === 0;
    const end = isRepeated ? nothingRun('completed', reply.step) : await run.play(allowed);
    const { messages } = log.state;
    const scope = reply?.isOver === true ? messages.slice(0, reply.end) : messages;
    return makeResponse(thread, { messages: scope, messagesBefore, isPast: isRepeated }, end);
  }

  #parsed(input: RunInput, options: RunOptions<unknown>): ParsedInput {
    const { principal, channel, messageId, onlyWhenDue } = options;
    const { allowSystemInMessages } = this.#context.settings;
    const parsed = parseInput(input, { principal, channel, messageId, allowSystemInMessages });
    const isEmpty = parsed.messages.length + parsed.answers.length === 0;
    if (onlyWhenDue !== true || isEmpty) return parsed;
    throw new HoldpointError('invalid-input', 'onlyWhenDue is for the input [] alone.');
  }

  async respond(
    answers: InputItem | readonly InputItem[],
    thread: AgentThread,
    { principal, channel }: AnswerOptions = {},
  ): Promise<void> {
    const log = this.#threads.logOf(thread);
    const parsed = parseInput(answers, { principal, channel });
    if (parsed.messages.length > 0) {
      throw new HoldpointError(
        'invalid-input',
        'respond takes answers alone; messages are for run.',
      );
    }
    const tools = await this.#definedTools();
    await this.#threads.update(log);
    const allowed = await withAllowedAnswers(this.#context.mayAnswer, log.state, parsed);
    await log.commit((proposal) => {
      acceptInput(proposal, allowed, { tools, now: this.#context.now(), whilePending: 'refuse' });
    });
  }

  async requestApproval(thread: AgentThread, asked: Asked): Promise<ApprovalRequestContent> {
    const log = this.#threads.logOf(thread);
    await this.#threads.update(log);
    const { requestedBy } = log.state.head;
    const making = { ...this.#context, threadId: thread.id, requestedBy };
    const request = await makeRequest(making, asked);
    await log.commit((proposal) =>
      proposal.add({ type: 'request-opened', at: request.createdAt, request }),
    );
    return withAnswers(request);
  }

  async requestAnswer(
    thread: AgentThread,
    toolCallId: string,
    question: Question,
    { replyTo }: { replyTo?: unknown } = {},
  ): Promise<QuestionRequestContent> {
    const log = this.#threads.logOf(thread);
    await this.#threads.update(log);
    return askDuringCall(log, this.#context, { toolCallId, question, replyTo });
  }

  async settle(
    thread: AgentThread,
    toolCallId: string,
    outcome: SettledOutcome,
    options: AnswerOptions = {},
  ): Promise<void> {
    await settleCall(await this.#ending(thread), { toolCallId, outcome, by: options });
  }

  async deliver(
    thread: AgentThread,
    toolCallId: string,
    outcome: DeliveredOutcome,
    options: AnswerOptions = {},
  ): Promise<void> {
    await deliverOutcome(await this.#ending(thread), { toolCallId, outcome, by: options });
  }

  /** What bringing an outcome from outside needs of a thread, read up to now. */
  async #ending(thread: AgentThread): Promise<EndingInput> {
    const log = this.#threads.logOf(thread);
    const tools = await this.#definedTools();
    await this.#threads.update(log);
    const { now, generateId } = this.#context;
    return { log, tools, now, generateId };
  }

  async retract(
    thread: AgentThread,
    messageId?: string,
    options: AnswerOptions = {},
  ): Promise<void> {
    const log = this.#threads.logOf(thread);
    const by = parseAnswerer(options);
    await this.#threads.update(log);
    await log.commit((proposal) => {
      const at = this.#context.now();
      refuseRunning(proposal.state, at);
      refuseRetraction(proposal.state, messageId);
      proposal.add(...abandonedEvents(this.#context, proposal.state));
      proposal.add({ type: 'message-retracted', at, ...by });
    });
  }

  async stop(thread: AgentThread, options: AnswerOptions = {}): Promise<void> {
    const log = this.#threads.logOf(thread);
    const by = parseAnswerer(options);
    await this.#threads.update(log);
    await log.commit((proposal) => proposal.add(...stopRequest(this.#context, proposal.state, by)));
    await untilEnded(this.#context, log);
  }

  async cancel(thread: AgentThread, reason = 'The request was cancelled.'): Promise<AgentResponse> {
    const log = this.#threads.logOf(thread);
    await this.#threads.update(log);
    await log.commit((proposal) => {
      proposal.add(...cancelEvents(proposal.head, reason, this.#context.now()));
    });
    return makeResponse(
      thread,
      { messages: log.state.messages, messagesBefore: log.state.messages.length },
      nothingRun('cancelled'),
    );
  }

  async adopt(thread: AgentThread): Promise<void> {
    const log = this.#threads.logOf(thread);
    const { name, now } = this.#context;
    await this.#threads.pull(log);
    /* Not `commit`, which refuses the thread for its owner. */
    await log.commitFact((proposal) => {
      const { head } = proposal;
      if (!head.created || head.agent === name) return;
      refuseRunning(proposal.state, now());
      /* A run of the old owner that has stalled must not go on. */
      proposal.add(...abandonedEvents(this.#context, proposal.state));
      const owner = name === undefined ? {} : { agent: name };
      proposal.add({ type: 'agent-changed', at: now(), ...owner });
    });
  }

  async delete(thread: AgentThread): Promise<void> {
    const log = this.#threads.logOf(thread);
    await this.#threads.update(log);
    await log.delete((state) => refuseRunning(state, this.#context.now()));
  }

  on<TYPE extends ThreadEventType>(type: TYPE, listener: AgentListener<TYPE>): () => void {
    return this.#context.events.on(type, listener);
  }

  /** Made ready at the first run; a failure, of a schema that is fetched say, is not kept. */
  async #definedTools(): Promise<ToolDefinitions> {
    const { tools, toolsContext } = this.#context;
    this.#tools ??= defineTools(tools, toolsContext);
    try {
      return await this.#tools;
    } catch (error) {
      this.#tools = undefined;
      throw error;
    }
  }
}
