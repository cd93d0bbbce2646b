import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnswerOptions, InputItem } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { stepsFile } from './engine-project.ts';
import { openWorld } from './engine-world.ts';
import { approvalIn, peopleIn } from './watched-threads.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'holdpoint-steps-'));
const world = openWorld(folder);
let steps: {
  take: (threadId: string, message: object) => Promise<{ isOver: boolean }>;
  respond: (threadId: string, answer: InputItem, by: AnswerOptions) => Promise<void>;
  proceed: (threadId: string) => Promise<{ isOver: boolean }>;
};

beforeAll(async () => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'holdpoint'), 'junction');
  const worldFile = join(root, 'test/engines/engine-world.ts');
  const agentFile = `import { openWorld } from ${JSON.stringify(worldFile)};
export const { agent, store } = openWorld(${JSON.stringify(folder)});`;
  for (const { name, code } of [...stepsFile, { name: 'agent.ts', code: agentFile }])
    writeFileSync(join(folder, name), code);
  steps = await import(join(folder, 'steps.ts'));
});

afterAll(() => {
  world.store[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('steps.ts of the guides records who asked: Ada can’t approve her own booking, and Ben can', async () => {
  /* As an engine keeps it, and repeats the step. */
  const kept = JSON.stringify({ id: 'm1', text: 'Sofia', principal: 'ada', channel: 'web' });
  await steps.take('trip', JSON.parse(kept));
  await steps.take('trip', JSON.parse(kept));
  const yes = approvalIn(await world.agent.thread('trip'));
  expect(await errorCode(steps.respond('trip', yes, { principal: 'Ada' }))).toBe('not-allowed');
  await steps.respond('trip', yes, { principal: 'ben', channel: 'slack' });
  expect(await steps.proceed('trip')).toEqual({ isOver: true });
  const thread = await world.agent.thread('trip');
  expect(peopleIn(thread)).toEqual([
    ['message-added', 'ada', 'web'],
    ['request-answered', 'ben', 'slack'],
  ]);
  const { rows } = await auditTrail(thread);
  expect(rows.map(({ who }) => who).filter((who) => who !== undefined)).toEqual(
    expect.arrayContaining(['ada', 'ben']),
  );
});
