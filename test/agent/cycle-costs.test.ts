import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../bench/speed/count-process.ts', import.meta.url));
const options = ['--conditions=holdpoint-source', program];
const counted: Record<string, Record<string, number>> = JSON.parse(
  execFileSync(process.execPath, options, { encoding: 'utf8' }),
);

/*
 * A little above what each costs today. Promises, and texts encoded as JSON, are those of the AI SDK as well. Who needs more says in the
 * commit what for.
 */
const ceilings = {
  'a warm cycle': {
    appends: 5,
    reads: 4,
    heads: 2,
    promises: 550,
    encodings: 30,
    hashes: 7,
    timers: 4,
    functions: 460,
  },
  'a turn without approvals': {
    appends: 4,
    reads: 2,
    heads: 1,
    promises: 450,
    encodings: 7,
    hashes: 4,
    timers: 2,
    functions: 374,
  },
  'ten calls in a step': {
    appends: 5,
    reads: 4,
    heads: 2,
    promises: 1_250,
    encodings: 256,
    hashes: 25,
    timers: 4,
    functions: 461,
  },
  /* Besides: a row is written as JSON when its request opens, and when it is decided. */
  'a warm cycle, with requests as rows': {
    appends: 5,
    reads: 4,
    heads: 2,
    promises: 575,
    encodings: 32,
    hashes: 7,
    timers: 4,
    functions: 480,
  },
  'a turn without approvals, with requests as rows': {
    appends: 4,
    reads: 2,
    heads: 1,
    promises: 475,
    encodings: 7,
    hashes: 4,
    timers: 2,
    functions: 380,
  },
  'ten calls in a step, with requests as rows': {
    appends: 5,
    reads: 4,
    heads: 2,
    promises: 1_310,
    encodings: 276,
    hashes: 25,
    timers: 4,
    functions: 481,
  },
};

test.each(Object.entries(ceilings))('%s costs no more than before', (name, most) => {
  const over = Object.entries(most).flatMap(([what, ceiling]) => {
    const count = counted[name]?.[what] ?? Number.NaN;
    return count <= ceiling ? [] : [`${what}: ${count} instead of at most ${ceiling}`];
  });
  expect(over).toEqual([]);
});
