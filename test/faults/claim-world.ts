import type { ThreadStore } from 'holdpoint';
import type { Agent } from 'holdpoint';
import { runWorker } from 'holdpoint/worker';
import { vi } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { audit } from './auditor.ts';
import { BusyPlan, type Stopping } from './busy-plan.ts';
import { agentName, type ClaimedThread, gated, makeClaimAgent } from './claim-agents.ts';
import { type ClaimDraws, worldTime } from './claim-draws.ts';
import type { ClaimGround } from './claim-grounds.ts';
import { passTime, portsOf, watchRuns, watchWorker } from './claim-ports.ts';
import { claimMs, type ClaimSchedule, pollMs, type WorkerPlan } from './claim-schedules.ts';
import { ClaimWaits } from './claim-waits.ts';
import { MortalProcess } from './mortal-process.ts';
import { WorkerRoom } from './worker-room.ts';

/* More than four turns of 50 ms, and the way of the notices. */
const mostTurnsMs = 260;

/** Workers and people on one store. Timers and `Date` must be fake ones. */
export class ClaimWorld {
  /** How often a worker claimed a thread that it had heard of. */
  namedClaims = 0;
  /** How many workers live and have not been told to stop. */
  alive = 0;
  /** How many processes have died, and how many workers were told to stop before. */
  deaths = 0;
  stops = 0;
  readonly #threads: ClaimedThread[];
  readonly #draws: ClaimDraws;
  readonly #ground: ClaimGround;
  readonly #waits = new ClaimWaits(() => Date.now());
  readonly #faults: string[] = [];
  /** Agents of a process that does not die. */
  readonly #clerk: (threadId: string) => Agent;
  readonly #stops: (() => Promise<void>)[] = [];
  #ids = 0;

