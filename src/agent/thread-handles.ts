import { describeKind } from '../content/check-settings.ts';
import { HoldpointError } from '../errors.ts';
import { AgentThread } from '../thread/agent-thread.ts';
import { parseThreadJson, verifyEntries } from '../thread/thread-json.ts';
import type { StoreClock } from '../thread/store-clock.ts';
import type { ParentCall } from '../thread/events.ts';
import { ThreadLog, type ThreadLogOptions } from '../thread/thread-log.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { LogEntry, ThreadStore } from '../thread/thread-store.ts';
import { hasReceivers, notifyDropped } from './calls/answer-receiver.ts';
import type { AgentContext } from './run/agent-context.ts';
import { recordAbandoned } from './run/run-end.ts';

/** The thread handles that an agent has returned, and the log behind each. */
export class ThreadHandles {
  readonly #context: AgentContext;
  readonly #store: ThreadStore;
  readonly #clock: StoreClock;
  readonly #onCommitted: ThreadLogOptions['onCommitted'];

  constructor(context: AgentContext, { store, clock }: { store: ThreadStore; clock: StoreClock }) {
    this.#context = context;
    this.#store = store;
    this.#clock = clock;
    const { tools } = context;
    if (hasReceivers(tools)) {
      this.#onCommitted = (state, committed) => notifyDropped(tools, state, committed);
    }
  }

  /** A thread from the store, or a new one. Writes nothing, except that calls were found to be lost. */
  async open(
    threadId: string = this.#context.generateId(),
    parent?: ParentCall,
  ): Promise<AgentThread> {
    const thread = await this.#open(threadId, parent);
    const log = this.logOf(thread);
    const { head } = log.state;
    const { tools } = this.#context;
    const started = head.calls.filter(({ status }) => status === 'started');
    /* The tool decides whether a lost call can be recovered: a process that does not have the tool would leave the call to people. */
    const isLost =
      started.length > 0 && started.every(({ toolName }) => Object.hasOwn(tools, toolName));
    /* A process that can't or may not write can still read the thread. */
    if (isLost && head.agent === this.#context.name)
      await recordAbandoned(this.#context, log).catch(() => {});
    return thread;
  }

  /** The log of a thread, for reading: nothing is written. Throws `wrong-agent` for a thread of another agent. */
  async read(threadId: string): Promise<ThreadLog> {
    const log = this.logOf(await this.#open(threadId));
    refuseOtherAgent(log.state, this.#context.name);
    return log;
  }

  /** Reads the store's clock, if that is due. */
  async syncClock(): Promise<void> {
    await this.#clock.sync();
  }

  /** Reads what others appended. */
  pull(log: ThreadLog): Promise<void> {
    const syncing = this.#clock.sync();
    return syncing === undefined ? log.pull() : syncing.then(() => log.pull());
  }

  /** Reads what others appended. Throws `wrong-agent` for a thread of another agent. */
  update(log: ThreadLog): Promise<void> {
    return this.pull(log).then(() => refuseOtherAgent(log.state, this.#context.name));
  }

  /** Restores a thread from its JSON form into the store: see `Agent.restore`. */
  async restore(json: unknown): Promise<AgentThread> {
    const { threadId, entries } = parseThreadJson(json);
    const hash = (await verifyEntries(entries)).at(-1)?.hash;
    const thread = await this.#open(threadId);
    const log = this.logOf(thread);
    const stored = log.state.entries[entries.length - 1];
    if (log.revision === 0 && entries.length > 0) await this.#write(log, entries);
    else if (entries.length > 0 && hash !== stored?.hash) {
      throw new HoldpointError(
        'thread-diverged',
        `The store has other events for thread ${threadId} than the JSON. Open the stored thread with agent.thread, or restore the JSON into another store.`,
      );
    }
    return thread;
  }

  /** The log of a handle. Throws `invalid-input` for a handle of another agent. */
  logOf(thread: AgentThread): ThreadLog {
    refuseNonThread(thread);
    const log = AgentThread.readLog(thread, this);
    if (log !== undefined) return log;
    throw new HoldpointError(
      'invalid-input',
      'This thread was opened by another agent; open it here with agent.thread(id).',
    );
  }

  async #open(threadId: string, parent?: ParentCall): Promise<AgentThread> {
    refuseThreadId(threadId);
    const syncing = this.#clock.sync();
    if (syncing !== undefined) await syncing;
    let deleted: string | undefined;
    for (;;) {
      const log = this.#newLog(threadId, parent);
      try {
        await log.open();
        return new AgentThread(log, this.#context.now, this);
      } catch (error) {
        const [first] = log.state.entries;
        const isDeleted = HoldpointError.isInstance(error) && error.code === 'thread-deleted';
        /* A store that keeps threads which it reports as deleted would be read forever. */
        if (!isDeleted || first?.hash === deleted) throw error;
        deleted = first?.hash;
      }
    }
  }

  #newLog(threadId: string, parent?: ParentCall): ThreadLog {
    const { now, events, name } = this.#context;
    const log = new ThreadLog(threadId, {
      store: this.#store,
      now,
      origin: { ...(name === undefined ? {} : { agent: name }), ...(parent && { parent }) },
      refuse: (state) => refuseOtherAgent(state, name),
      onAppended: (appended) => events.emit(log.state, appended),
      onCommitted: this.#onCommitted,
    });
    return log;
  }

  async #write(log: ThreadLog, entries: readonly LogEntry[]): Promise<void> {
    try {
      await log.writeWhole(entries);
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

/** Throws `invalid-input` for a value that is not a thread: JavaScript may pass none, an id, or a promise that it did not await. */
export function refuseNonThread(thread: unknown): void {
  if (thread instanceof AgentThread) return;
  throw new HoldpointError(
    'invalid-input',
    `Pass a thread, from \`await agent.thread(id)\`; got ${describeKind(thread)}.`,
  );
}

/** The error for an id that is `undefined`: an app that lost it, or misspelt its name, must not get an empty thread. */
export function makeLostIdError(): TypeError {
  return new TypeError(
    "agent.thread got the id undefined. Pass a thread's `id`, or the `threadId` of a request or an event; call it without arguments for a new thread.",
  );
}

/* Ids become keys of stores and parts of messages, so they must be storable and printable. */
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
    'A thread id must be a well-formed string of 1 to 256 characters.',
  );
}

/** Throws `wrong-agent` for a thread that belongs to another agent. */
function refuseOtherAgent(
  { threadId, head: { created, agent } }: Readonly<ThreadState>,
  name: string | undefined,
): void {
  if (!created || agent === name) return;
  throw new HoldpointError(
    'wrong-agent',
    `Thread ${threadId} belongs to ${nameAgent(agent)}, not to ${nameAgent(name)}. ` +
      `Use an agent created with ${nameOption(agent)}; or take the thread over with agent.adopt(thread).`,
  );
}

function nameAgent(name: string | undefined): string {
  return name === undefined ? 'an agent without a name' : `agent '${name}'`;
}

function nameOption(name: string | undefined): string {
  return name === undefined ? 'no name' : `name: '${name}'`;
}

/** The agent's name. Throws a `TypeError` for one that can't be stored. */
export function checkAgentName(name: unknown): string | undefined {
  const isName =
    typeof name === 'string' && name.length > 0 && name.length <= 100 && name.isWellFormed();
  if (name === undefined || (isName && !name.includes('\0'))) return name;
  throw new TypeError('name must be a string of 1 to 100 characters.');
}
