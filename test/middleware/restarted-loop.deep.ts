import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createAgent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { docBlocks } from '../package/doc-blocks.ts';

/* The programs of docs/guides/your-own-loop.md, "After a restart", as processes of their own: nothing else is in their folder. */

const root = join(import.meta.dirname, '..', '..');
const programs = docBlocks.filter(({ name }) =>
  name.startsWith('docs/guides/your-own-loop.md: After a restart'),
);
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'holdpoint'));
  for (const name of ['ai', 'zod']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'holdpoint-loop', type: 'module' }),
  );
  for (const { file, code } of programs) writeFileSync(join(folder, file), code);
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Starts a program of the guide. `more` is code that it imports first. */
function start(file: string, more = ''): ChildProcess {
  const parameters = ['--conditions=holdpoint-source'];
  if (more !== '') parameters.push('--import', `data:text/javascript,${encodeURIComponent(more)}`);
  return spawn(process.execPath, [...parameters, file], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Runs a program of the guide, and returns what it prints. `signal` is how it is expected to be killed. */
async function run(file: string, more = '', signal: string | null = null): Promise<string> {
  const child = start(file, more);
  const ended = once(child, 'exit');
  const printed = child.stdout === null ? '' : await text(child.stdout);
  expect([file, ...(await ended)]).toEqual([file, signal === null ? 0 : null, signal]);
  return printed;
}

/** Runs process 1, and kills it as soon as it has asked. */
async function askAndDie(): Promise<void> {
  const asking = start('ask.ts', 'setInterval(() => {}, 1000)');
  const ended = once(asking, 'exit');
  const [printed] = asking.stdout === null ? [] : await once(asking.stdout, 'data');
  expect(String(printed)).toBe('1 open\n');
  asking.kill('SIGKILL');
  await ended;
}

/** The thread of the guide, read in this process. */
async function readThread() {
  using store = sqliteStore(join(folder, 'threads.sqlite'));
  const thread = await createAgent({ model: 'none', store }).thread('invoices');
  return {
    status: thread.status,
    messages: thread.messages.map(({ role }) => role),
    people: thread.events.flatMap((event) =>
      event.type === 'request-answered' ? [event.principal] : [],
    ),
    starts: thread.events.filter(({ type }) => type === 'call-started').length,
  };
}

const asked = "invoices The agent wants to call pay. { to: 'ACME', euros: 420 }\n";

test('process 1 asks and is killed, process 2 lists, shows and answers, process 3 goes on', async () => {
  await askAndDie();
  expect(await run('resume.ts')).toBe('1 open. \n');
  expect(await readThread()).toMatchObject({ status: 'waiting', starts: 0 });

  expect(await run('answer.ts')).toBe(asked);
  expect(await readThread()).toMatchObject({ people: ['ben'], starts: 0 });
  /* It is answered: nobody is asked again. */
  expect(await run('answer.ts')).toBe('');

  expect(await run('resume.ts')).toBe('Paying 420 EUR to ACME\n0 open. I have paid ACME.\n');
  expect(await run('resume.ts')).toBe('0 open. I have paid ACME.\n');
  expect(await readThread()).toEqual({
    status: 'idle',
    messages: ['user', 'assistant', 'tool', 'assistant'],
    people: ['ben'],
    starts: 1,
  });
}, 60_000);

test('three processes that go on at once pay once', async () => {
  await askAndDie();
  await run('answer.ts');
  const printed = await Promise.all([1, 2, 3].map(async () => run('resume.ts')));
  expect(printed.join('').match(/Paying/g)).toHaveLength(1);
  expect(await run('resume.ts')).toBe('0 open. I have paid ACME.\n');
  expect(await readThread()).toMatchObject({ status: 'idle', starts: 1 });
}, 60_000);

test('a process that is killed while it pays leaves a call of unknown outcome, which no other one repeats', async () => {
  await askAndDie();
  await run('answer.ts');
  const dying = `
    import { writeSync } from 'node:fs';
    console.log = (line) => {
      writeSync(1, line + '\\n');
      process.kill(process.pid, 'SIGKILL');
    };`;
  expect(await run('resume.ts', dying, 'SIGKILL')).toBe('Paying 420 EUR to ACME\n');
  /* The lease of the dead process has to end first. */
  const later = 'const now = Date.now; Date.now = () => now() + 61_000;';
  expect(await run('resume.ts', later)).toBe('0 open. \n');
  expect(await readThread()).toMatchObject({ status: 'indeterminate', starts: 1 });
}, 60_000);
