/* What stands in a line is held in memory. */
const maximumLength = 32;

interface Line {
  length: number;
  last: Promise<unknown>;
}

/** Does work in its turn: the line is the order in which it was asked for. */
export type InTurn = <RESULT>(work: () => Promise<RESULT>) => Promise<RESULT>;

/** Lines, each by a name: of all who stand in one, a single one has its turn. */
export class Lines {
  readonly #lines = new Map<string, Line>();

  /** Works with a place in a line; `undefined` where the line is full. */
  async stand<RESULT>(
    name: string,
    work: (inTurn: InTurn) => Promise<RESULT>,
  ): Promise<RESULT | undefined> {
    const line = this.#lines.get(name) ?? { length: 0, last: Promise.resolve() };
    if (line.length >= maximumLength) return undefined;
    line.length += 1;
    this.#lines.set(name, line);
    try {
      return await work(async (inTurn) => {
        const turn = line.last.then(inTurn);
        line.last = turn.catch(() => {});
        return turn;
      });
    } finally {
      line.length -= 1;
      if (line.length === 0) this.#lines.delete(name);
    }
  }
}
