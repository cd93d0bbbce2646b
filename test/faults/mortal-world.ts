import { setImmediate } from 'node:timers/promises';
import {
  type Agent,
  createAgent,
  type LogEntry,
  type ThreadEvent,
  type ThreadStore,
  type ThreadSummary,
} from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { eventsOf } from 'holdpoint/schemas';
import type { AskedModel, Effect, Evidence } from './evidence.ts';
import { FaultPlan, MortalProcess } from './mortal-process.ts';
import { mortalTools } from './mortal-tools.ts';
import type { Scenario } from './scenario.ts';
import { plannedProgressSchema, plannedStep } from './planned-steps.ts';
import { MemoryOutbox, type Outbox } from './outbox.ts';
import { changesOf, findRowFaults } from './row-faults.ts';
import { type PlannedCall, statelessModel } from './stateless-model.ts';
import { ToolServer } from './tool-server.ts';

/** What agents are made with, whatever takes their steps. */
type SharedOptions = Omit<
  Parameters<typeof createCustomAgent<unknown>>[0],
  'step' | 'progressSchema'
>;

/** The id of the one thread of a mortal world. */
export const threadId = 'mortal';
/** The tools of a mortal world that nobody may run unasked. */
const gated: ReadonlySet<string> = new Set(['book']);
const leaseMs = 60_000;
/* How many entries are kept as they were read. */
const mostKnown = 10_000;
/* More than a lease, and more than any clock of these worlds is off. */
const longWaitMs = 3 * 3_600_000;

/** What a provider throws that is overloaded. */
export class ProviderDown extends Error {
  override readonly name = 'ProviderDown';
}

/** A store as a process sees it; a broken one, for the tests of the tests. */
export type StoreView = (store: ThreadStore) => ThreadStore;

/** Which of all readings of clocks it is, and whose, counted from 1. */
interface ClockReading {
  process: number;
  reading: number;
}

/** The time that a process reads where the true time is `time`. */
export type ClockView = (time: number, reading: ClockReading) => number;

/** A log as far as it had come at some point. */
export interface LogCopy {
  entries: readonly LogEntry[];
  summary: ThreadSummary;
}

const known = new Map<string, readonly ThreadEvent[]>();

/** The events of an entry, read once from each text: runs that are crashed at different points begin with the same entries. */
function readEvents({ revision, text }: LogEntry): readonly ThreadEvent[] {
  /* A copy: what a process has in memory of an entry is not what is stored. */
  const events = known.get(text) ?? eventsOf({ revision, text });
  if (known.size >= mostKnown) known.clear();
  known.set(text, events);
  return events;
}

/** What outlives the processes: the store, the clock, what tools did, and what models were asked. */
export class MortalWorld {
  readonly plan: FaultPlan;
  readonly scenario: Scenario;
  server: ToolServer;
  prompts: AskedModel[] = [];
  looks: ThreadEvent[][] = [];
  acknowledged: { requestId: string; approved: boolean }[] = [];
  delivered: { toolCallId: string; output: unknown }[] = [];
  /** What is known of the threads that had this id before, and were deleted. */
  readonly deleted: Evidence[] = [];
  #authors: (string | undefined)[] = [];
  #failures = 0;
  readonly #numbers = new WeakMap<MortalProcess, number>();
  readonly #outbox: Outbox;
  readonly #store: ThreadStore;
  readonly #view: StoreView;
  readonly #clock: ClockView;
  #time = 1_000;
  #readings = 0;
  #processes = 0;
  #ids = 0;
  /** What ids begin with: another world has others. */
  #idPrefix = 'id-';

  constructor(
    scenario: Scenario,
    plan: FaultPlan,
    view: StoreView = (store) => store,
    clock: ClockView = (time) => time,
    outbox: Outbox = new MemoryOutbox(),
  ) {
    this.#outbox = outbox;
    this.#store = outbox.open();
    this.scenario = scenario;
    this.plan = plan;
    this.server = new ToolServer(scenario.maxAttempts !== undefined);
    this.#view = view;
    this.#clock = clock;
  }

  /** How often clocks were read. */
  get readings(): number {
    return this.#readings;
  }

  get effects(): readonly Effect[] {
    return this.server.effects;
  }

  get time(): number {
    return this.#time;
  }