  constructor({ threads }: ClaimSchedule, draws: ClaimDraws, ground: ClaimGround) {
    const all = [...threads.map(({ calls }) => calls), [['book', 'Bern'] as const]];
    this.#threads = all.map((calls, index) => ({
      threadId: `t${index}`,
      calls,
      effects: [],
      prompts: [],
      acknowledged: [],
    }));
    this.#draws = draws;
    this.#ground = ground;
    this.#clerk = this.#connect(this.#startProcess());
  }

  /** Sends the first message of each thread. */
  async openThreads(): Promise<void> {
    for (const { threadId } of this.#threads) {
      const agent = this.#clerk(threadId);
      const opening = agent.thread(threadId).then(async (thread) => agent.run('Go.', thread));
      /* The provider may be down. */
      await this.#settleUntil(opening.catch(() => {}));
    }
  }

  /** Lets all happen that happens until then by itself. */
  async pass(until: number): Promise<void> {
    await passTime(this.#ground, until);
    this.#waits.judge();
  }

  async startWorker(name: string, plan: WorkerPlan): Promise<void> {
    const { skewMs, concurrency, isOlder, diesAt, stopsAt, deafness } = plan;
    const stopping = new AbortController();
    const { signal } = stopping;
    const leave = (): void => {
      if (signal.aborted) return;
      this.alive -= 1;
      room.close();
      stopping.abort();
    };
    const stop = (): void => {
      if (!signal.aborted) this.stops += 1;
      leave();
    };
    const process = this.#startProcess(diesAt, { stopsAt, stop });
    const room = new WorkerRoom(this.#waits, { name, skewMs, concurrency });
    const ports = isOlder ? leaveOutClaims(this.#portsOf(process)) : this.#portsOf(process);
    const onNamedClaim = (): void => void (this.namedClaims += 1);
    const store = watchWorker(ports, room, { ...this.#onlookers, onNamedClaim });
    const agentOf = this.#connect(process, { skewMs, store });
    const agent = watchRuns(agentName, room, agentOf);
    void this.#dies(process).then(leave);
    this.alive += 1;
    room.open();
    const ending = runWorker({ agent, store, signal, pollMs, claimMs, concurrency }).then(
      async () => (process.isDead ? undefined : this.#judgeLeft(room)),
      (error: unknown) => {
        if (!process.isDead) this.#faults.push(`${name} has failed: ${String(error)}`);
      },
    );
    if (deafness !== undefined) {
      const deafen = (): void => this.#ground.deafen(process, deafness.ms);
      setTimeout(deafen, Math.max(0, deafness.from - worldTime()));
    }
    this.#stops.push(async () => {
      leave();
      await ending;
    });
  }

  /** Answers the first open request of a thread: in the process that does so for most, or in one that dies of it. */
  async answer(nth: number, diesAt?: number): Promise<void> {
    const process = this.#startProcess(diesAt);
    const answered = this.#thread(`t${nth}`);
    const agentOf = diesAt === undefined ? this.#clerk : this.#connect(process);
    const agent = agentOf(answered.threadId);
    try {
      const thread = await agent.thread(answered.threadId);
      const [request] = thread.activeApprovalRequests;
      if (request === undefined) return;
      await agent.respond(request.approve(), thread);
      answered.acknowledged.push({ requestId: request.requestId, approved: true });
    } catch (error) {
      const isExpired = Reflect.get(Object(error), 'code') === 'request-closed';
      if (!process.isDead && !isExpired) this.#faults.push(`An answer failed: ${String(error)}`);
    }
  }

  /** Answers one more thread once all is quiet. The notices of it come, so that nobody needs a poll. */
  async probe(): Promise<void> {
    const last = this.#threads.length - 1;
    await this.#settleUntil(this.answer(last));
    await this.pass(worldTime() + mostTurnsMs);
    const { nextDeadline } = (await this.#ground.store.head(`t${last}`)) ?? {};
    if (nextDeadline !== undefined) this.#faults.push('An answer waits for a poll.');
    await this.pass(worldTime() + pollMs);
  }

  /** Ends all workers. */
  async end(): Promise<void> {
    await this.#settleUntil(Promise.all(this.#stops.map(async (stop) => stop())));
  }

  /** What is wrong once all is quiet, in sentences, and how the threads stand. */
  async audit(): Promise<{ faults: string[]; statuses: string[] }> {
    const { store } = this.#ground;
    const faults = [...this.#faults, ...this.#waits.faults];
    const statuses: string[] = [];
    for (const { threadId, calls: _calls, ...record } of this.#threads) {
      const { nextDeadline, status = 'missing' } = (await store.head(threadId)) ?? {};
      const [events, entries] = [await eventsIn(store, threadId), await store.read(threadId)];
      const found = audit({ events, entries, gated, ...record });
      faults.push(...found.map((fault) => `${threadId}: ${fault}`));
      if (nextDeadline !== undefined || status === 'running')
        faults.push(`${threadId} was left behind: ${status}.`);
      statuses.push(status);
      /* Whoever opens a thread verifies its log. */
      const opening = this.#connect(this.#startProcess())(threadId).thread(threadId);
      await opening.catch((error: unknown) => faults.push(`${threadId}: ${String(error)}`));
    }
    return { faults, statuses };
  }

  get #onlookers() {
    return { onlooker: this.#ground.store, draws: this.#draws, waits: this.#waits };
  }

  #thread(threadId: string): ClaimedThread {
    const found = this.#threads.find((thread) => thread.threadId === threadId);
    if (found === undefined) throw new Error(`There is no thread ${threadId}.`);
    return found;
  }

  #startProcess(diesAt?: number, stopping?: Stopping): MortalProcess {
    const process = new MortalProcess(new BusyPlan(diesAt, stopping));
    void this.#dies(process).then(() => (this.deaths += 1));
    return process;
  }

  /** Resolves when a process dies. */
  async #dies(process: MortalProcess): Promise<void> {
    await process.survives(new Promise<never>(() => {})).catch(() => {});
  }

  #portsOf(process: MortalProcess) {
    return portsOf(process, this.#ground.open(process), this.#onlookers);
  }

  /** The agents of a process, one for each thread. */
  #connect(
    process: MortalProcess,
    { skewMs = 0, store = this.#portsOf(process) } = {},
  ): (threadId: string) => Agent {
    const agents = new Map<string, Agent>();
    const nextId = (): string => `id-${String((this.#ids += 1)).padStart(19, '0')}`;
    const place = { process, skewMs, store, nextId, ...this.#onlookers };
    return (threadId) => {
      const agent = agents.get(threadId) ?? makeClaimAgent(this.#thread(threadId), place);
      agents.set(threadId, agent);
      return agent;
    };
  }

  /** A worker that was told to stop leaves no thread claimed that it has not begun. */
  async #judgeLeft({ name, unended }: WorkerRoom): Promise<void> {
    for (const { threadId, revision, nextDeadline } of unended) {
      const head = await this.#ground.store.head(threadId);
      const isHeld = head?.revision === revision && head.nextDeadline === nextDeadline;
      if (isHeld) this.#faults.push(`${name} has ended, and keeps ${threadId} claimed.`);
    }
  }

  /** Waits for what needs some time to pass. */
  async #settleUntil(work: Promise<unknown>): Promise<void> {
    const end = new AbortController();
    const over = work.finally(() => end.abort());
    await this.#ground.settle();
    while (!end.signal.aborted) {
      vi.advanceTimersByTime(1);
      await this.#ground.settle();
    }
    await over;
  }
}

/** A store as a version without notices of claims has it. */
function leaveOutClaims({ send: _send, subscribe, ...store }: ThreadStore): ThreadStore {
  return {
    ...store,
    ...(subscribe && {
      subscribe: (listener) =>
        subscribe((notice) => {
          if (notice?.type !== 'claim') listener(notice);
        }),
    }),
  };
}
