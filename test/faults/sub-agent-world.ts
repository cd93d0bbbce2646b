import { setImmediate, setTimeout } from 'node:timers/promises';
import { tool } from 'ai';
import {
  type Agent,
  type AgentResponse,
  HoldpointError,
  memoryStore,
  type ThreadEvent,
  type ThreadStore,
} from 'holdpoint';
import { FaultPlan, MortalProcess } from './mortal-process.ts';
import {
  advance,
  answerOf,
  citySchema,
  eventsOfEach,
  type Payment,
  type Staff,
  staffOf,
  type SubAgentScenario,
  threadsBelow,
} from './paying-staff.ts';
import { MemoryOutbox, type Outbox } from './outbox.ts';
import { findRowFaults } from './row-faults.ts';

const leaseMs = 60_000;
const threadId = 'outermost';

/** What outlives the processes: the store, the clock, the payments, and the answers that were accepted. */
export class SubAgentWorld {
  readonly plan: FaultPlan;
  readonly scenario: SubAgentScenario;
  readonly payments: Payment[] = [];
  readonly #outbox: Outbox;
  readonly #store: ThreadStore;
  #time = 1_000;
  #ids = 0;

  constructor(scenario: SubAgentScenario, plan: FaultPlan, store: ThreadStore = memoryStore()) {
    this.#outbox = new MemoryOutbox(store);
    this.#store = this.#outbox.open();
    this.scenario = scenario;
    this.plan = plan;
  }

  /** A new process: its outermost agent, and all agents by name. */
  start(plan = this.plan): Staff & { process: MortalProcess } {
    const process = new MortalProcess(plan);
    const store = this.#store;
    const staff = staffOf(this.scenario, async (answer) => process.reach(async () => answer()), {
      tools: { pay: this.#pay(process), slow: this.#slow(process) },
      store: {
        ...store,
        read: async (...input) => process.reach(async () => store.read(...input)),
        head: async (...input) => process.reach(async () => store.head(...input)),
        append: async (...input) => process.reach(async () => store.append(...input)),
      },
      now: () => (this.#time += 1),
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
      leaseMs,
    });
    return { process, ...staff };
  }

  /** Waits until nobody who died holds anything. */
  outwaitLease(): void {
    this.#time += 3 * leaseMs;
  }

  /** All threads, the outermost first, each with its events. */
  async threads(): Promise<Map<string, ThreadEvent[]>> {
    const threads = await threadsBelow(this.start(new FaultPlan()), threadId);
    return eventsOfEach(this.#store, threads);
  }

  /** What is wrong with the rows of requests of all threads, and with their feed, in sentences. */
  async rowFaults(): Promise<string[]> {
    const summaries = await this.#store.list({ limit: 1_000 });
    const faults = await Promise.all(
      summaries.map(async (summary) =>
        findRowFaults(
          this.#store,
          summary.threadId,
          [await this.#store.read(summary.threadId)],
          this.#outbox.written(),
        ),
      ),
    );
    return faults.flat();
  }

  #slow(process: MortalProcess) {
    return tool({
      inputSchema: citySchema,
      execute: async () =>
        process.reach(async () => {
          while (this.payments.length === 0 && !process.isDead) await setImmediate();
          return 'slow is done';
        }),
    });
  }

  #pay(process: MortalProcess) {
    return tool({
      inputSchema: citySchema,
      execute: async ({ city }, options) =>
        process.reach(async () => {
          const paidIn = String(Reflect.get(options, 'threadId'));
          this.payments.push({ city, threadId: paidIn, toolCallId: options.toolCallId });
          return `paid ${city}`;
        }),
    });
  }
}

/** A person who brings a conversation to its end, whatever dies, and settles what is lost after a look at the payments. */
export async function converse(world: SubAgentWorld): Promise<string> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { process, ...staff } = world.start();
    const leader = { scenario: world.scenario, payments: async () => world.payments };
    const around =
      world.scenario.atWork === true
        ? async (run: () => Promise<AgentResponse>) => answeredAtWork(world, staff.outermost, run)
        : undefined;
    try {
      const status = await process.survives(advance(leader, threadId, staff, around));
      if (status === 'completed') return status;
    } catch (error) {
      if (HoldpointError.isInstance(error) && !process.isDead) throw error;
    }
    world.outwaitLease();
  }
  return 'never ended';
}

/** A run beside which a person answers, through another handle, each request that is seen while it works. */
async function answeredAtWork(
  world: SubAgentWorld,
  agent: Agent,
  run: () => Promise<AgentResponse>,
): Promise<AgentResponse> {
  const work = new AbortController();
  const answering = answerAtWork(world, agent, work.signal);
  /* It is awaited once the run has ended. */
  answering.catch(() => {});
  const response = await run().finally(() => {
    work.abort();
  });
  await answering;
  return response;
}

async function answerAtWork({ scenario }: SubAgentWorld, agent: Agent, signal: AbortSignal) {
  while (!signal.aborted) {
    await setTimeout(2);
    const thread = await agent.thread(threadId);
    for (const request of thread.activeApprovalRequests) {
      await agent.respond(answerOf(scenario, request), thread);
    }
  }
}
