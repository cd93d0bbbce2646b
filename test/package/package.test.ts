import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const project = mkdtempSync(join(tmpdir(), 'holdpoint-consumer-'));

/** Runs a program in the consumer's project; what it prints is in the error when it fails. */
function run(program: string, ...parameters: string[]): string {
  return execFileSync(program, parameters, { cwd: project, encoding: 'utf8', stdio: 'pipe' });
}

function write(name: string, content: string): void {
  writeFileSync(join(project, name), content);
}

/** The first TypeScript block of README that holds `text`. */
function readmeBlock(text: string): string {
  const blocks = readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs);
  const found = [...blocks].map(([, code = '']) => code).find((code) => code.includes(text));
  if (found === undefined) throw new Error(`README has no block with ${text}.`);
  return found;
}

beforeAll(() => {
  execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, stdio: 'pipe' });
  const { ai, zod, typescript } = manifest.devDependencies;
  write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const tarball = `./holdpoint-${manifest.version}.tgz`;
  const types = `@types/node@${manifest.devDependencies['@types/node']}`;
  run(
    'npm',
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    tarball,
    `ai@${ai}`,
    `zod@${zod}`,
    `typescript@${typescript}`,
    types,
  );
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  };
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts'] }));
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true });
});

test('a new strict TypeScript project installs the package, type-checks the loop of README, and runs it', () => {
  write('scripted.ts', scripted);
  write(
    'loop.ts',
    `import { model } from './scripted.ts';\n${readmeBlock('response.approvalRequests.length')}`,
  );
  write('resume.ts', resume);
  run(join(project, 'node_modules', '.bin', 'tsc'));
  expect(run(process.execPath, 'loop.ts')).toContain('Booked a flight to Paris.');
  expect(run(process.execPath, 'resume.ts', 'today')).toContain('waiting for 1');
  expect(run(process.execPath, 'resume.ts', 'tomorrow')).toContain('Booked a flight to Paris.');
});

const scripted = `
import type { LanguageModel } from 'ai';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

export const model: LanguageModel = {
  specificationVersion: 'v4',
  provider: 'scripted',
  modelId: 'scripted',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    const finished = prompt.at(-1)?.role === 'tool';
    return {
      content: finished
        ? [{ type: 'text', text: 'Booked a flight to Paris.' }]
        : [{ type: 'tool-call', toolCallId: 'c1', toolName: 'bookFlight', input: '{"city":"Paris","day":"Friday"}' }],
      finishReason: { unified: finished ? 'stop' : 'tool-calls', raw: undefined },
      usage,
      warnings: [],
    };
  },
  async doStream() {
    throw new Error('not streamed here');
  },
};
`;

const resume = `
import { tool } from 'ai';
import { createAgent, HoldpointError, type ThreadStore, type ToolApproval } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';
import { model } from './scripted.ts';

const bookFlight = tool({
  description: 'Books a flight.',
  inputSchema: z.object({ city: z.string(), day: z.string() }),
  execute: async ({ city }) => ({ booked: city }),
});
const store: ThreadStore = sqliteStore('threads.sqlite');
const agent = createAgent({
  model,
  store,
  tools: { bookFlight },
  toolApproval: { bookFlight: (input) => (input.city === 'Paris' ? 'user-approval' : 'approved') },
});
const thread = await agent.thread('trip-42');
try {
  if (process.argv[2] === 'today') {
    const response = await agent.run('Book Paris', thread);
    console.log(response.status, 'for', response.approvalRequests.length);
  } else {
    const response = await agent.run(thread.activeApprovalRequests.map((request) => request.approve()), thread);
    console.log(response.text);
  }
} catch (error) {
  if (HoldpointError.isInstance(error)) console.log(error.code);
}
export type Rules = ToolApproval<{ bookFlight: typeof bookFlight }, unknown>;
`;
