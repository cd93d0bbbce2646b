import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeAnsweringAgent } from '../../src/agent/answering-agent.ts';
import { cachedPackage } from '../support/cached-package.ts';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { startAgentModel } from './scripted-agent-model.ts';

/* The agents themselves, from the registry, as a person runs them without a terminal. */
const versions = { '@anthropic-ai/claude-code': '2.1.332', '@openai/codex': '0.171.0' };
const installing = cachedPackage(versions).catch((error: unknown) => String(error));

interface Running {
  folder: string;
  modelUrl: string;
  /** The arguments with which node runs the gate. */
  gate: readonly string[];
}

const agents = {
  'Claude Code': ({ folder, modelUrl, gate }: Running) => {
    const file = join(folder, 'mcp.json');
    const server = { command: process.execPath, args: gate };
    writeFileSync(file, JSON.stringify({ mcpServers: { gate: server } }));
    return {
      command: 'claude',
      args: ['-p', 'Pay.', '--mcp-config', file, '--strict-mcp-config'].concat([
        '--allowedTools',
        'mcp__gate__pay',
      ]),
      env: {
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        /* It waits for the gate before it asks the model, and tells the model of all tools at once. */
        MCP_CONNECTION_NONBLOCKING: '0',
        ENABLE_TOOL_SEARCH: 'false',
      },
    };
  },
  Codex: ({ folder, modelUrl, gate }: Running) => {
    const config = [
      'model = "scripted"',
      'model_provider = "local"',
      '[model_providers.local]',
      'name = "local"',
      `base_url = "${modelUrl}/v1"`,
      'wire_api = "responses"',
      '[mcp_servers.gate]',
      `command = ${JSON.stringify(process.execPath)}`,
      `args = ${JSON.stringify(gate)}`,
      'required = true',
    ];
    writeFileSync(join(folder, 'config.toml'), config.join('\n'));
    return {
      command: 'codex',
      args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Pay.'],
      env: { CODEX_HOME: folder },
    };
  },
};

async function runAgent(name: keyof typeof agents, packages: string, holdMs = 45_000) {
  const folder = mkdtempSync(join(tmpdir(), 'coding-agent-'));
  const model = await startAgentModel();
  const [file, ledger] = [join(folder, 'gate.sqlite'), join(folder, 'ledger')];
  writeFileSync(ledger, '');
  const program = join(import.meta.dirname, 'gate-process.ts');
  const gate = ['--conditions=holdpoint-source', program, file, ledger, `${holdMs}`];
  const { command, args, env } = agents[name]({ folder, modelUrl: model.url, gate });
  const child = spawn(join(packages, 'node_modules', '.bin', command), args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  return {
    file,
    model,
    ended,
    readOutput: () => output,
    readLedger: () => readFileSync(ledger, 'utf8').split('\n').filter(Boolean),
    stop: () => child.kill('SIGKILL'),
  };
}

/** Answers the only open call, from a process that has no tools. */
async function answerCall(file: string, isYes: boolean): Promise<void> {
  const store = sqliteStore(file);
  const boss = makeAnsweringAgent({ name: 'gate', store });
  const findRow = async () =>
    (await store.requests?.list({ state: 'open', agent: 'gate' }))?.[0]?.threadId;
  await expect.poll(findRow, { timeout: 60_000 }).toBeDefined();
  const thread = await boss.thread((await findRow()) ?? '');
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  const answer = isYes ? request.approve() : request.reject('Too dear.');
  await boss.respond(answer, thread, { principal: 'boss' });
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
