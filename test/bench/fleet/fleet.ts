import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../measure.ts';
import { FleetMember, type FleetPlace } from './fleet-member.ts';
import type { CycleSample, FleetResult, OrderOf } from './fleet-order.ts';

/** What workers did with threads that were answered before. */
export interface WorkSample {
  threadsPerSecond: number;
  /** How often the log of a thread was read, on the average. */
  readsPerThread: number;
}

/** What idle workers did with answers that came one by one. */
export interface AnswerSample {
  claimsPerAnswer: number;
  statementsPerAnswer: number;
  /** From the answer to the durable start of its run, in milliseconds. */
  median: number;
  p99: number;
}

/** How a killed process was survived. */
export interface KillSample {
  threads: number;
  effects: number;
  /** Effects that have happened more than once. */
  repeated: number;
  /** Threads whose call a person has to settle, as it had begun in the killed process. */
  indeterminate: number;
}

const defaults = { toolMs: 0, pollMs: 1_000, leaseMs: 60_000, countsEffects: false, workers: 1 };

/** Processes on one database, and one more that prepares, answers and appends. */
export class Fleet implements AsyncDisposable {
  readonly place: FleetPlace;
  readonly #inbox: FleetMember;
  readonly #members: FleetMember[];

  private constructor(place: FleetPlace, inbox: FleetMember, members: FleetMember[]) {
    this.place = place;
    this.#inbox = inbox;
    this.#members = members;
  }

  static async start(place: FleetPlace, size: number): Promise<Fleet> {
    const inbox = await FleetMember.start(place);
    const members: FleetMember[] = [];
    for (let count = 0; count < size; count += 1) members.push(await FleetMember.start(place));
    return new Fleet(place, inbox, members);
  }

  /** Answers threads, then has processes run them: their agents, pools and stores are made within the time. */
  async measureWork(processes: number, threads: number, toolMs: number): Promise<WorkSample> {
    const name = makeName('work');
    await this.#inbox.do({ type: 'prepare', name, threads, isAnswered: true });
    const begin = performance.now();
    const members = this.#begin(processes, { name, toolMs });
    while (countEnded(members) < threads) await pause(5);
    const seconds = (performance.now() - begin) / 1_000;
    const results = await Promise.all(members.map(async (member) => member.stop()));
    const reads = sum(results.map((result) => result.reads ?? 0));
    return { threadsPerSecond: threads / seconds, readsPerThread: reads / threads };
  }

  /** The same with so many workers in one process. */
  async measureTogether(workers: number, threads: number): Promise<number> {
    const name = makeName('together');
    await this.#inbox.do({ type: 'prepare', name, threads, isAnswered: true });
    const begin = performance.now();
    const members = this.#begin(1, { name, workers });
    while (countEnded(members) < threads) await pause(5);
    const seconds = (performance.now() - begin) / 1_000;
    await Promise.all(members.map(async (member) => member.stop()));
    return threads / seconds;
  }

  /** Answers one thread after the other beside so many idle workers, spread over the processes, whose polls are off. */
  async measureAnswers(workers: number, threads: number, everyMs: number): Promise<AnswerSample> {
    const name = makeName('answers');
    await this.#inbox.do({ type: 'prepare', name, threads, isAnswered: false });
    const members = this.#members.slice(0, workers);
    for (const [index, member] of members.entries()) {
      const own = Math.floor((workers + members.length - 1 - index) / members.length);
      member.begin({ ...defaults, name, workers: own, pollMs: 600_000 });
    }
    await pause(1_000);
    const { answered = [] } = await this.#inbox.do({ type: 'answer', name, threads, everyMs });
    while (countEnded(members) < threads) await pause(5);
    const results = await Promise.all(members.map(async (member) => member.stop()));
    /* Each worker looks once for what is due before the first answer. */
    const claims = sum(results.map((result) => result.claims ?? 0)) - workers;
    const statements = sum(results.map((result) => result.statements ?? 0)) - workers;
    const waits = listWaits(answered, results);
    return {
      claimsPerAnswer: claims / threads,
      statementsPerAnswer: statements / threads,
      median: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
    };
  }

  /** Appends a second, of one process, while one worker of another agent listens. */
  async measureAppends(load: OrderOf<'append'>['load'], ms: number): Promise<number> {
    const listening = this.#begin(1, { name: makeName('listening') });
    const { perSecond = Number.NaN } = await this.#inbox.do({
      type: 'append',
      load,
      connections: 32,
      ms,
    });
    await Promise.all(listening.map(async (member) => member.stop()));
    return perSecond;
  }

  /** Times cycles of one process that nothing else disturbs. */
  async measureCycles(rounds: number): Promise<CycleSample> {
    const { cycle } = await this.#inbox.do({ type: 'cycles', rounds });
    if (cycle === undefined) throw new Error('The process has timed no cycles.');
    return cycle;
  }

  /** Kills a process that is at work; it is gone from the fleet. `hasEnded` says how many threads have ended in the log. */
  async killOne(
    processes: number,
    threads: number,
    hasEnded: (name: string) => Promise<number>,
  ): Promise<string> {
    const name = makeName('killed');
    await this.#inbox.do({ type: 'prepare', name, threads, isAnswered: true });
    const members = this.#begin(processes, {
      name,
      toolMs: 5,
      leaseMs: 2_000,
      countsEffects: true,
    });
    while (countEnded(members) < threads / 3) await pause(1);
    const killed = this.#members.splice(0, 1);
    await Promise.all(killed.map(async (member) => member.kill()));
    while ((await hasEnded(name)) < threads) await pause(50);
    await Promise.all(members.slice(1).map(async (member) => member.stop()));
    return name;
  }

  #begin(
    processes: number,
    order: Partial<OrderOf<'work'>> & Pick<OrderOf<'work'>, 'name'>,
  ): FleetMember[] {
    const members = this.#members.slice(0, processes);
    for (const member of members) member.begin({ ...defaults, ...order });
    return members;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [this.#inbox, ...this.#members];
    await Promise.all(all.map(async (member) => member[Symbol.asyncDispose]()));
  }
}

let names = 0;

function makeName(kind: string): string {
  names += 1;
  return `${kind}-${names}`;
}

function countEnded(members: readonly FleetMember[]): number {
  return sum(members.map(({ ended }) => ended));
}

function listWaits(
  answered: readonly [string, number][],
  results: readonly FleetResult[],
): number[] {
  const started = new Map(results.flatMap((result) => result.started ?? []));
  return answered.map(([threadId, at]) => (started.get(threadId) ?? Number.NaN) - at);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
