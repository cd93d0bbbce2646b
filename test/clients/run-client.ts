import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as AiStdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import {
  type AgentName,
  type AgentServer,
  agentVersions,
  startCodingAgent,
} from '../gate/coding-agents.ts';
import { startAgentModel } from '../gate/scripted-agent-model.ts';

/** What a run of a client is given. */
interface ClientRun {
  server: AgentServer;
  /** An empty folder. */
  folder: string;
  /** Where the coding agents are installed. */
  packages: string;
  /** Whether the client is to wait for longer while it hears of progress, where that is a setting. */
  followsProgress: boolean;
}

/** A client of the table. */
interface TableClient {
  version: string;
  /** Calls `pay`, and again while it is pending. Resolves with the text of each result, or error, as it comes. */
  run: (given: ClientRun, onResult: (text: string) => void) => Promise<void>;
  /** What a cell says beside the measured value. */
  notes?: { progress?: string; url?: string };
}

const names = { name: 'table', version: '1' };
const withPages = { capabilities: { elicitation: { url: {} } } };
const payment = { name: 'pay', arguments: { to: 'ACME', euros: 100 } };

export const clients: Readonly<Record<string, TableClient>> = {
  '@modelcontextprotocol/sdk': {
    version: findVersion('@modelcontextprotocol/sdk/client/index.js'),
    run: async ({ server, followsProgress }, onResult) => {
      const client = new OldClient(names, withPages);
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' }));
      await client.connect(
        'url' in server
          ? new OldHttpTransport(new URL(server.url))
          : new OldStdioTransport({ ...server, args: [...server.args], stderr: 'ignore' }),
      );
      const options = followsProgress ? { onprogress: ignore, resetTimeoutOnProgress: true } : {};
      await callUntilDone(async () => client.callTool(payment, undefined, options), onResult);
      await client.close();
    },
    notes: { progress: 'with `resetTimeoutOnProgress`', url: 'if the app declares it' },
  },
  '@modelcontextprotocol/client': {
    version: findVersion('@modelcontextprotocol/client'),
    run: async ({ server, followsProgress }, onResult) => {
      const client = new Client(names, { ...withPages, versionNegotiation: { mode: 'auto' } });
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept' }));
      await client.connect(
        'url' in server
          ? new StreamableHTTPClientTransport(new URL(server.url))
          : new StdioClientTransport({ ...server, args: [...server.args], stderr: 'ignore' }),
      );
      const options = followsProgress ? { onprogress: ignore, resetTimeoutOnProgress: true } : {};
      await callUntilDone(async () => client.callTool(payment, options), onResult);
      await client.close();
    },
    notes: { progress: 'with `resetTimeoutOnProgress`', url: 'if the app declares it' },
  },
  '@ai-sdk/mcp': {
    version: findVersion('@ai-sdk/mcp'),
    run: async ({ server }, onResult) => {
      const client = await createMCPClient({
        transport:
          'url' in server
            ? { type: 'http', url: server.url }
            : new AiStdioTransport({ ...server, args: [...server.args], stderr: 'ignore' }),
      });
      const { pay } = await client.tools();
      const options = { toolCallId: '1', messages: [], context: {} };
      await callUntilDone(async () => pay?.execute?.(payment.arguments, options), onResult);
      await client.close();
    },
  },
  'Claude Code': {
    version: agentVersions['@anthropic-ai/claude-code'],
    run: async (given, onResult) => runAgent('Claude Code', given, onResult),
    notes: { url: 'without a terminal' },
  },
  Codex: {
    version: agentVersions['@openai/codex'],
    run: async (given, onResult) => runAgent('Codex', given, onResult),
    notes: { url: 'without a terminal' },
  },
};

const ignore = (): void => {};

async function callUntilDone(
  call: () => Promise<unknown>,
  onResult: (text: string) => void,
): Promise<void> {
  for (let calls = 0; calls < 20; calls += 1) {
    const text = await call().then(JSON.stringify, String);
    onResult(text);
    if (!text.includes('Pending')) return;
  }
}

async function runAgent(
  name: AgentName,
  { server, folder, packages }: ClientRun,
  onResult: (text: string) => void,
): Promise<void> {
  const model = await startAgentModel();
  const agent = startCodingAgent(name, packages, { folder, modelUrl: model.url, server });
  let isOver = false;
  const ended = agent.ended.then(() => (isOver = true));
  for (let seen = 0; ; await setTimeout(100)) {
    const isLast = isOver;
    for (; seen < model.results.length; seen += 1) onResult(model.results[seen] ?? '');
    if (isLast) break;
  }
  await ended;
  model.close();
}

/** The version of a package that is installed here. */
function findVersion(entry: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(entry));
  for (;;) {
    try {
      const { name, version }: { name?: string; version?: string } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      );
      if (name !== undefined && version !== undefined) return version;
    } catch {
      /* There is none in this folder. */
    }
    folder = dirname(folder);
  }
}
