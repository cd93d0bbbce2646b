import { RepeatedPoints } from './repeated-points.ts';

/** What a process that dies leaves behind: nothing of its own acts from then on. */
class Crash extends Error {
  override readonly name = 'Crash';
}

/** Where faults happen: every call of a port is two points, one before it and one after, and the chosen ones kill. */
export class FaultPlan {
  /** How many points were passed. */
  points = 0;
  readonly repeated = new RepeatedPoints();
  readonly #deadly: ReadonlySet<number>;

  constructor(deadly: Iterable<number> = []) {
    this.#deadly = new Set(deadly);
  }

  /** Passes one point; whether it is deadly. */
  pass(): boolean {
    this.points += 1;
    return this.#deadly.has(this.points);
  }
}

/** A process that can die at each call of a port; afterwards every port of it fails. */
export class MortalProcess {
  isDead = false;
  readonly #plan: FaultPlan;
  readonly #death = Promise.withResolvers<never>();

  constructor(plan: FaultPlan) {
    this.#plan = plan;
    /* Nobody may be waiting for it. */
    this.#death.promise.catch(() => {});
  }

  /** A port that works at once. */
  call<RESULT>(work: () => RESULT): RESULT {
    this.#point('before');
    const result = work();
    this.#point('after');
    return result;
  }

  /** A port that takes its time. After its work, a crash is a reply that was lost. */
  async reach<RESULT>(work: () => PromiseLike<RESULT>): Promise<RESULT> {
    this.#point('before');
    const result = await this.#plan.repeated.duringPort(work);
    this.#point('after');
    return result;
  }

  /** An object of this process, whose methods are called from outside. */
  expose<OBJECT extends object>(object: OBJECT): OBJECT {
    return new Proxy(object, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...input: unknown[]): unknown =>
          this.#plan.repeated.call(this, () => Reflect.apply(value, target, input));
      },
    });
  }

  /** The outcome of work in this process. Rejects when the process dies, whatever the work would still do. */
  async survives<RESULT>(work: Promise<RESULT>): Promise<RESULT> {
    const first = Promise.race([work, this.#death.promise]);
    const result = await this.#plan.repeated.whileAwaited(this, first);
    if (this.isDead) throw new Crash('The process died before it could tell.');
    return result;
  }

  #point(side: 'before' | 'after'): void {
    const { repeated } = this.#plan;
    const isDeadly = !this.isDead && this.#plan.pass();
    if (!this.isDead) repeated.pass(this.#plan.points, this, side);
    if (isDeadly) {
      this.isDead = true;
      repeated.bury(this);
      this.#death.reject(new Crash('The process died.'));
    }
    if (this.isDead) throw new Crash('The process is dead.');
  }
}
