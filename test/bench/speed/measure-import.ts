import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { median } from '../measure.ts';
import type { SpeedFound } from './speed-targets.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const program = `
  await import('ai');
  const begin = performance.now();
  await import('holdpoint');
  console.log(performance.now() - begin);
`;

/** Importing the built package after `ai` has been imported, each time in a process of its own. */
export async function measureImport(processes: number): Promise<SpeedFound[]> {
  if (!existsSync(`${root}dist/index.js`)) {
    return [{ key: 'importing', figures: [Number.NaN], from: 'first run `npm run build`' }];
  }
  const times = Array.from({ length: processes }, () => {
    const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: root,
    });
    return Number(said.toString());
  });
  return [{ key: 'importing', figures: [median(times)], from: `of ${processes} processes` }];
}
