/** Something to reach, and what was found. */
export interface Target {
  name: string;
  reached: boolean;
  found: string;
}

/** Targets as text. One that is missed is reported, nothing more. */
export function targetLines(targets: readonly Target[]): string {
  return targets
    .map(
      ({ name, reached, found }) => `${reached ? 'reached    ' : 'NOT REACHED'}  ${name}: ${found}`,
    )
    .join('\n');
}
