import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { type EndedCommand, runCommand } from '../support/run-holdpoint.ts';
import { type Do, type Driver, type Person, principalOf } from './acts.ts';
import { openScene, type World } from './scenes.ts';

const rules = join(import.meta.dirname, '..', 'command', 'rules', 'desk-rules.ts');
const files = new WeakMap<World, string>();

const listSchema = z.object({ requests: z.array(z.object({ requestId: z.string() })) });
const shownSchema = z.object({ digest: z.string() });
const errorSchema = z.object({ error: z.object({ code: z.string() }) });

async function runOn(world: World, ...args: string[]): Promise<EndedCommand> {
  return runCommand([...args, '--json', '--store', files.get(world) ?? '']);
}

/** The code of a command that has failed. */
function readError({ status, output }: EndedCommand): string | undefined {
  return status === 0 ? undefined : errorSchema.parse(JSON.parse(output)).error.code;
}

async function record(world: World, by: Person, name: string, options: readonly string[]) {
  const { requests } = listSchema.parse(JSON.parse((await runOn(world, 'list')).output));
  const requestId = requests[0]?.requestId ?? 'none';
  const shown = await runOn(world, 'show', requestId);
  const { digest } = shownSchema.catch({ digest: 'none' }).parse(JSON.parse(shown.output));
  const principal = principalOf(by);
  const as = typeof principal === 'string' ? principal : JSON.stringify(principal);
  return readError(
    await runOn(
      world,
      name,
      requestId,
      '--as',
      as,
      '--digest',
      digest,
      '--rules',
      rules,
      ...options,
    ),
  );
}

function command(name: string, ...options: string[]): Do {
  return async (world, by) => record(world, by, name, options);
}

/** What somebody types in a shell, with the rules of the app. */
export const commandDriver: Driver = {
  channel: 'command',
  async open(scene) {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-acts-'));
    const file = join(folder, 'desk.sqlite');
    const store = sqliteStore(file);
    onTestFinished(() => {
      store.close();
      rmSync(folder, { recursive: true });
    });
    const world = await openScene(scene, { store });
    files.set(world, file);
    return world;
  },
  ways: {
    approve: command('answer', '--approve'),
    reject: command('answer', '--reject', '--reason', 'Too dear.'),
    'answer-question': command('answer', '--option', '1'),
    settle: command('settle', '--failed', 'Not paid.'),
  },
  force: async (act, world, by) => record(world, by, act, []),
};
