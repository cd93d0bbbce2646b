import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { fillOffice, inStore } from './office.ts';
import { pickCases } from '../support/sampling.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-program-'));
const file = join(folder, 'threads.sqlite');
beforeAll(async () => inStore(file, fillOffice));
afterAll(() => rmSync(folder, { recursive: true }));

const commands = [
  'inbox',
  'list',
  'show',
  'answer',
  'settle',
  'verify',
  'export',
  'delete',
  'backtest',
];

test('without arguments it explains itself, with every command', async () => {
  const { status, output, error } = await runCommand([]);
  expect({ status, error }).toEqual({ status: 0, error: '' });
  expect(output).toMatch(/^Usage: holdpoint \[options\] \[command\]\n/);
  for (const command of commands) expect(output).toMatch(new RegExp(`^  ${command} `, 'm'));
  expect(await runCommand(['--help'])).toMatchObject({ status: 0, output });
});

test.each(pickCases(commands, 3))('%s explains itself and its exit statuses', async (command) => {
  const { status, output } = await runCommand([command, '--help']);
  expect(status).toBe(0);
  expect(output).toContain(`Usage: holdpoint ${command} `);
  expect(output).toContain('--json ');
  expect(output).toMatch(/\nExit status:\n  0  .*\n  1  .*\n  2  .*\n$/);
});

test.each([
  ['an unknown command', ['lits'], "unknown command 'lits'\n(Did you mean list?)"],
  [
    'an unknown option',
    ['list', '--ordr', 'risk'],
    "unknown option '--ordr'\n(Did you mean --order?)",
  ],
  [
    'an unknown order',
    ['list', '--order', 'newst'],
    "argument 'newst' is invalid. Allowed choices are oldest, newest, expires, risk, decided.",
  ],
  ['an unknown state', ['list', '--state', 'done'], 'Allowed choices are open, approved,'],
  [
    'a limit that is no number',
    ['list', '--limit', '0'],
    'It must be a whole number from 1 to 99999.',
  ],
  ['no days', ['delete'], "required option '--days <n>' not specified"],
  ['days that are no number', ['delete', '--days', 'all'], 'It must be a number of days'],
  [
    'threads that are run',
    ['delete', '--days', '1', '--status', 'running'],
    'Allowed choices are idle, waiting, due, indeterminate, stuck.',
  ],
  ['no id', ['show'], "missing required argument 'requestId'"],
  ['too much', ['show', 'a', 'b'], "too many arguments for 'show'"],
  ['no store', ['list'], 'Name the store: --store <file>'],
  [
    'two stores',
    ['list', '--store', 'a', '--postgres', 'b'],
    "option '--store <file>' cannot be used with option '--postgres <url>'",
  ],
  [
    'a store and a file',
    ['verify', '--store', 'a', '--file', 'b'],
    "option '--file <jsonl>' cannot be used with option '--store <file>'",
  ],
  ['hostile text', ['\u001b[2J\u202Elist'], "unknown command '\\u{1b}[2J\\u{202e}list'"],
])('%s is refused with the status 2, as JSON too', async (_what, args, message) => {
  const ended = await runCommand(args);
  expect(ended).toMatchObject({ status: 2, output: '', error: expect.stringContaining(message) });
  const json = await runCommand([...args, '--json']);
  expect(json).toMatchObject({ status: 2, error: '' });
  expect(JSON.parse(json.output)).toMatchObject({ error: { code: 'usage' } });
});

test.each([
  ['a file that does not exist', ['--store', join(folder, 'no.sqlite')], 'There is no database '],
  ['a database that cannot be reached', ['--postgres', 'postgres://localhost:1/x'], 'ECONNREFUSED'],
])('%s: the status is 2', async (_what, store, message) => {
  for (const command of ['list', 'verify', 'export']) {
    const ended = await runCommand([command, ...store, '--json']);
    expect(ended.status).toBe(2);
    expect(JSON.parse(ended.output)).toEqual({
      error: { code: 'failed', message: expect.stringContaining(message) },
    });
  }
});

test('the environment names the store where no option does', async () => {
  const elsewhere = 'postgres://localhost:1/x';
  const ours = { HOLDPOINT_STORE: file, DATABASE_URL: elsewhere };
  expect(await runCommand(['list'], { env: ours })).toMatchObject({ status: 0 });
  expect(
    await runCommand(['list', '--store', file], { env: { DATABASE_URL: elsewhere } }),
  ).toMatchObject({ status: 0 });
  for (const [args, env] of [
    [['list'], { DATABASE_URL: elsewhere }],
    [['list', '--postgres', elsewhere], { HOLDPOINT_STORE: file }],
  ] as const) {
    expect(await runCommand(args, { env })).toMatchObject({
      status: 2,
      error: expect.stringContaining('ECONNREFUSED'),
    });
  }
});

test('an id that is unknown is refused with the status 1', async () => {
  const ended = await runCommand(['show', 'no/such', '--store', file, '--json']);
  expect(ended.status).toBe(1);
  expect(JSON.parse(ended.output)).toMatchObject({ error: { code: 'not-found' } });
});
