import { execFileSync } from 'node:child_process';
import { z } from 'zod';
import { inOrder, mediansOf } from '../measure.ts';
import type { ContenderName } from './contenders.ts';

/** How many cycles a process does. */
export const cyclesSchema = z.object({
  /** Those that are timed from the start of the process, apart from one that is not timed. */
  first: z.number(),
  /** Those that are not kept. */
  settle: z.number(),
  /** Those that are timed after them. */
  steady: z.number(),
  /** After how many cycles the conversations are made anew: long ones grow with each cycle. */
  renewEvery: z.number(),
  /** Cycles that make one figure. */
  window: z.number(),
});
export type Cycles = z.infer<typeof cyclesSchema>;

/** What processes of a contender found, in milliseconds: medians over the processes. */
export interface Apart {
  first: readonly number[];
  steady: readonly number[];
}

const foundSchema = z.object({ first: z.array(z.number()), steady: z.array(z.number()) });

const program = new URL('./contender-process.ts', import.meta.url).pathname;

/**
 * Measures contenders, each of them in so many processes of its own, one process at a time, in an order that rotates. What ran before in
 * a process makes its code slower or faster, and the machine changes over minutes.
 */
export function measureApart(
  names: readonly ContenderName[],
  processes: number,
  cycles: Cycles,
): Apart[] {
  const found = new Map(names.map((name) => [name, new Array<Apart>()]));
  for (let round = 0; round < processes; round += 1) {
    for (const name of inOrder(names, round)) found.get(name)?.push(runProcess(name, cycles));
  }
  return names.map((name) => {
    const all = found.get(name) ?? [];
    return {
      first: mediansOf(all.map(({ first }) => first)),
      steady: mediansOf(all.map(({ steady }) => steady)),
    };
  });
}

function runProcess(name: ContenderName, cycles: Cycles): Apart {
  const options = ['--conditions=holdpoint-source'];
  const said = execFileSync(process.execPath, [...options, program, name, JSON.stringify(cycles)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return foundSchema.parse(JSON.parse(said.toString()));
}
