import { HoldpointError } from '../errors.ts';
import { memoryStore } from '../stores/memory.ts';
import { AgentThread } from '../thread/agent-thread.ts';
import { verifyChain } from '../thread/chain.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { parseThreadJson } from '../thread/thread-json.ts';
import { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import type { AgentContext } from './agent-context.ts';
import { tellForgotten } from './tell-forgotten.ts';

/** The handles on threads that an agent gave out, and the log behind each. */
export class ThreadHandles {
  readonly #context: AgentContext;
  readonly #store: ThreadStore;
  readonly #logs = new WeakMap<AgentThread, ThreadLog>();

  constructor(context: AgentContext) {
    this.#context = context;
    this.#store = context.options.store ?? memoryStore();
  }

  /** A thread from the store, or a new one. Writes nothing. */
  async open(threadId: string = this.#context.generateId()): Promise<AgentThread> {
    const { thread } = await this.#open(threadId);
    return thread;
  }

  /** A thread from its JSON form, which the store has by then: see `Agent.restore`. */
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

  /** The log of a handle. Refuses those of other agents. */
  logOf(thread: AgentThread): ThreadLog {
    const log = this.#logs.get(thread);
    if (log !== undefined) return log;
    throw new HoldpointError(
      'invalid-input',
      'This thread was opened by another agent; open it here with agent.thread(id).',
    );
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
