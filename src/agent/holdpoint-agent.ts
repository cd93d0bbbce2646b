import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import type { QuestionRequestContent } from '../content/question.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { deepFreeze } from '../thread/deep-freeze.ts';
import type { ThreadEvent, ThreadEventType } from '../thread/thread-event.ts';
import { acceptInput } from './accept-input.ts';
import type { Agent } from './agent.ts';
import type { AgentContext } from './agent-context.ts';
import type { AgentListener } from './agent-events.ts';
import type {
  AnswerOptions,
  DeliveredOutcome,
  InputItem,
  RunInput,
  RunOptions,
  SettledOutcome,
} from './agent-options.ts';
import { type AgentResponse, makeResponse } from './agent-response.ts';
import { type AgentStream, type AgentStreamEvent, RunStream } from './agent-stream.ts';
import { askBeside } from './ask-beside.ts';
import { cancelEvents } from './close-requests.ts';
import { deliverOutcome, type EndingInput, settleCall } from './end-call.ts';
import type { Feed } from './feed.ts';
import { type Asked, makeRequest } from './make-request.ts';
import { parseInput } from './parse-input.ts';
import type { Question } from './question-call.ts';
import { Run } from './run.ts';
import { ThreadHandles } from './thread-handles.ts';
import { defineTools, type ToolDefinitions } from './tool-definitions.ts';

/** An agent: what each of its methods does to a thread, from bringing it up to date to what is appended. */
export class HoldpointAgent implements Agent<unknown> {
  readonly #context: AgentContext;
  readonly #threads: ThreadHandles;
  #tools: Promise<ToolDefinitions> | undefined;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#threads = new ThreadHandles(context);
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
    return this.#play(input, thread, options);
  }

  stream(input: RunInput, thread: AgentThread, options: RunOptions<unknown> = {}): AgentStream {
    return new RunStream(
      async (feed, signal) => this.#play(input, thread, { ...options, signal }, feed),
      options.signal,
    );
  }

  /** Runs the thread; `feed` is told what happens, and is what makes the model stream. */
  async #play(
    input: RunInput,
    thread: AgentThread,
    options: RunOptions<unknown>,
    feed?: Feed<AgentStreamEvent>,
  ): Promise<AgentResponse> {
    const log = this.#threads.logOf(thread);
    const { principal, channel } = options;
    const { allowSystemInMessages } = this.#context.options;
    const parsed = parseInput(input, { principal, channel, allowSystemInMessages });
    options.signal?.throwIfAborted();
    const tools = await this.#definedTools();
    await log.pull();
    const messagesBefore = log.state.messages.length;
    const onEvents = (events: readonly ThreadEvent[]): void => {
      if (feed !== undefined) for (const event of events) feed.push(deepFreeze(event));
    };
    const run = new Run(this.#context, { log, tools, options, listener: feed, onEvents });
    const end = await run.play(parsed);
    return makeResponse(thread, { messages: log.state.messages, messagesBefore }, end);
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
    await log.pull();
    await log.commit((proposal) => {
      acceptInput(proposal, parsed, { tools, now: this.#context.now(), whilePending: 'refuse' });
    });
  }

  async requestApproval(thread: AgentThread, asked: Asked): Promise<ApprovalRequestContent> {
    const log = this.#threads.logOf(thread);
    const request = await makeRequest({ ...this.#context, threadId: thread.id }, asked);
    await log.pull();
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
    await log.pull();
    return askBeside(log, this.#context, { toolCallId, question, replyTo });
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
    await log.pull();
    return { log, tools, ...this.#context };
  }

  async cancel(thread: AgentThread, reason = 'The request was cancelled.'): Promise<AgentResponse> {
    const log = this.#threads.logOf(thread);
    await log.pull();
    await log.commit((proposal) => {
      proposal.add(...cancelEvents(proposal.head, reason, this.#context.now()));
    });
    return makeResponse(
      thread,
      { messages: log.state.messages, messagesBefore: log.state.messages.length },
      { status: 'cancelled', usage: undefined, finishReason: undefined },
    );
  }

  on<TYPE extends ThreadEventType>(type: TYPE, listener: AgentListener<TYPE>): () => void {
    return this.#context.events.on(type, listener);
  }

  /** Made ready at the first run; a failure, of a schema that is fetched say, is not kept. */
  async #definedTools(): Promise<ToolDefinitions> {
    const { tools = {}, toolsContext = {} } = this.#context.options;
    this.#tools ??= defineTools(tools, toolsContext);
    try {
      return await this.#tools;
    } catch (error) {
      this.#tools = undefined;
      throw error;
    }
  }
}
