import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { book } from '../support/travel-world.ts';
import { client, endOf, post, runInput, typesOf } from './ag-ui-site.ts';

const program = join(import.meta.dirname, 'serving-process.ts');

/** Starts servers on one file of threads, one after another. */
function place() {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const effects = join(folder, 'effects');
  const start = async (script: ScriptedStep[], ...more: string[]) => {
    const args = [join(folder, 'threads.sqlite'), effects, JSON.stringify(script), ...more];
    const child = spawn(process.execPath, ['--conditions=holdpoint-source', program, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { port } = z.object({ port: z.number() }).parse(JSON.parse(String(line)));
    const kill = async (): Promise<unknown> => {
      child.kill('SIGKILL');
      return ended;
    };
    return { address: `http://127.0.0.1:${port}/`, kill, ended };
  };
  return { start, ran: () => readFileSync(effects, 'utf8') };
}

const asks = [{ calls: [book('c1', 'Paris')] }];

test('a server that is killed while people are asked, and started again: the answer is taken, and the call runs once', async () => {
  const { start, ran } = place();
  const first = await start(asks);
  const visitor = client(first.address);
  await visitor.say('Book');
  await first.kill();
  const second = await start([{ text: 'Booked.' }]);
  visitor.at.address = second.address;
  const events = await visitor.answer({ approved: true });
  expect(endOf(events)).toEqual({ type: 'success' });
  expect(typesOf(events)).not.toContain('MESSAGES_SNAPSHOT');
  expect(visitor.agent.messages.at(-1)).toMatchObject({ content: 'Booked.' });
  expect(ran()).toBe('Paris\n');
});

test('a server that is killed in a call: the same answer again does not run it again, and the client is told that nobody knows', async () => {
  const { start, ran } = place();
  const first = await start(asks, 'dies');
  const visitor = client(first.address);
  await visitor.say('Book');
  const resume = visitor.agent.pendingInterrupts.map(({ id: interruptId }) => ({
    interruptId,
    status: 'resolved',
    payload: { approved: true },
  }));
  const { method, headers } = post('');
  const body = JSON.stringify(runInput({ resume }));
  const answer = async () => (await fetch(first.address, { method, headers, body })).text();
  await expect(answer()).rejects.toThrow(TypeError);
  await first.ended;
  const second = await start([{ text: 'Booked.' }]);
  visitor.at.address = second.address;
  expect(endOf(await visitor.answer({ approved: true }))).toBe('thread-indeterminate');
  expect(endOf(await visitor.answer(undefined))).toBe('thread-indeterminate');
  expect(ran()).toBe('Paris\n');
});
