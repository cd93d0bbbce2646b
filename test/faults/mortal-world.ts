import { setImmediate } from 'node:timers/promises';
import {
  type Agent,
  createAgent,
  memoryStore,
  type ThreadEvent,
  type ThreadStore,
} from 'holdpoint';
import { eventsIn } from '../support/events-in.ts';
import type { AskedModel, Effect, Evidence } from './evidence.ts';
import { FaultPlan, MortalProcess } from './mortal-process.ts';
import { mortalTools } from './mortal-tools.ts';
import type { Scenario } from './scenario.ts';
import { statelessModel } from './stateless-model.ts';
import { ToolServer } from './tool-server.ts';

/** The id of the one thread of a mortal world. */
export const threadId = 'mortal';
/** The tools of a mortal world that nobody may run unasked. */
const gated: ReadonlySet<string> = new Set(['book']);
const leaseMs = 60_000;
/* More than a lease, and more than any clock of these worlds is off. */
const longWaitMs = 3 * 3_600_000;

/** A store as a process sees it; a broken one, for the tests of the tests. */
export type StoreView = (store: ThreadStore) => ThreadStore;

/** Which of all readings of clocks it is, and whose, counted from 1. */
interface ClockReading {
  process: number;
  reading: number;
}

/** The time that a process reads where the true time is `time`. */
export type ClockView = (time: number, reading: ClockReading) => number;

/** What outlives the processes: the store, the clock, what tools did, and what models were asked. */
export class MortalWorld {
  readonly plan: FaultPlan;
  readonly scenario: Scenario;
  readonly server: ToolServer;
  readonly prompts: AskedModel[] = [];
  readonly looks: ThreadEvent[][] = [];
  readonly acknowledged: { requestId: string; approved: boolean }[] = [];
  readonly delivered: { toolCallId: string; output: unknown }[] = [];
  readonly #store = memoryStore();
  readonly #view: StoreView;
  readonly #clock: ClockView;
  #time = 1_000;
  #readings = 0;
  #processes = 0;
  #ids = 0;

  constructor(
    scenario: Scenario,
    plan: FaultPlan,
    view: StoreView = (store) => store,
    clock: ClockView = (time) => time,
  ) {
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

  /** A new process with an agent that shares nothing with others but this world. */
  start(): { process: MortalProcess; agent: Agent } {
    const process = new MortalProcess(this.plan);
    const number = (this.#processes += 1);
    const agent = createAgent({
      model: this.#model(process),
      ...mortalTools(this, process),
      toolApproval: { book: 'user-approval' },
      store: this.#storeOf(process),
      now: () => process.call(() => this.#read(number)),
      generateId: () => process.call(() => `id-${String((this.#ids += 1)).padStart(19, '0')}`),
      leaseMs,
      maxRetries: 0,
    });
    return { process, agent };
  }

  /** Waits until no dead process holds the thread any more. */
  outwaitLease(): void {
    this.#time += longWaitMs;
  }

  /** Notes how the log stands. */
  async look(): Promise<void> {
    this.looks.push(await this.events());
  }

  async events(): Promise<ThreadEvent[]> {
    return eventsIn(this.#store, threadId);
  }

  async evidence(): Promise<Evidence> {
    const { prompts, looks, acknowledged, delivered } = this;
    const { effects, runs, questions } = this.server;
    const { maxAttempts, defers } = this.scenario;
    const names = maxAttempts === undefined ? [] : ['book', 'look'];
    return {
      events: await this.events(),
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

  #storeOf(process: MortalProcess): ThreadStore {
    const store = this.#view(this.#store);
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
    };
  }

  #model(process: MortalProcess) {
    const plan = this.scenario.turns.map(({ calls }) => calls);
    return statelessModel(plan, async (prompt, answer) =>
      process.reach(async () => {
        this.prompts.push({ prompt, revision: (await this.events()).length });
        return answer();
      }),
    );
  }
}
