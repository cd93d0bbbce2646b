import { tool } from 'ai';
import { type Agent, createAgent, type ThreadStore } from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { runWorker } from 'holdpoint/worker';
import { cityInput } from '../support/travel-world.ts';
import { BusyPlan, type Stopping } from './busy-plan.ts';
import { type ClaimDraws, worldTime } from './claim-draws.ts';
import type { ClaimGround } from './claim-grounds.ts';
import { passTime, portsOf, watchRuns, watchWorker } from './claim-ports.ts';
import { claimMs, leaseMs, pollMs, type WorkerPlan } from './claim-schedules.ts';
import { ClaimWaits } from './claim-waits.ts';
import { MortalProcess } from './mortal-process.ts';
import { statelessModel } from './stateless-model.ts';
import { WorkerRoom } from './worker-room.ts';

/** Whose threads a worker runs: those of an agent, or of the one that works for it. */
type Rank = 'manager' | 'buyer';

/** A worker, and at which of its points it dies or is told to stop. */
export type FamilyWorker = { rank: Rank } & Pick<WorkerPlan, 'diesAt' | 'stopsAt'>;

const managed = 't';

/** How long threads of either agent have been due while a worker of that agent had room. */
class FamilyWaits extends ClaimWaits {
  readonly ofBuyers = new ClaimWaits(() => Date.now());

  override setDeadline(threadId: string, nextDeadline: number | undefined): void {
    if (threadId === managed) super.setDeadline(threadId, nextDeadline);
    else this.ofBuyers.setDeadline(threadId, nextDeadline);
  }
}

/** An agent whose sub-agent has to be allowed to pay, and workers of both on one store. Timers and `Date` must be fake ones. */
export class ClaimFamily {
  /** The keys of the payments that were made. */
  readonly payments: string[] = [];
  /** How many processes have died, or were told to stop. */
  gone = 0;
  readonly #draws: ClaimDraws;
  readonly #ground: ClaimGround;
  readonly #waits = new FamilyWaits(() => Date.now());
  readonly #faults: string[] = [];
  readonly #stops: (() => Promise<void>)[] = [];
  #ids = 0;

  constructor(draws: ClaimDraws, ground: ClaimGround) {
    this.#draws = draws;
    this.#ground = ground;
  }

  /** Has the manager buy something, until its sub-agent waits for the approval. */
  async open(): Promise<void> {
    const { manager } = this.#hire(this.#startProcess());
    const opening = manager.thread(managed).then(async (thread) => manager.run('Go.', thread));
    await this.pass(worldTime() + 50);
    await opening;
  }

  /** Approves the payment, in a process that may die of it. */
  async answer(diesAt?: number): Promise<void> {
    const process = this.#startProcess(diesAt);
    const { manager } = this.#hire(process);
    try {
      const thread = await manager.thread(managed);
      const answers = thread.activeApprovalRequests.map((request) => request.approve());
      await manager.respond(answers, thread);
    } catch (error) {
      if (!process.isDead) this.#faults.push(`The answer failed: ${String(error)}`);
    }
  }

  startWorker(name: string, { rank, diesAt, stopsAt }: FamilyWorker): void {
    const stopping = new AbortController();
    const { signal } = stopping;
    const leave = (): void => {
      room.close();
      stopping.abort();
    };
    const stop = (): void => {
      if (!signal.aborted) this.gone += 1;
      leave();
    };
    const process = this.#startProcess(diesAt, { stopsAt, stop });
    process.survives(new Promise<never>(() => {})).catch(leave);
    const waits = rank === 'manager' ? this.#waits : this.#waits.ofBuyers;
    const concurrency = 2;
    const room = new WorkerRoom(waits, { name, skewMs: 0, concurrency });
    const watching = { ...this.#onlookers, waits, onNamedClaim: () => {} };
    const store = watchWorker(this.#portsOf(process), room, watching);
    const own = this.#hire(process, store)[rank];
    const agent = watchRuns(rank, room, () => own);
    room.open();
    const working = runWorker({ agent, store, signal, pollMs, claimMs, concurrency }).catch(
      (error: unknown) => {
        if (!process.isDead) this.#faults.push(`${name} has failed: ${String(error)}`);
      },
    );
    this.#stops.push(async () => {
      leave();
      await working;
    });
  }

  /** Lets all happen that happens until then by itself. */
  async pass(until: number): Promise<void> {
    await passTime(this.#ground, until);
    for (const waits of [this.#waits, this.#waits.ofBuyers]) waits.judge();
  }

  /** Ends all workers. Says what is wrong, in sentences, and how the threads stand. */
  async end(): Promise<{ faults: string[]; statuses: string[] }> {
    const ended = Promise.all(this.#stops.map(async (stop) => stop()));
    await this.pass(worldTime() + 100);
    await ended;
    const heads = await this.#ground.store.list({});
    const faults = [...this.#faults, ...this.#waits.faults, ...this.#waits.ofBuyers.faults];
    for (const { threadId, status, nextDeadline = Infinity } of heads) {
      if (status === 'running' || nextDeadline <= Date.now())
        faults.push(`${threadId} was left behind: ${status}.`);
    }
    if (this.payments.length > 1) faults.push(`${this.payments.length} payments were made.`);
    const statuses = heads.map(({ agent, status }) => `${agent} ${status}`);
    return { faults, statuses: statuses.toSorted() };
  }

  get #onlookers() {
    return { onlooker: this.#ground.store, draws: this.#draws, waits: this.#waits };
  }

  #startProcess(diesAt?: number, stopping?: Stopping): MortalProcess {
    const process = new MortalProcess(new BusyPlan(diesAt, stopping));
    process.survives(new Promise<never>(() => {})).catch(() => (this.gone += 1));
    return process;
  }

  #portsOf(process: MortalProcess): ThreadStore {
    return portsOf(process, this.#ground.open(process), this.#onlookers);
  }

  /** The agents of a process. */
  #hire(process: MortalProcess, store = this.#portsOf(process)): Record<Rank, Agent> {
    const modelThatCalls = (toolName: string) =>
      statelessModel([[[toolName, 'Paris']]], async (_prompt, answer) =>
        process.reach(async () => answer()),
      );
    const common = {
      store,
      leaseMs,
      maxRetries: 0,
      now: () => Date.now(),
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
    };
    const pay = tool({
      description: 'Pays for a flight.',
      inputSchema: cityInput,
      execute: async ({ city }, options) =>
        process.reach(async () => {
          this.payments.push(String(Reflect.get(options, 'idempotencyKey')));
          return { paid: city };
        }),
    });
    const buyer = createAgent({
      ...common,
      name: 'buyer',
      model: modelThatCalls('pay'),
      tools: { pay },
      toolApproval: { pay: 'user-approval' },
    });
    const buy = agentTool(buyer, {
      description: 'Buys a flight.',
      inputSchema: cityInput,
      prompt: ({ city }) => city,
    });
    const manager = createAgent({
      ...common,
      name: 'manager',
      model: modelThatCalls('buy'),
      tools: { buy },
    });
    return { manager, buyer };
  }
}
