import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeAnsweringAgent } from '../../src/agent/answering-agent.ts';
import { sqliteStore } from 'holdpoint/stores/sqlite';

/** The agents themselves, from the registry, as a person runs them without a terminal. */
export const agentVersions = { '@anthropic-ai/claude-code': '2.1.332', '@openai/codex': '0.171.0' };

/** How an agent reaches its only server. */
export type AgentServer = { command: string; args: readonly string[] } | { url: string };

interface Running {
  /** Its home and its working directory. */
  folder: string;
  modelUrl: string;
  server: AgentServer;
}

const agents = {
  'Claude Code': ({ folder, modelUrl, server }: Running) => {
    const file = join(folder, 'mcp.json');
    const entry = 'url' in server ? { type: 'http', ...server } : server;
    writeFileSync(file, JSON.stringify({ mcpServers: { gate: entry } }));
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
  Codex: ({ folder, modelUrl, server }: Running) => {
    const config = [
      'model = "scripted"',
      'model_provider = "local"',
      '[model_providers.local]',
      'name = "local"',
      `base_url = "${modelUrl}/v1"`,
      'wire_api = "responses"',
      '[mcp_servers.gate]',
      ...('url' in server
        ? [`url = ${JSON.stringify(server.url)}`]
        : [`command = ${JSON.stringify(server.command)}`, `args = ${JSON.stringify(server.args)}`]),
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

/** The names of the agents. */
export type AgentName = keyof typeof agents;

/** Starts an agent with a scripted model. `packages`: the folder in which the agents are installed. */
export function startCodingAgent(name: AgentName, packages: string, running: Running) {
  const { command, args, env } = agents[name](running);
  const child = spawn(join(packages, 'node_modules', '.bin', command), args, {
    cwd: running.folder,
    env: { PATH: process.env['PATH'], HOME: running.folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  return { ended, readOutput: () => output, stop: () => child.kill('SIGKILL') };
}

/** Answers the only open call of the gates with this store, from a process that has no tools. Also for scripts that no test runs. */
export async function answerCall(file: string, isYes: boolean): Promise<void> {
  const store = sqliteStore(file);
  const boss = makeAnsweringAgent({ name: 'gate', store });
  for (const until = Date.now() + 60_000; Date.now() < until; await setTimeout(50)) {
    const [row] = (await store.requests?.list({ state: 'open', agent: 'gate' })) ?? [];
    if (row === undefined) continue;
    const thread = await boss.thread(row.threadId);
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    const answer = isYes ? request.approve() : request.reject('Too dear.');
    await boss.respond(answer, thread, { principal: 'boss' });
    return;
  }
  throw new Error('Nothing was asked within a minute.');
}
