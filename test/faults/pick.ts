import { type Person, spellings } from './shared-people.ts';

/** One of the values, by a number of any size. */
export function pick<VALUE>(values: readonly VALUE[], index: number): VALUE | undefined {
  return values[index % Math.max(1, values.length)];
}

/** What the sign-in says of somebody now. */
export function principalOf({ person, form }: { person: Person; form: number }): unknown {
  return pick(spellings[person], form);
}
