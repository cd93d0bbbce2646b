import { tool, type ToolSet } from 'ai';
import type { Scheduler } from 'fast-check';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  type ThreadEvent,
  type ThreadStore,
} from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { eventsOf } from 'holdpoint/schemas';
import { vi } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { cityInput } from '../support/travel-world.ts';
import type { Effect, Evidence } from './evidence.ts';
import { ProviderDown, type StoreView } from './mortal-world.ts';
import { plannedProgressSchema, plannedStep } from './planned-steps.ts';
import { type PlannedCall, statelessModel } from './stateless-model.ts';
import { MemoryOutbox, type Outbox } from './outbox.ts';
import { findRowFaults } from './row-faults.ts';
import { ThreadRecords } from './thread-records.ts';

/** The id of the one thread of a scheduled world. */
const threadId = 'scheduled';
/** The names of the agents of a scheduled world: the one that has the thread, and one that may adopt it. */
export const owners = ['sales', 'support'] as const;
/** How long a run holds the thread. */
export const leaseMs = 60_000;
/** How long a call of `hold` can be approved. */
export const holdMs = 150_000;
/** The tools that nobody may run unasked; a request for `hold` expires. */
const gated: ReadonlySet<string> = new Set(['book', 'hold']);

/** What a scheduled world is made of. */
export interface WorldPlan {
  /** The calls that the model makes of the nth user message. */
  turns: readonly (readonly PlannedCall[])[];
  /** Whether a function takes the steps instead of a model, and asks about its plan. */
  isCustom?: boolean;
  /** Decides whose port is next; without one every port works at once. */
  scheduler?: Scheduler;
  view?: StoreView;
  outbox?: Outbox | undefined;
  /** Whether the nth request to the provider fails; by default none does. */
  failures?: readonly boolean[];
}

/** An agent with memory of its own: a process, as far as the others can tell. */
export interface ScheduledProcess {
  name: string;
  /** The name of its agent. */
  owner: string;
  /** How far its clock is ahead of the world's. */
  skewMs: number;
  agent: Agent;
  thread: AgentThread;
  /** The store, as it reaches it. */
  store: ThreadStore;
  /** What it appended. */
  appended: ThreadEvent[];
}

/** What processes share: the store, the clock, what tools did and models were asked, and who may go on next. */
export class ScheduledWorld {
  store: ThreadStore;
  /** Whether ports wait for the scheduler. */
  isScheduled = false;
  /** All requests that anybody was shown, oldest first. */
  readonly requests = new Map<string, ApprovalRequestContent>();
  readonly acknowledged: { requestId: string; approved: boolean }[] = [];
  readonly effects: Effect[] = [];
  readonly processes: ScheduledProcess[] = [];
  readonly records = new ThreadRecords();
  /** How often the clock has gone back. */
  setbacks = 0;
  readonly #prompts: { prompt: unknown; revision: number; runId: string | undefined }[] = [];
  readonly #plan: WorldPlan;
  #outbox: Outbox;
  #time = 1_000_000;
  #latest = 0;
  #ids = 0;

  constructor(plan: WorldPlan) {
    this.#plan = plan;
    this.#outbox = plan.outbox ?? new MemoryOutbox();
    this.store = this.#outbox.open();
  }

  get time(): number {
    return this.#time;
  }

  /** Goes on with a store that has nothing yet. */
  replaceStore(): void {
    this.#outbox = new MemoryOutbox();
    this.store = this.#outbox.open();
  }

  /** The latest that any clock has ever shown. */
  get latest(): number {
    return this.#latest;
  }

