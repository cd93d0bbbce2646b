import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { memoryStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelTools, travelWorld } from '../support/travel-world.ts';

const program = join(import.meta.dirname, '..', 'support', 'answering-process.ts');

interface Answering {
  child: ChildProcess;
  lines: AsyncIterator<string>;
}

async function answering(folder: string, decision: string): Promise<Answering> {
  const child = spawn(
    process.execPath,
    ['--conditions=holdpoint-source', program, folder, decision],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  return { child, lines };
}

async function raceOf(decisions: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  try {
    using store = sqliteStore(join(folder, 'threads.sqlite'));
    const played = scriptedModel([{ calls: [book('c1', 'Paris')] }]);
    const world = travelWorld(played, () => store);
    const tools = { book: Object.assign(travelTools([]).book, { description: 'book a flight' }) };
    const agent = world.agent({ tools });
    await agent.run('Book', await agent.thread('t'));
    const processes = await Promise.all(
      decisions.map(async (decision) => answering(folder, decision)),
    );
    for (const { child } of processes) child.stdin?.write('go\n');
    const outcomes = await Promise.all(
      processes.map(async ({ child, lines }) => {
        const { value } = await lines.next();
        if (child.exitCode === null) await once(child, 'exit');
        return String(value);
      }),
    );
    const thread = await agent.thread('t');
    return { outcomes, thread, effects: readEffects(folder) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readEffects(folder: string): string {
  try {
    return readFileSync(join(folder, 'effects'), 'utf8');
  } catch {
    return '';
  }
}

test('a thread goes to another process as JSON text, is answered there, and comes back', async () => {
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }]);
  const store = memoryStore();
  const agent = travelWorld(played, () => store).agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  const there = join(import.meta.dirname, '..', 'support', 'restoring-process.ts');
  const output = execFileSync(process.execPath, ['--conditions=holdpoint-source', there], {
    input: JSON.stringify(thread),
    encoding: 'utf8',
  });
  const { said, ran, thread: json } = JSON.parse(output);
  expect(said).toBe('Done.');
  expect(ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
  const elsewhere = memoryStore();
  const restored = await travelWorld(played, () => elsewhere)
    .agent()
    .restore(json);
  expect(restored.status).toBe('idle');
  expect(restored.calls).toMatchObject([{ status: 'succeeded' }]);
});

test('three processes give the same answer at once, on one SQLite file: the tool runs once', async () => {
  const { outcomes, thread, effects } = await raceOf(['approve', 'approve', 'approve']);
  expect(effects).toBe('Paris\n');
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  for (const outcome of outcomes) expect(['completed', 'running']).toContain(outcome);
  expect(outcomes).toContain('completed');
});

test('processes that contradict each other: the first answer stands, and the others are refused', async () => {
  const { outcomes, thread, effects } = await raceOf(['approve', 'reject']);
  const status = thread.calls[0]?.status;
  expect({ outcomes, effects, status }).toEqual(
    effects === ''
      ? { outcomes: ['already-answered', 'completed'], effects: '', status: 'denied' }
      : { outcomes: ['completed', 'already-answered'], effects: 'Paris\n', status: 'succeeded' },
  );
});
