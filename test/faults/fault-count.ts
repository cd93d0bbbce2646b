import type { Trial } from './damage-trial.ts';

/** What many damaged threads came to. */
export class FaultCount {
  readonly outcomes = { opened: 0, refused: 0 };
  /** What was damaged, by the fault it had. */
  readonly faults = new Map<string, string[]>();

  get total(): number {
    return this.outcomes.opened + this.outcomes.refused;
  }

  add(damage: string, { outcome, faults }: Trial): void {
    this.outcomes[outcome] += 1;
    for (const fault of faults) {
      this.faults.set(fault, [...(this.faults.get(fault) ?? []), damage]);
    }
  }
}

/**
 * Damage inside a part of a message that the AI SDK made is not looked for when a log is read (it would take longer than all
 * the reading); the AI SDK refuses it when the model is to be asked, and nothing has run then. Likewise, a row that is nested
 * deeper than holdpoint writes can be read from a database, and not be written as JSON.
 */
const known: readonly RegExp[] = [
  /^Looked at, it threw TypeError: Nested/,
  /^Run, it threw (Error: Media type is missing|InvalidCharacterError)/,
  /^Run, it threw TypeError: (Cannot read properties of|mediaType\.)/,
];

/** The faults that nobody knew of, each with how many threads had it, and some of them. */
export function withoutKnown({ faults }: FaultCount): [string, number, string[]][] {
  return [...faults]
    .filter(([fault]) => !known.some((pattern) => pattern.test(fault)))
    .map(([fault, damages]) => [fault, damages.length, damages.slice(0, 4)]);
}

/** Every nth of a list, from its beginning. */
export function everyNth<ITEM>(items: readonly ITEM[], nth: number): ITEM[] {
  return items.filter((_, index) => index % nth === 0);
}
