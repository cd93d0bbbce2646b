const hourMs = 3_600_000;
/* How many changes of a tool are recorded in an hour, and of all tools of a server. */
const mostOfTool = 30;
const mostOfServer = 1_000;

/** Bounds what a server whose tools change all the time can have recorded. */
export class ChangeBudget {
  readonly #now: () => number;
  #spent: { at: number; name: string }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether one more change of a tool may be recorded; then it counts. */
  spend(name: string): boolean {
    const at = this.#now();
    this.#spent = this.#spent.filter((each) => each.at > at - hourMs);
    const ofTool = this.#spent.filter((each) => each.name === name).length;
    if (ofTool >= mostOfTool || this.#spent.length >= mostOfServer) return false;
    this.#spent.push({ at, name });
    return true;
  }
}
