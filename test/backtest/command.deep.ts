import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { recordPayments } from './recorded-payments.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-backtest-'));
const file = join(folder, 'threads.sqlite');
const damaged = join(folder, 'damaged.sqlite');
const rules = join(import.meta.dirname, 'rules', 'payment-rules.ts');
const rent = { to: 'landlord', amount: 900 };
const loan = { to: 'eve', amount: 50 };

beforeAll(async () => {
  for (const path of [file, damaged]) {
    using store = sqliteStore(path);
    const answers = [
      { input: rent, answer: 'yes' },
      { input: loan, answer: 'no' },
    ] as const;
    await recordPayments('t1', answers, { store });
    await recordPayments('t2', [{ input: rent, answer: 'yes' }], { store, name: 'careful' });
  }
  const database = new DatabaseSync(damaged);
  database.exec(`update holdpoint_entries set entry = replace(entry, '"eve"', '"bob"')`);
  database.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  status: number | undefined;
  output: string;
  error: string;
}

/** Runs the command as `npx` would, in a process of its own. */
async function holdpoint(...args: string[]): Promise<Ended> {
  const command = join(import.meta.dirname, '..', '..', 'src', 'apps', 'command', 'holdpoint.ts');
  const options = ['--conditions=holdpoint-source', command, ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, options, (_error, output, error) => {
      resolve({ status: child.exitCode ?? undefined, output, error });
    });
  });
}

test('the command prints a report and exits with 1 for rules that would have run what people rejected', async () => {
  const ended = await holdpoint('backtest', rules, '--store', file, '--agent', 'bank');
  expect(ended.error).toBe('');
  expect(ended.output).toContain(
    'people rejected 1 of them:\n  t1 t1-1 pay {"to":"eve","amount":50}',
  );
  expect(ended.output).toContain(
    'FAILED: Calls that would have run although people rejected them: 1',
  );
  expect(ended.status).toBe(1);
});

test('the command explains itself', async () => {
  expect(await holdpoint('--help')).toMatchObject({
    status: 0,
    output: expect.stringContaining('Usage: holdpoint [options] [command]'),
  });
  expect(await holdpoint('bactest')).toMatchObject({
    status: 2,
    error: "unknown command 'bactest'\n(Did you mean backtest?)\nSee: holdpoint --help\n",
  });
});

test.each<[string, string[], number]>([
  ['rejected calls within the limit', ['--agent', 'bank', '--max-rejected', '1'], 0],
  ['an agent whose people agree', ['--agent', 'careful'], 0],
  ['an agent without threads', ['--agent', 'bnak'], 2],
  ['agents without a name, of which there are none', [], 2],
])('the exit status for %s', async (_what, args, status) => {
  expect(await runCommand(['backtest', rules, '--store', file, ...args])).toMatchObject({ status });
});

test('with --json it prints the result as JSON', async () => {
  const limits = ['--max-denied', '0', '--max-edited', '0'];
  const args = [rules, '--store', file, '--agent', 'bank', '--json', ...limits];
  const { output } = await runCommand(['backtest', ...args]);
  expect(JSON.parse(output)).toMatchObject({
    threads: 1,
    calls: 2,
    disagreements: [{ type: 'runs-rejected', threadId: 't1', input: loan }],
  });
});

test('a thread that cannot be read is listed, and the status is 2', async () => {
  const ended = await runCommand(['backtest', rules, '--store', damaged, '--agent', 'bank']);
  expect(ended.status).toBe(2);
  expect(ended.output).toContain(
    '1 thread could not be read:\n  t1: The log was changed at revision',
  );
});

test.each<[string, string[], string]>([
  ['no rules', ['--store', file], "missing required argument 'rules'"],
  ['two rules', [rules, rules, '--store', file], "too many arguments for 'backtest'"],
  ['no store', [rules], 'Name the store: --store <file>'],
  [
    'two stores',
    [rules, '--store', file, '--postgres', 'x'],
    "'--store <file>' cannot be used with option '--postgres <url>'",
  ],
  ['an unknown option', [rules, '--store', file, '--modle', 'x'], "unknown option '--modle'"],
  [
    'a limit that is not a number',
    [rules, '--store', file, '--max-rejected', '-1'],
    '--max-rejected',
  ],
  [
    'a store that does not exist',
    [rules, '--store', join(folder, 'no.sqlite')],
    'There is no database ',
  ],
  ['rules that do not exist', [join(folder, 'no.ts'), '--store', file], 'Cannot find module'],
  [
    'a file without rules',
    [join(import.meta.dirname, 'recorded-payments.ts'), '--store', file],
    'must export { tools, toolApproval } as its default',
  ],
  [
    'a database that cannot be reached',
    [rules, '--postgres', 'postgres://localhost:1/x'],
    'ECONNREFUSED',
  ],
])('%s: the status is 2, and the message says why', async (_what, args, message) => {
  const ended = await runCommand(['backtest', ...args]);
  expect(ended).toMatchObject({ status: 2, error: expect.stringContaining(message) });
});

test('its help lists the options', async () => {
  const { status, output } = await runCommand(['backtest', '--help']);
  expect(status).toBe(0);
  expect(output).toContain('--max-rejected <n>');
});
