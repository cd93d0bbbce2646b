import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ModelMessage } from 'ai';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, 'guarding-process.ts');
const body: ModelMessage[] = [
  { role: 'user', content: 'Book' },
  {
    role: 'assistant',
    content: [
      { type: 'tool-call', toolCallId: 'c1', toolName: 'book', input: { city: 'Paris' } },
      { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' },
    ],
  },
  { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a1', approved: true }] },
];

interface Guarding extends AsyncDisposable {
  child: ChildProcess;
  /** What it prints next. */
  line(): Promise<string>;
}

async function guarding(folder: string, work: 'end' | 'hang'): Promise<Guarding> {
  const child = spawn(process.execPath, ['--conditions=holdpoint-source', program, folder, work], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  expect(await line()).toBe('ready');
  return {
    child,
    line,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function inFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  writeFileSync(join(folder, 'body'), JSON.stringify(body));
  return {
    folder,
    effects: () => readFileSync(join(folder, 'effects'), 'utf8'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

test('three processes resume the same approval at once, on one SQLite file: the tool runs once', async () => {
  using place = inFolder();
  await using one = await guarding(place.folder, 'end');
  await using two = await guarding(place.folder, 'end');
  await using three = await guarding(place.folder, 'end');
  const all = [one, two, three];
  for (const { child } of all) child.stdin?.write('go\n');
  for (const { line } of all) expect(await line()).toContain('"value":{"booked":"Paris"}');
  expect(place.effects()).toBe('Paris\n');
});

test('a process is killed while the tool runs: another does not run it again and reports that', async () => {
  using place = inFolder();
  {
    await using dying = await guarding(place.folder, 'hang');
    dying.child.stdin?.write('go\n');
    expect(await dying.line()).toBe('hanging');
  }
  await using heir = await guarding(place.folder, 'end');
  heir.child.stdin?.write('go\n');
  expect(await heir.line()).toContain('its outcome is unknown, so it is not run again');
  expect(place.effects()).toBe('Paris\n');
});
