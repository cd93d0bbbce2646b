/*
 * A process of its own for one contender, whose parameters are its name and how many cycles there are. It prints the mean of its first
 * cycles and what it does when it is warm, in milliseconds: of windows of cycles, the median of their means. No garbage is collected by
 * force: that would make Node drop code that it has optimized.
 */
import { mediansOf } from '../measure.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import type { Work } from './competitor.ts';
import { contenders, isContenderName } from './contenders.ts';
import { cyclesSchema } from './measure-apart.ts';

const [name = '', json = ''] = process.argv.slice(2);
if (!isContenderName(name)) throw new Error(`There is no contender '${name}'.`);
const { first, settle, steady, renewEvery, window } = cyclesSchema.parse(JSON.parse(json));

using files = new TemporaryFiles();
const competitor = contenders[name](files);
let work: Work = await competitor.prepare();
let done = 0;

/** Does so many cycles, and gives the figures of each. */
async function workThrough(cycles: number): Promise<(readonly number[])[]> {
  const worked: (readonly number[])[] = [];
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    if (done > 0 && done % renewEvery === 0) work = await competitor.prepare();
    worked.push(await work());
    done += 1;
  }
  return worked;
}

function meanOf(worked: readonly (readonly number[])[]): number[] {
  const [figures = []] = worked;
  return figures.map(
    (_, index) => worked.reduce((sum, each) => sum + (each[index] ?? 0), 0) / worked.length,
  );
}

const firstMeans = meanOf(await workThrough(first));
await workThrough(settle);
const windows: number[][] = [];
for (let from = 0; from < steady; from += window) {
  windows.push(meanOf(await workThrough(window)));
}
console.log(JSON.stringify({ first: firstMeans, steady: mediansOf(windows) }));
