import { isDeepStrictEqual } from 'node:util';

/** A call as a server gave it, or as it comes back in a history. */
export interface HistoryCall {
  id: string;
  name: string;
  /** JSON text, or the object where the API has objects. */
  input: unknown;
}

/** Which reasoning a server gave before which calls: it has to come back with them. */
export class ReasoningMemory {
  readonly #turns: { reasoning: string | undefined; calls: HistoryCall[] }[] = [];

  remember(reasoning: string | undefined, calls: HistoryCall[]): void {
    this.#turns.push({ reasoning, calls });
  }

  /**
   * The reasonings of which one must stand before a call that came back. None when it may stand alone: a turn without
   * reasoning had such a call, or none had. A client may rename a call, so what it called is looked at next.
   */
  before(call: HistoryCall): readonly string[] {
    const same = this.#turnsWith(({ id }) => id === call.id);
    const turns = same.length > 0 ? same : this.#turnsWith((given) => callsTheSame(given, call));
    const reasonings = turns.flatMap(({ reasoning }) => reasoning ?? []);
    return reasonings.length < turns.length ? [] : reasonings;
  }

  #turnsWith(matches: (call: HistoryCall) => boolean) {
    return this.#turns.filter(({ calls }) => calls.some(matches));
  }
}

function callsTheSame(one: HistoryCall, other: HistoryCall): boolean {
  return one.name === other.name && isDeepStrictEqual(valueOf(one.input), valueOf(other.input));
}

function valueOf(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
