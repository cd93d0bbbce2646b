import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cachedPackage } from '../support/cached-package.ts';
import { type AgentName, agentVersions, answerCall, startCodingAgent } from './coding-agents.ts';
import { startAgentModel } from './scripted-agent-model.ts';

const installing = cachedPackage(agentVersions).catch((error: unknown) => String(error));

async function runAgent(name: AgentName, packages: string, holdMs = 45_000) {
  const folder = mkdtempSync(join(tmpdir(), 'coding-agent-'));
  const model = await startAgentModel();
  const [file, ledger] = [join(folder, 'gate.sqlite'), join(folder, 'ledger')];
  writeFileSync(ledger, '');
  const program = join(import.meta.dirname, 'gate-process.ts');
  const args = ['--conditions=holdpoint-source', program, file, ledger, `${holdMs}`];
  const server = { command: process.execPath, args };
  const agent = startCodingAgent(name, packages, { folder, modelUrl: model.url, server });
  const readLedger = (): string[] => readFileSync(ledger, 'utf8').split('\n').filter(Boolean);
  return { ...agent, file, model, readLedger };
}

describe.each(['Claude Code', 'Codex'] as const)('%s behind a gate', (name) => {
  test('pays once a person has approved, and reads the result', async (context) => {
    const packages = await installing;
    if (!packages.startsWith('/')) return context.skip(`It could not be installed: ${packages}`);
    const run = await runAgent(name, packages);
    await answerCall(run.file, true);
    await run.ended;
    expect(run.readOutput()).toContain('The result: ');
    expect(run.model.results.at(-1)).toContain('Paid.');
    expect(run.readLedger()).toHaveLength(1);
    run.model.close();
  });

  test('reads why a person has rejected its call, and nothing is paid', async (context) => {
    const packages = await installing;
    if (!packages.startsWith('/')) return context.skip(`It could not be installed: ${packages}`);
    const run = await runAgent(name, packages);
    await answerCall(run.file, false);
    await run.ended;
    expect(run.model.results.at(-1)).toContain('A person rejected this call: Too dear.');
    expect(run.readLedger()).toEqual([]);
    run.model.close();
  });

  test('that is told to call again calls again, and pays once for one answer', async (context) => {
    const packages = await installing;
    if (!packages.startsWith('/')) return context.skip(`It could not be installed: ${packages}`);
    const run = await runAgent(name, packages, 2_000);
    await expect.poll(() => run.model.results.length, { timeout: 90_000 }).toBeGreaterThan(0);
    expect(run.model.results[0]).toContain('Pending');
    await answerCall(run.file, true);
    await run.ended;
    expect(run.model.results.at(-1)).toContain('Paid.');
    expect(run.readLedger()).toHaveLength(1);
    run.model.close();
  });
});
