/** The calls of a person that have begun here, for which the store does not know yet if a person has to decide. */
interface BegunCalls {
  count: number;
  /** Resolves when one of them is decided. */
  decided: PromiseWithResolvers<void>;
  /** Resolves when no other call of the person waits to be admitted. */
  admitted: Promise<unknown>;
}

/** The calls that have begun here, by person, until it is known if a person has to decide. */
export class UndecidedCalls {
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