  /** A new process with an agent that shares nothing with others but this world. */
  start({ name, isImmortal = false }: { name?: string | undefined; isImmortal?: boolean } = {}) {
    const process = new MortalProcess(isImmortal ? new FaultPlan() : this.plan);
    const number = (this.#processes += 1);
    this.#numbers.set(process, number);
    const { maxFailures, concurrency } = this.scenario;
    const options = {
      ...(name === undefined ? {} : { name }),
      ...(maxFailures === undefined ? {} : { retry: { maxAttempts: maxFailures } }),
      ...(concurrency === undefined ? {} : { toolCallConcurrency: concurrency }),
      ...mortalTools(this, process),
      toolApproval: { book: 'user-approval' } as const,
      store: isImmortal ? this.#signed(name) : this.#storeOf(process, name),
      now: () => process.call(() => this.#read(number)),
      generateId: () =>
        process.call(() => `${this.#idPrefix}${String((this.#ids += 1)).padStart(19, '0')}`),
      leaseMs,
    };
    const agent: Agent =
      this.scenario.isCustom === true
        ? this.#customAgent(process, options)
        : createAgent({ ...options, model: this.#model(process), maxRetries: 0 });
    return { process, agent: process.expose(agent) };
  }

  /** Waits until no dead process holds the thread any more. */
  outwaitLease(): void {
    this.#time += longWaitMs;
  }

  /** Begins with a copy of a log from another world, and with ids of its own; whoever was at it there is not here. */
  async copy({ entries, summary }: LogCopy): Promise<void> {
    this.#idPrefix = 'ic-';
    this.waitUntil(summary.updatedAt);
    this.outwaitLease();
    const requests = changesOf(threadId, entries);
    await this.#store.append(threadId, { revision: 0, hash: '' }, entries, summary, { requests });
  }

  /** What is wrong with the rows of requests and their feed, in sentences. */
  async rowFaults(): Promise<string[]> {
    const logs = [
      ...this.deleted.map(({ entries = [] }) => entries),
      await this.#store.read(threadId),
    ];
    return findRowFaults(this.#store, threadId, logs, this.#outbox.written());
  }

  /** Waits until then. */
  waitUntil(time: number): void {
    this.#time = Math.max(this.#time, time);
  }

  /** What the clock of a process shows, without a reading of its own. */
  timeOf(process: MortalProcess): number {
    const number = this.#numbers.get(process) ?? 0;
    return this.#clock(this.#time, { process: number, reading: this.#readings });
  }

  /** What the store says of the thread without its log. */
  async head() {
    return this.#store.head(threadId);
  }

  /** Notes how the log stands. */
  async look(): Promise<void> {
    this.looks.push(await this.events());
  }

  async events(): Promise<ThreadEvent[]> {
    const entries = await this.#store.read(threadId);
    return entries.flatMap(readEvents);
  }

  async evidence(): Promise<Evidence> {
    const { prompts, looks, acknowledged, delivered } = this;
    const { effects, runs, questions } = this.server;
    const { maxAttempts, defers } = this.scenario;
    const names = maxAttempts === undefined ? [] : ['book', 'look'];
    return {
      events: await this.events(),
      entries: await this.#store.read(threadId),
      authors: this.#authors,
      effects,
      runs,
      questions,
      prompts,
      gated,
      idempotent: new Map(names.map((name) => [name, maxAttempts ?? 1])),
      outside: new Set(defers === 'client' ? ['book'] : []),
      looks,
      acknowledged,
      delivered,
      told: this.server.jobs.flatMap(({ request: { toolCallId }, told }) =>
        told.map((each) => ({ toolCallId, ...each })),
      ),
    };
  }

  #read(process: number): number {
    this.#time += 1;
    this.#readings += 1;
    return this.#clock(this.#time, { process, reading: this.#readings });
  }

  /** What is known of the thread is of the past: it is deleted. */
  #archive(evidence: Evidence): void {
    this.deleted.push(evidence);
    this.server = new ToolServer(this.scenario.maxAttempts !== undefined);
    [this.prompts, this.looks, this.acknowledged, this.delivered] = [[], [], [], []];
    this.#authors = [];
  }

  /** The store, where it is noted who wrote what. */
  #signed(name: string | undefined, store = this.#store): ThreadStore {
    return {
      ...store,
      append: async (...input) => {
        await store.append(...input);
        const [, { revision }, , summary] = input;
        for (let at = revision; at < summary.revision; at += 1) this.#authors[at] = name;
      },
    };
  }

  #storeOf(process: MortalProcess, name: string | undefined): ThreadStore {
    const own = this.#outbox.open(async (work) => process.reach(work));
    const store = this.#view(this.#signed(name, own));
    return {
      ...store,
      read: async (...input) => process.reach(async () => store.read(...input)),
      head: async (...input) => process.reach(async () => store.head(...input)),
      append: async (...input) =>
        process.reach(async () => {
          /* A long way to the store: whoever else writes has read the same revision by then. */
          if (this.scenario.processes !== undefined) await setImmediate();
          return store.append(...input);
        }),
      delete: async (...input) =>
        process.reach(async () => {
          const evidence = await this.evidence();
          await store.delete(...input);
          this.#archive(evidence);
        }),
    };
  }

  #model(process: MortalProcess) {
    return statelessModel(this.#plan(), async (prompt, answer) =>
      this.#ask(process, prompt, answer),
    );
  }

  #customAgent(process: MortalProcess, options: SharedOptions): Agent {
    const planned = plannedStep(this.#plan());
    return createCustomAgent({
      ...options,
      progressSchema: plannedProgressSchema,
      step: async (input) => this.#ask(process, input.messages, () => planned(input)),
    });
  }

  #plan(): PlannedCall[][] {
    return this.scenario.turns.map(({ calls }) => [...calls]);
  }

  /** One step, whoever takes it: the model, or a function. */
  async #ask<STEP>(process: MortalProcess, prompt: unknown, take: () => STEP): Promise<STEP> {
    return process.reach(async () => {
      this.prompts.push({ prompt, revision: (await this.events()).length });
      if (this.#failures < (this.scenario.fails ?? 0)) {
        this.#failures += 1;
        throw new ProviderDown('overloaded');
      }
      return take();
    });
  }
}
