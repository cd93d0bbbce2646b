import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Database } from '../durable/database.ts';
import {
  type FleetOrder,
  type FleetReport,
  type FleetResult,
  type OrderOf,
  reportSchema,
} from './fleet-order.ts';

/** Where the processes of a fleet find their code and their database. */
export interface FleetPlace {
  /** What tables call it. */
  name: string;
  /** A checkout of the repository. */
  folder: string;
  database: Database;
}

/** A process of a fleet. */
export class FleetMember implements AsyncDisposable {
  /** How many of its threads have ended since it began to work. */
  ended = 0;
  readonly #child: ChildProcess;
  #working: Promise<FleetResult> | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start({ folder, database }: FleetPlace): Promise<FleetMember> {
    const file = join(folder, 'test', 'bench', 'fleet', 'fleet-process.ts');
    const execArgv = ['--conditions=holdpoint-source'];
    const member = new FleetMember(fork(file, [JSON.stringify(database)], { execArgv }));
    await member.#hear((report) => (report.type === 'ready' ? report : undefined));
    return member;
  }

  /** Carries out an order. */
  async do(order: Exclude<FleetOrder, { type: 'work' | 'stop' }>): Promise<FleetResult> {
    const done = this.#hear(readResult);
    this.#child.send(order);
    return done;
  }

  /** Begins to work. */
  begin(order: Omit<OrderOf<'work'>, 'type'>): void {
    this.ended = 0;
    this.#working = this.#hear((report) => {
      if (report.type === 'ended') this.ended = report.count;
      return readResult(report);
    });
    this.#child.send({ type: 'work', ...order });
  }

  /** Stops working. */
  async stop(): Promise<FleetResult> {
    if (this.#working === undefined) throw new Error('The process does not work.');
    this.#child.send({ type: 'stop' });
    return this.#working;
  }

  /** Kills it, and resolves when it is gone. */
  async kill(): Promise<void> {
    this.#working?.catch(() => {});
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    await gone;
  }

  /** The first result that `read` finds in a report. */
  async #hear<RESULT>(read: (report: FleetReport) => RESULT | undefined): Promise<RESULT> {
    const { promise, resolve, reject } = Promise.withResolvers<RESULT>();
    const listen = (message: unknown): void => {
      const report = reportSchema.parse(message);
      if (report.type === 'failed') reject(new Error(report.message));
      const result = read(report);
      if (result !== undefined) resolve(result);
    };
    this.#child.on('message', listen);
    return promise.finally(() => this.#child.off('message', listen));
  }
}

function readResult(report: FleetReport): FleetResult | undefined {
  return report.type === 'done' ? report : undefined;
}
