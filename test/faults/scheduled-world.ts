import { tool } from 'ai';
import type { Scheduler } from 'fast-check';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  eventsOf,
  memoryStore,
  type ThreadEvent,
  type ThreadStore,
} from 'holdpoint';
import { vi } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { cityInput } from '../support/travel-world.ts';
import type { AskedModel, Effect, Evidence } from './evidence.ts';
import type { StoreView } from './mortal-world.ts';
import { type PlannedCall, statelessModel } from './stateless-model.ts';

/** The id of the one thread of a scheduled world. */
const threadId = 'scheduled';
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
  /** Decides whose port is next; without one every port works at once. */
  scheduler?: Scheduler;
  view?: StoreView;
}

/** An agent with memory of its own: a process, as far as the others can tell. */
export interface ScheduledProcess {
  name: string;
  agent: Agent;
  thread: AgentThread;
  /** What it appended. */
  appended: ThreadEvent[];
}

/** What processes share: the store, the clock, what tools did and models were asked, and who may go on next. */
export class ScheduledWorld {
  store: ThreadStore = memoryStore();
  /** Whether ports wait for the scheduler. */
  isScheduled = false;
  /** All requests that anybody was shown, oldest first. */
  readonly requests = new Map<string, ApprovalRequestContent>();
  readonly acknowledged: { requestId: string; approved: boolean }[] = [];
  readonly effects: Effect[] = [];
  readonly processes: ScheduledProcess[] = [];
  readonly #prompts: AskedModel[] = [];
  readonly #looks: ThreadEvent[][] = [];
  readonly #plan: WorldPlan;
  #time = 1_000_000;
  #latest = 0;
  #ids = 0;

  constructor(plan: WorldPlan) {
    this.#plan = plan;
  }

  get time(): number {
    return this.#time;
  }

  /** The latest that any clock has ever shown. */
  get latest(): number {
    return this.#latest;
  }

  /** A process, whose clock is `skewMs` ahead of the world's. */
  async start(name: string, skewMs = 0): Promise<ScheduledProcess> {
    const appended: ThreadEvent[] = [];
    const thread = (): AgentThread => process.thread;
    const agent = createAgent({
      model: this.#model(name, thread),
      tools: {
        book: this.#tool('book', name),
        hold: this.#tool('hold', name),
        look: this.#tool('look', name),
      },
      toolApproval: {
        book: 'user-approval',
        hold: { type: 'user-approval', expiresAfterMs: holdMs },
      },
      store: this.#storeOf(name, appended),
      now: () => this.#now(skewMs),
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
      leaseMs,
      maxRetries: 0,
    });
    const process = { name, agent, thread: await agent.thread(threadId), appended };
    this.processes.push(process);
    return process;
  }

  /** Waits until the scheduler lets this step happen. */
  async turn(label: string): Promise<void> {
    if (this.isScheduled) await this.#plan.scheduler?.schedule(Promise.resolve(), label);
  }

  /** Moves the clock, also back; no timer rings, as when all processes were suspended meanwhile. */
  jump(ms: number): void {
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
    this.#looks.push(await this.events());
  }

  async events(): Promise<ThreadEvent[]> {
    return eventsIn(this.store, threadId);
  }

  async evidence(): Promise<Evidence> {
    const { effects, acknowledged } = this;
    const events = await this.events();
    return { events, effects, prompts: this.#prompts, gated, looks: this.#looks, acknowledged };
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

  #storeOf(name: string, appended: ThreadEvent[]): ThreadStore {
    const { view = (store) => store } = this.#plan;
    const store = view(this.store);
    return {
      ...store,
      read: async (...input) => this.#reach(`${name} reads`, async () => store.read(...input)),
      append: async (...input) =>
        this.#reach(`${name} appends`, async () => {
          await store.append(...input);
          appended.push(...input[2].flatMap(eventsOf));
        }),
    };
  }

  #model(name: string, thread: () => AgentThread) {
    return statelessModel(this.#plan.turns, async (prompt, answer) => {
      /* What the process knew when it asked; others may have gone on by the time the model hears of it. */
      this.#prompts.push({ prompt, revision: thread().revision });
      return this.#reach(`${name} asks the model`, async () => answer());
    });
  }

  #tool(toolName: string, name: string) {
    return tool({
      description: `${toolName} a flight`,
      inputSchema: cityInput,
      execute: async (input, options) => {
        const { toolCallId } = options;
        const idempotencyKey = String(Reflect.get(options, 'idempotencyKey'));
        const revision = (await this.events()).length;
        return this.#reach(`${name} runs ${toolName}`, async () => {
          await this.turn(`${name} takes its time before ${toolName} happens`);
          this.effects.push({ toolName, toolCallId, idempotencyKey, input, revision });
          await this.turn(`${name} takes its time after ${toolName} has happened`);
          return { [toolName]: input.city, by: name };
        });
      },
    });
  }
}
