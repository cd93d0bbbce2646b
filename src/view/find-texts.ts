/** The place of a quoted text: from `start` up to `end`. */
export interface FoundText {
  start: number;
  end: number;
}

/**
 * Finds texts in other texts in one pass, however many they are (Aho and Corasick): what is found where they overlap is found as one piece.
 */
export class TextFinder {
  /** The state after a state and a character. State 0 has read nothing of any text. */
  readonly #next = new Map<number, number>();
  /** The state of the longest shorter ending that begins a text too, for each state. */
  readonly #shorter: number[] = [0];
  /** The length of the longest text that each state ends with; 0 for none. */
  readonly #length: number[] = [0];

  constructor(texts: Iterable<string>) {
    const states: { from: number; code: number }[] = [{ from: 0, code: 0 }];
    const depths: number[] = [0];
    for (const text of texts) {
      let state = 0;
      for (let at = 0; at < text.length; at += 1) {
        const key = makeKey(state, text.charCodeAt(at));
        let next = this.#next.get(key);
        if (next === undefined) {
          next = states.push({ from: state, code: text.charCodeAt(at) }) - 1;
          depths.push(at + 1);
          this.#shorter.push(0);
          this.#length.push(0);
          this.#next.set(key, next);
        }
        state = next;
      }
      this.#length[state] = text.length;
    }
    this.#link(states, depths);
  }

  /* A shorter ending has a smaller depth, so states are linked by depth. */
  #link(states: readonly { from: number; code: number }[], depths: readonly number[]): void {
    const byDepth = [...Map.groupBy(depths.keys(), (state) => depths[state] ?? 0)];
    for (const [depth, group] of byDepth.toSorted(([one], [other]) => one - other)) {
      for (const state of group) {
        const { from, code } = states[state] ?? { from: 0, code: 0 };
        const shorter = depth <= 1 ? 0 : this.#step(this.#shorter[from] ?? 0, code);
        this.#shorter[state] = shorter;
        this.#length[state] ||= this.#length[shorter] ?? 0;
      }
    }
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#shorter[state] ?? 0) {
      const next = this.#next.get(makeKey(state, code));
      if (next !== undefined) return next;
      if (state === 0) return 0;
    }
  }

  find(text: string): FoundText[] {
    const found: FoundText[] = [];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = this.#step(state, text.charCodeAt(at));
      const length = this.#length[state] ?? 0;
      if (length === 0) continue;
      const end = at + 1;
      let start = end - length;
      /* A longer one may cover several that were found before it. */
      for (let last = found.at(-1); last !== undefined && last.end > start; last = found.at(-1)) {
        start = Math.min(start, last.start);
        found.pop();
      }
      found.push({ start, end });
    }
    return found;
  }
}

function makeKey(state: number, code: number): number {
  return state * 65_536 + code;
}
