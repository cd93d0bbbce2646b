import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inOrder, median } from '../measure.ts';
import type { SpeedRow } from './speed-row.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const firstCycle = fileURLToPath(new URL('./first-cycle-process.ts', import.meta.url));
const importing = `
  await import('ai');
  const begin = performance.now();
  await import('holdpoint');
  console.log(performance.now() - begin);
`;

/** What a fresh process pays, with the built package: the import after `ai`, and how much later than with the AI SDK its first cycle is done. */
export function measureImport(processes: number): { rows: SpeedRow[]; firstCycle: FirstCycle } {
  if (!existsSync(`${root}dist/index.js`)) throw new Error('First run `npm run build`.');
  const times = {
    importing: new Array<number>(),
    own: new Array<number>(),
    ai: new Array<number>(),
  };
  for (let round = 0; round < processes; round += 1) {
    times.importing.push(runProgram('--input-type=module', '--eval', importing));
    for (const whose of inOrder(contestants, round)) {
      times[whose].push(runProgram(firstCycle, whose));
    }
  }
  const [own, ai] = [median(times.own), median(times.ai)];
  return {
    rows: [
      makeRow(
        'importing the root after `ai`',
        median(times.importing),
        `of ${processes} processes`,
      ),
      makeRow(
        "import and first cycle of a fresh process, above the AI SDK's",
        own - ai,
        `${own.toFixed(0)} over ${ai.toFixed(0)} ms, of ${processes} processes`,
      ),
    ],
    firstCycle: { own, ai },
  };
}

const contestants: readonly ('own' | 'ai')[] = ['own', 'ai'];

/** When a process that has just started has done its first cycle, in milliseconds. */
export interface FirstCycle {
  own: number;
  ai: number;
}

function runProgram(...parameters: readonly string[]): number {
  return Number(execFileSync(process.execPath, parameters, { cwd: root }).toString());
}

function makeRow(name: string, ms: number, from: string): SpeedRow {
  return { name, first: [], steady: [], said: `${ms.toFixed(0)} ms`, from };
}
