import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasTmux, Tmux } from '../terminal/tmux.ts';

const program = `'${process.execPath}' --conditions=holdpoint-source examples/office-party/main.ts`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdpoint-party-'));
});
afterEach(async () => rm(folder, { recursive: true }));

async function start(tmux: Tmux): Promise<void> {
  await tmux.commandOnClearScreen(`NO_COLOR=1 HOLDPOINT_DEMO_DIR='${folder}' ${program}`);
}

/** What the tools did, a line for each call that ran. */
async function done(): Promise<object[]> {
  const text = await readFile(join(folder, 'done.jsonl'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe.skipIf(!hasTmux)('the office party in a real terminal (skipped without tmux)', () => {
  test('two sub-agents ask, one answer is given, and the other after a restart; each reaches its own', async () => {
    await using tmux = await Tmux.start({ columns: 120, rows: 50 });
    await start(tmux);
    const first = await tmux.reads('Reject with a reason');
    expect(first).toContain('1 of 2\n');
    /* They work at the same time: either may ask first. */
    const isBuyer = first.includes('Asked by: buyer');
    expect(first).toContain(
      isBuyer
        ? 'May I pay 240 EUR to Caterer Green?\nAsked by: buyer\n\n  pay\n    payee: "Caterer Green"\n    amount: 240\n'
        : 'Asked by: host\n\n  mail\n    to: "everybody@office.example"\n',
    );
    await tmux.press('Up');
    await tmux.shows('❯ Approve');
    await tmux.press('Enter');
    await tmux.shows(isBuyer ? 'Asked by: host' : 'Asked by: buyer');
    await tmux.press('C-c');
    /* The one answer was sent, and what was left is asked again. */
    await tmux.shows(/Left open[^]*Reject with a reason/);
    await tmux.press('C-c');
    await tmux.shows('Start the program again to answer them.\n$');
    expect(await done()).toMatchObject([isBuyer ? { paid: {} } : { sent: {} }]);

    await start(tmux);
    await tmux.reads(isBuyer ? 'Asked by: host' : 'Asked by: buyer');
    await tmux.press('Enter');
    await tmux.shows(
      isBuyer
        ? 'The food is ordered. Nobody is invited.'
        : 'No food is ordered. Everybody is invited.',
    );
    expect(await done()).toHaveLength(1);
    await tmux.shows(/\n\$$/);
  });
});
