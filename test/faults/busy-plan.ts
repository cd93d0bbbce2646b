import { isQuiet } from './claim-draws.ts';
import { FaultPlan } from './mortal-process.ts';

/** At which point a process is told to stop. */
export interface Stopping {
  stopsAt: number | undefined;
  stop: () => void;
}

/** A process dies at one of its points, and is told to stop at another, unless all is quiet by then. */
export class BusyPlan extends FaultPlan {
  readonly #stopping: Stopping | undefined;

  constructor(diesAt: number | undefined, stopping: Stopping | undefined) {
    super(diesAt === undefined ? [] : [diesAt]);
    this.#stopping = stopping;
  }

  override pass(): boolean {
    const isDeadly = super.pass();
    if (isQuiet()) return false;
    if (this.points === this.#stopping?.stopsAt) this.#stopping.stop();
    return isDeadly;
  }
}
