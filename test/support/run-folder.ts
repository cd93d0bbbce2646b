import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

const prefix = 'holdpoint-run-';
const twoHours = 2 * 60 * 60 * 1000;

/**
 * Gives this run of the tests one folder for all temporary files of its processes, and removes it when the run ends: also what a killed
 * process or a failed test has left there. What a killed run has left is removed by a later one. The processes share compiled modules there.
 */
export function openRunFolder(place = tmpdir()): void {
  removeAbandoned(place);
  const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`));
  /* The user that Postgres runs as must get through. */
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  process.on('exit', () => {
    /* A process that is still ending may write meanwhile. */
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
}

const memory = '/dev/shm';
const neededBytes = 2 * 1024 ** 3;

/** A place in memory for a run that writes little, if this machine has one: SQLite and Postgres write there without waiting for a disk. */
export function findPlaceInMemory(): string | undefined {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return undefined;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < neededBytes ? undefined : memory;
}

/** Removes the folders of runs whose process has ended. A process in another container can't be seen, so recent folders stay. */
function removeAbandoned(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = /^holdpoint-run-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const folder = join(place, name);
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.uid !== userInfo().uid || Date.now() - found.mtimeMs < twoHours) continue;
    rmSync(folder, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
