/** A caller of a call. */
interface Caller {
  /** Aborts when the caller has gone. */
  gone: AbortSignal;
  /** Its own id of the call, if it has one. */
  clientCallId: string | undefined;
}

interface Holder extends Caller {
  released: Promise<void>;
}

/** The facts about its calls that this process knows before the log does. */
export class CallsHere {
  readonly undecided = new UndecidedCalls();
  readonly #holders = new Map<string, Set<Holder>>();
  readonly #told = new Set<string>();
  readonly #work = new Set<Promise<unknown>>();

  /** Holds a call for a caller here, until the returned function is called. */
  hold(threadId: string, caller: Caller): () => void {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    const holder = { ...caller, released };
    const holders = this.#holders.get(threadId) ?? new Set();
    this.#holders.set(threadId, holders.add(holder));
    return () => {
      holders.delete(holder);
      if (holders.size === 0) this.#holders.delete(threadId);
      resolve();
    };
  }

  /** Resolves when no caller that has gone holds the call: by then the log has recorded its leaving. */
  async whenLeft(threadId: string): Promise<void> {
    const left = [...(this.#holders.get(threadId) ?? [])].filter(({ gone }) => gone.aborted);
    await Promise.all(left.map(({ released }) => released));
  }

  isHeld(threadId: string): boolean {
    return this.#holders.has(threadId);
  }

  /** Finds the id of a new call: the last number up to this one that no other call starting here has. */
  findFree({
    prefix,
    from,
    clientCallId,
  }: {
    prefix: string;
    from: number;
    clientCallId: string | undefined;
  }): string {
    let number = from;
    const isSame = (holder: Holder): boolean =>
      clientCallId !== undefined && holder.clientCallId === clientCallId;
    const isOther = (): boolean => {
      const holders = [...(this.#holders.get(`${prefix}${number}`) ?? [])];
      return holders.length > 0 && !holders.some(isSame);
    };
    while (isOther()) number -= 1;
    return `${prefix}${number}`;
  }

  /** Notes that the result of the call is on its way to its caller. */
  tell(threadId: string): void {
    this.#told.add(threadId);
  }

  /** Forgets the call, once the log says whether the caller got the result. */
  forget(threadId: string): void {
    this.#told.delete(threadId);
  }

  isTold(threadId: string): boolean {
    return this.#told.has(threadId);
  }

  /** Keeps the gate open for work that continues without its caller. Returns the same promise. */
  track<RESULT>(work: Promise<RESULT>): Promise<RESULT> {
    this.#work.add(work);
    const end = (): void => void this.#work.delete(work);
    work.then(end, end);
    return work;
  }

  /** Resolves when all tracked work has ended, and results have been written. */
  async settle(): Promise<void> {
    do {
      await Promise.allSettled(this.#work);
      await endTurn();
    } while (this.#work.size > 0);
  }
}

/** Resolves in a later turn of the event loop: results that a handler returned before are written by then. */
export function endTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}

/** The calls of a person that have begun here, for which the store does not know yet if a person has to decide. */
interface BegunCalls {
  count: number;
  /** Resolves when one of them is decided. */
  decided: PromiseWithResolvers<void>;
  /** Resolves when no other call of the person waits to be admitted. */
  admitted: Promise<unknown>;
}

/** The calls that have begun here, by person, until it is known if a person has to decide. */
class UndecidedCalls {
  readonly #people = new Map<string, BegunCalls>();

  #read(person: string): BegunCalls {
    const known = this.#people.get(person);
    if (known !== undefined) return known;
    const begun = { count: 0, decided: Promise.withResolvers<void>(), admitted: Promise.resolve() };
    this.#people.set(person, begun);
    return begun;
  }

  count(person: string): number {
    return this.#people.get(person)?.count ?? 0;
  }

  /** Counts a call, until the returned function is called. */
  begin(person: string): () => void {
    const begun = this.#read(person);
    begun.count += 1;
    let isDecided = false;
    return () => {
      if (isDecided) return;
      isDecided = true;
      begun.count -= 1;
      if (begun.count === 0) this.#people.delete(person);
      begun.decided.resolve();
      begun.decided = Promise.withResolvers();
    };
  }

  /** Resolves when one of the calls that have begun is decided. */
  async whenDecided(person: string): Promise<void> {
    return this.#read(person).decided.promise;
  }

  /** Does work after that of the person's earlier calls. */
  async inTurn<RESULT>(person: string, work: () => Promise<RESULT>): Promise<RESULT> {
    const begun = this.#read(person);
    const done = begun.admitted.then(work);
    begun.admitted = done.catch(() => {});
    return done;
  }
}
