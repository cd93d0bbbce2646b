import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { PostgresDatabases } from '../support/postgres-databases.ts';

const program = join(import.meta.dirname, '..', 'support', 'engine-process.ts');

/** How a thread ended whose process was killed at a boundary, and how often its tool had its effect. */
export interface Killed {
  killAt: number;
  isKilled: boolean;
  end: string;
  effects: number;
}

/** Kills a process at each boundary of a thread in turn, each in a copy of the database, and leads the thread to its end in another process. */
export async function killEverywhere(
  server: PostgresDatabases,
  engine: string,
  template: string,
): Promise<Killed[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-engine-'));
  const admin = server.pool('postgres', { max: 1 });
  const killed: Killed[] = [];
  let next = 1;
  let isOver = false;
  const worker = async (): Promise<void> => {
    while (!isOver) {
      const killAt = next++;
      const name = `${template}_${killAt}`;
      await admin.query(`create database ${name} template ${template}`);
      const ledger = join(folder, String(killAt));
      const lead = async (at: number): Promise<string> =>
        lastWord([engine, server.connectionString(name), ledger, String(at)]);
      const first = await lead(killAt);
      const isKilled = first === '';
      const end = isKilled ? await lead(0) : first;
      const effects = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').length - 1 : 0;
      killed.push({ killAt, isKilled, end, effects });
      isOver ||= !isKilled;
    }
  };
  try {
    await Promise.all([worker(), worker()]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return killed.toSorted((one, other) => one.killAt - other.killAt);
}

/** How the program says that the thread ended; empty if it was killed. */
async function lastWord(input: string[]): Promise<string> {
  const parameters = ['--conditions=holdpoint-source', program, ...input];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const [, end] = /^ended: (\w+)$/m.exec(output) ?? [];
  if (end === undefined && signal !== 'SIGKILL') throw new Error(`The program failed: ${output}`);
  return end ?? '';
}

/** Fails if a thread did not end, or its tool had its effect twice. Only a kill during the call leaves its outcome unknown. */
export function expectSound(killed: readonly Killed[]): void {
  const ends = Object.groupBy(killed, ({ end, effects }) => `${end} after ${effects} effects`);
  console.log(Object.entries(ends).map(([end, those]) => `${end}: ${those?.length}`));
  for (const { end, effects, killAt } of killed) {
    const unknown = { end: 'indeterminate', effects: expect.toBeOneOf([0, 1]) };
    expect({ killAt, end, effects }).toEqual({
      killAt,
      ...(end === 'indeterminate' ? unknown : { end: 'completed', effects: 1 }),
    });
  }
  /* After the start was recorded, before and after the effect, and before the result is recorded. */
  expect(killed.filter(({ end }) => end === 'indeterminate').length).toBeLessThanOrEqual(4);
  expect(killed.filter(({ isKilled }) => isKilled).length).toBeGreaterThan(15);
}
