import type { ToolSet } from 'ai';
import { randomId } from '../content/random-id.ts';
import { type ApprovalRequestContent, withAnswers } from '../content/approval.ts';
import type { QuestionRequestContent } from '../content/question.ts';
import { HoldpointError } from '../errors.ts';
import { memoryStore } from '../stores/memory.ts';
import { AgentThread } from '../thread/agent-thread.ts';
import { verifyChain } from '../thread/chain.ts';
import { deepFreeze } from '../thread/deep-freeze.ts';
import type { ThreadEvent, ThreadEventType } from '../thread/thread-event.ts';
import { parseThreadJson } from '../thread/thread-json.ts';
import { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import { acceptInput } from './accept-input.ts';
import { askBeside } from './ask-beside.ts';
import { cancelEvents } from './close-requests.ts';
import type { Agent } from './agent.ts';
import type { AgentContext } from './agent-context.ts';
import { AgentEvents, type AgentListener } from './agent-events.ts';
import type {
  AgentOptions,
  AnswerOptions,
  DeliveredOutcome,
  InputItem,
  RunInput,
  RunOptions,
  SettledOutcome,
} from './agent-options.ts';
import { type AgentResponse, makeResponse } from './agent-response.ts';
import { type AgentStream, type AgentStreamEvent, RunStream } from './agent-stream.ts';
import { checkRules } from './apply-rules.ts';
import { deliverOutcome, type EndingInput, settleCall } from './end-call.ts';
import type { Feed } from './feed.ts';
import { type Asked, makeRequest } from './make-request.ts';
import { settingsOf } from './model-step.ts';
import { parseInput } from './parse-input.ts';
import type { Question } from './question-call.ts';
import { checkRecovery } from './recover-calls.ts';
import { Run } from './run.ts';
import { tellForgotten } from './tell-forgotten.ts';
import { checkTools, defineTools, type ToolDefinitions } from './tool-definitions.ts';

/**
 * Wraps a language model with a loop that runs tools, asks people where a rule says so, and remembers.
 * Throws a `TypeError` for rules that name no tool, or one that runs at the provider.
 *
 * @example
 * const agent = createAgent({ model, tools: { bookFlight }, toolApproval: { bookFlight: 'user-approval' } });
 * const thread = await agent.thread('trip-42');
 * let response = await agent.run('Book me a flight to Paris on Friday.', thread);
 * while (response.approvalRequests.length > 0) {
 *   const answers = response.approvalRequests.map((request) => request.approve());
 *   response = await agent.run(answers, thread);
 * }
 * console.log(response.text);
 */
export function createAgent<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
>(options: AgentOptions<TOOLS, RUNTIME_CONTEXT>): Agent<RUNTIME_CONTEXT> {
  const { tools = {}, toolApproval, toolRecovery = {} } = options;
  checkTools(tools);
  checkRules(toolApproval, tools);
  checkRecovery(toolRecovery, tools);
  return new HoldpointAgent({
    options,
    settings: settingsOf(options),
    maxSteps: options.maxSteps ?? 20,
    leaseMs: options.leaseMs ?? 60_000,
    abortGraceMs: options.abortGraceMs ?? 5_000,
    now: options.now ?? Date.now,
    generateId: options.generateId ?? randomId,
    events: new AgentEvents(),
    toldLost: new Set(),
  });
}

class HoldpointAgent implements Agent<unknown> {
  readonly #context: AgentContext;
  readonly #store: ThreadStore;
  readonly #logs = new WeakMap<AgentThread, ThreadLog>();
  #tools: Promise<ToolDefinitions> | undefined;

  constructor(context: AgentContext) {
    this.#context = context;
    this.#store = context.options.store ?? memoryStore();
  }

  async thread(threadId: string = this.#context.generateId()): Promise<AgentThread> {
    const { thread } = await this.#open(threadId);
    return thread;
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
    const log = this.#logOf(thread);
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
    const log = this.#logOf(thread);
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
    const log = this.#logOf(thread);
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
    const log = this.#logOf(thread);
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
    const log = this.#logOf(thread);
    const tools = await this.#definedTools();
    await log.pull();
    return { log, tools, ...this.#context };
  }

  async cancel(thread: AgentThread, reason = 'The request was cancelled.'): Promise<AgentResponse> {
    const log = this.#logOf(thread);
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

  async restore(json: unknown): Promise<AgentThread> {
    const { threadId, events } = parseThreadJson(json);
    await verifyChain(events);
    const { thread, log } = await this.#open(threadId);
    const stored = log.state.events;
    if (stored.length === 0 && events.length > 0) await this.#write(log, events);
    else if (events.at(-1)?.hash !== stored[events.length - 1]?.hash) {
      throw new HoldpointError(
        'thread-diverged',
        `The store has another past for thread ${threadId} than the JSON. Open it with agent.thread, or restore it under another id.`,
      );
    }
    return thread;
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

  async #open(threadId: string): Promise<{ thread: AgentThread; log: ThreadLog }> {
    refuseThreadId(threadId);
    const { now, events, options } = this.#context;
    const log = new ThreadLog(threadId, {
      store: this.#store,
      now,
      onAppended: (id, appended) => events.emit(id, appended),
      onCommitted: (state, committed) => tellForgotten(options.tools, state, committed),
    });
    await log.open();
    const thread = new AgentThread(log, now);
    this.#logs.set(thread, log);
    return { thread, log };
  }

  async #write(log: ThreadLog, events: ThreadEvent[]): Promise<void> {
    try {
      await log.write(events);
    } catch (error) {
      if (!HoldpointError.isInstance(error) || error.code !== 'revision-conflict') throw error;
      throw new HoldpointError(
        'thread-diverged',
        `Thread ${log.state.threadId} was written by another process meanwhile; restore it again.`,
        { cause: error },
      );
    }
  }

  #logOf(thread: AgentThread): ThreadLog {
    const log = this.#logs.get(thread);
    if (log !== undefined) return log;
    throw new HoldpointError(
      'invalid-input',
      'This thread was opened by another agent; open it here with agent.thread(id).',
    );
  }
}

/* Ids become keys of stores and parts of messages; what can't be shown or stored is no id. */
function refuseThreadId(threadId: unknown): void {
  const valid =
    typeof threadId === 'string' &&
    threadId.length > 0 &&
    threadId.length <= 256 &&
    threadId.isWellFormed() &&
    !threadId.includes('\0');
  if (valid) return;
  throw new HoldpointError(
    'invalid-input',
    'A thread id is 1 to 256 characters of well-formed text.',
  );
}
