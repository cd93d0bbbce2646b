import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { RemoteWorld } from './remote-world.ts';

test('S0-22, S0-36, S0-39: a process that is killed while it sends an answer: a worker sends it again, and the call goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-rap-'));
  const file = join(folder, 'threads.sqlite');
  await using world = await RemoteWorld.start({ agent: { store: sqliteStore(file) } });
  await world.asked();
  const { server, site } = world;
  const program = join(import.meta.dirname, 'remote-process.ts');
  const parameters = [program, file, server.endpoint, site.url, '1'];
  const child = spawn(process.execPath, ['--conditions=holdpoint-source', ...parameters], {
    stdio: 'inherit',
  });
  server.answerBehaviours.push(() => child.kill('SIGKILL'));
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  expect(server.answers).toHaveLength(1);

  const stopping = new AbortController();
  const store = sqliteStore(file);
  const agent = world.process({ store });
  agent.on('answer-delivered', () => void server.finish(server.last));
  agent.on('step-finished', () => stopping.abort());
  await runWorker({ agent, store, signal: stopping.signal, pollMs: 5 });
  const thread = await agent.thread('t');
  expect(thread.messages.at(-1)).toMatchObject({ role: 'assistant' });
  expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  const answer = { id: 'call_abc123', selected: 1 };
  expect([server.invocations.length, server.answers]).toEqual([1, [answer, answer]]);
  store.close();
  rmSync(folder, { recursive: true });
});
