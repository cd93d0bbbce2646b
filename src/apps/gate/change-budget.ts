const hourMs = 3_600_000;
/* The maximum number of recorded changes per hour, for a tool and for all tools of a server. */
const mostOfTool = 30;
const mostOfServer = 1_000;

/** Limits the recorded changes of a server whose tools change all the time. */
export class ChangeBudget {
  readonly #now: () => number;
  #spent: { at: number; name: string }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Checks whether one more change of a tool may be recorded, and counts it if so. */
  spend(name: string): boolean {
    const at = this.#now();
    this.#spent = this.#spent.filter((each) => each.at > at - hourMs);
    const ofTool = this.#spent.filter((each) => each.name === name).length;
    if (ofTool >= mostOfTool || this.#spent.length >= mostOfServer) return false;
    this.#spent.push({ at, name });
    return true;
  }
}
