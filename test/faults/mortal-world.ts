import { setImmediate } from 'node:timers/promises';
import { tool } from 'ai';
import {
  type Agent,
  createAgent,
  memoryStore,
  type ThreadEvent,
  type ThreadStore,
} from 'holdpoint';
import { cityInput } from '../support/travel-world.ts';
import type { AskedModel, Effect, Evidence } from './evidence.ts';
import { FaultPlan, MortalProcess } from './mortal-process.ts';
import type { Scenario } from './scenario.ts';
import { statelessModel } from './stateless-model.ts';

/** The id of the one thread of a mortal world. */
export const threadId = 'mortal';
/** The tools of a mortal world that nobody may run unasked. */
const gated: ReadonlySet<string> = new Set(['book']);
const leaseMs = 60_000;

/** A store as a process sees it; a broken one, for the tests of the tests. */
export type StoreView = (store: ThreadStore) => ThreadStore;

/** What outlives the processes: the store, the clock, what tools did, and what models were asked. */
export class MortalWorld {
  readonly plan: FaultPlan;
  readonly scenario: Scenario;
  readonly effects: Effect[] = [];
  readonly prompts: AskedModel[] = [];
  readonly looks: ThreadEvent[][] = [];
  readonly acknowledged: { requestId: string; approved: boolean }[] = [];
  readonly #store = memoryStore();
  readonly #view: StoreView;
  #time = 1_000;
  #ids = 0;

  constructor(scenario: Scenario, plan: FaultPlan, view: StoreView = (store) => store) {
    this.scenario = scenario;
    this.plan = plan;
    this.#view = view;
  }

  /** A new process with an agent that shares nothing with others but this world. */
  start(): { process: MortalProcess; agent: Agent } {
    const process = new MortalProcess(this.plan);
    const agent = createAgent({
      model: this.#model(process),
      tools: { book: this.#tool('book', process), look: this.#tool('look', process) },
      toolApproval: { book: 'user-approval' },
      store: this.#storeOf(process),
      now: () => process.call(() => (this.#time += 1)),
      generateId: () => process.call(() => `id-${String((this.#ids += 1)).padStart(19, '0')}`),
      leaseMs,
      maxRetries: 0,
    });
    return { process, agent };
  }

  /** Waits until no dead process holds the thread any more. */
  outwaitLease(): void {
    this.#time += leaseMs;
  }

  /** Notes how the log stands. */
  async look(): Promise<void> {
    this.looks.push(await this.events());
  }

  async events(): Promise<ThreadEvent[]> {
    return this.#store.read(threadId);
  }

  async evidence(): Promise<Evidence> {
    const { effects, prompts, looks, acknowledged } = this;
    return { events: await this.events(), effects, prompts, gated, looks, acknowledged };
  }

  #storeOf(process: MortalProcess): ThreadStore {
    const store = this.#view(this.#store);
    return {
      ...store,
      read: async (...input) => process.reach(async () => store.read(...input)),
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

  #tool(toolName: string, process: MortalProcess) {
    return tool({
      description: `${toolName} a flight`,
      inputSchema: cityInput,
      execute: async (input, options) =>
        process.reach(async () => {
          const { toolCallId } = options;
          const idempotencyKey = String(Reflect.get(options, 'idempotencyKey'));
          const revision = (await this.events()).length;
          this.effects.push({ toolName, toolCallId, idempotencyKey, input, revision });
          return { [toolName]: input.city };
        }),
    });
  }
}
