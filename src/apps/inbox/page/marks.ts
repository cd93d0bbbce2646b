import type { InboxEntry } from '../inbox-api.ts';
import type { Row, ShownList } from './shown-list.ts';

/** The requests that the person has marked, to answer them together. */
export class Marks {
  readonly #list: ShownList;
  readonly #mayBeMarked: (entry: InboxEntry) => boolean;
  readonly #changed: () => void;
  #ids: ReadonlySet<string> = new Set();
  #lastKey: string | undefined;

  constructor(list: ShownList, mayBeMarked: (entry: InboxEntry) => boolean, changed: () => void) {
    this.#list = list;
    this.#mayBeMarked = mayBeMarked;
    this.#changed = changed;
  }

  /** The marked entries that still need the person. */
  get entries(): InboxEntry[] {
    return this.#list.entries.filter((each) => this.has(each.requestId) && this.#mayBeMarked(each));
  }

  get count(): number {
    return this.entries.length;
  }

  has(requestId: string): boolean {
    return this.#ids.has(requestId);
  }

  /** Marks the requests of a row, or unmarks them. */
  toggle(row: Row): void {
    const ids = this.#idsOf([row]);
    const areMarked = ids.every((id) => this.#ids.has(id));
    const others = [...this.#ids].filter((id) => !ids.includes(id));
    this.#ids = new Set(areMarked ? others : [...others, ...ids]);
    this.#lastKey = row.key;
    this.#changed();
  }

  /** Marks all rows from the last marked one to this. */
  markRange(row: Row): void {
    const { rows } = this.#list;
    const places = [this.#lastKey ?? row.key, row.key].map((key) =>
      rows.findIndex((each) => each.key === key),
    );
    const range = rows.slice(Math.max(0, Math.min(...places)), Math.max(...places) + 1);
    this.#ids = new Set([...this.#ids, ...this.#idsOf(range)]);
    this.#changed();
  }

  clear(): void {
    this.#ids = new Set();
    this.#lastKey = undefined;
    this.#changed();
  }

  #idsOf(rows: readonly Row[]): string[] {
    return rows.flatMap(({ entries }) =>
      entries.filter(this.#mayBeMarked).map(({ requestId }) => requestId),
    );
  }
}