  /** A process, whose clock is `skewMs` ahead of the world's; `owner` is the name of its agent. */
  async start(
    name: string,
    { skewMs = 0, owner = owners[0] }: { skewMs?: number; owner?: string } = {},
  ): Promise<ScheduledProcess> {
    const appended: ThreadEvent[] = [];
    const thread = (): AgentThread => process.thread;
    const about = { name, skewMs, thread };
    const tools: ToolSet = {
      book: this.#tool('book', about),
      hold: this.#tool('hold', about),
      look: this.#tool('look', about),
    };
    const store = this.#storeOf(name, owner, appended);
    const options = {
      name: owner,
      tools,
      toolApproval: {
        book: 'user-approval',
        hold: { type: 'user-approval', expiresAfterMs: holdMs },
      } as const,
      store,
      now: () => this.#now(skewMs),
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
      leaseMs,
    };
    const agent: Agent =
      this.#plan.isCustom === true
        ? createCustomAgent({ ...options, ...this.#customSteps(name, thread) })
        : createAgent({ ...options, model: this.#model(name, thread), maxRetries: 0 });
    const opened = await agent.thread(threadId);
    const process: ScheduledProcess = {
      name,
      owner,
      skewMs,
      agent,
      thread: opened,
      store,
      appended,
    };
    this.processes.push(process);
    return process;
  }

  /** Waits until the scheduler lets this step happen. */
  async turn(label: string): Promise<void> {
    if (this.isScheduled) await this.#plan.scheduler?.schedule(Promise.resolve(), label);
  }

  /** Moves the clock, also back; no timer rings, as when all processes were suspended meanwhile. */
  jump(ms: number): void {
    if (ms < 0) this.setbacks += 1;
    this.#time += ms;
  }

  /** Lets time pass: runs that live renew their leases. Timers must be fake ones. */
  pass(ms: number): void {
    this.jump(ms);
    vi.advanceTimersByTime(ms);
  }

  /** Shows people what a process knows to be asked. */
  show({ activeApprovalRequests }: AgentThread): void {
    for (const request of activeApprovalRequests) this.requests.set(request.requestId, request);
  }

  /** Notes how the log stands. */
  async look(): Promise<void> {
    this.records.look(await this.events());
  }

  async events(): Promise<ThreadEvent[]> {
    return eventsIn(this.store, threadId);
  }

  /** What is known of each thread that had the id, one after the other. */
  async evidence(): Promise<Evidence[]> {
    const { effects, acknowledged } = this;
    const entries = await this.store.read(threadId);
    return this.records.evidence(entries, { effects, prompts: this.#prompts, gated, acknowledged });
  }

  /** What is wrong with the rows of requests and their feed, in sentences. */
  async rowFaults(): Promise<string[]> {
    const logs = (await this.evidence()).map(({ entries = [] }) => entries);
    return findRowFaults(this.store, threadId, logs, this.#outbox.written());
  }

  /** Whose the thread is; `undefined` where there is none. */
  async owner(): Promise<string | undefined> {
    return (await this.store.head(threadId))?.agent;
  }

  /** Opens the thread anew in a process. */
  async open(process: ScheduledProcess): Promise<void> {
    process.thread = await process.agent.thread(threadId);
  }

  #now(skewMs: number): number {
    const now = this.#time + skewMs;
    this.#latest = Math.max(this.#latest, now);
    return now;
  }

  /** A port that takes its time, before its work and before its reply. */
  async #reach<RESULT>(label: string, work: () => Promise<RESULT>): Promise<RESULT> {
    await this.turn(label);
    try {
      return await work();
    } finally {
      await this.turn(`${label} replies`);
    }
  }

  #storeOf(name: string, owner: string, appended: ThreadEvent[]): ThreadStore {
    const { view = (store) => store } = this.#plan;
    const own = this.#outbox.open(async (work) => this.#reach(`${name} calls a hook`, work));
    const store = view(this.records.noting(own, owner));
    const { deletion } = store;
    return {
      ...store,
      read: async (...input) => this.#reach(`${name} reads`, async () => store.read(...input)),
      append: async (...input) =>
        this.#reach(`${name} appends`, async () => {
          await store.append(...input);
          appended.push(...input[2].flatMap(eventsOf));
        }),
      delete: async (...input) =>
        this.#reach(`${name} deletes`, async () => store.delete(...input)),
      ...(deletion && {
        deletion: {
          ...deletion,
          delete: async (groups) =>
            this.#reach(`${name} deletes what is old`, async () => deletion.delete(groups)),
        },
      }),
    };
  }

  #model(name: string, thread: () => AgentThread) {
    return statelessModel(this.#plan.turns, async (prompt, answer) =>
      this.#ask({ name, thread }, prompt, answer),
    );
  }

  #customSteps(name: string, thread: () => AgentThread) {
    const planned = plannedStep(this.#plan.turns, { expiresAfterMs: holdMs });
    const step = async (input: Parameters<typeof planned>[0]) =>
      this.#ask({ name, thread }, input.messages, () => planned(input));
    return { step, progressSchema: plannedProgressSchema };
  }

  /** One step, whoever takes it: the model, or a function. */
  async #ask<STEP>(
    { name, thread }: { name: string; thread: () => AgentThread },
    prompt: unknown,
    take: () => STEP,
  ): Promise<STEP> {
    /* What the process knew when it asked; others may have appended before the reply. */
    const { revision, events } = thread();
    const run = events.findLast((event) => event.type === 'run-started');
    this.#prompts.push({ prompt, revision, runId: run?.runId });
    if (this.isScheduled && this.#plan.failures?.[this.#prompts.length] === true) {
      throw new ProviderDown('overloaded');
    }
    return this.#reach(`${name} takes a step`, async () => take());
  }

  #tool(
    toolName: string,
    { name, skewMs, thread }: { name: string; skewMs: number; thread: () => AgentThread },
  ) {
    return tool({
      description: `${toolName} a flight`,
      inputSchema: cityInput,
      execute: async (input, options) => {
        const { toolCallId } = options;
        const begun = {
          attempt: Number(Reflect.get(options, 'attempt')),
          now: this.#time + skewMs,
        };
        const idempotencyKey = String(Reflect.get(options, 'idempotencyKey'));
        /* Where the thread has been deleted meanwhile, as far as the process knows it. */
        const revision = Math.max(thread().revision, (await this.events()).length);
        return this.#reach(`${name} runs ${toolName}`, async () => {
          await this.turn(`${name} takes its time before ${toolName} happens`);
          this.effects.push({ toolName, toolCallId, idempotencyKey, input, revision, begun });
          await this.turn(`${name} takes its time after ${toolName} has happened`);
          return { [toolName]: input.city, by: name };
        });
      },
    });
  }
}
