import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

const pages = ['README.md', ...globSync('docs/*.md', { cwd: root })];

/** The TypeScript blocks of README and of the docs, each a module of its own, named for its page and section. */
const blocks = pages.flatMap((page) =>
  readFileSync(join(root, page), 'utf8')
    .split(/^##+ /m)
    .flatMap((section) => {
      const title = section.split('\n', 1)[0] ?? '';
      const found = [...section.matchAll(/```(tsx?)\n(.*?)```/gs)];
      const place = page === 'README.md' ? title : `${page}: ${title}`;
      return found.map(([, kind, code], index) => ({
        name: `${place}, ${index + 1}`,
        file: `${place.replaceAll(/\W+/g, '-')}-${index + 1}.${kind}`,
        code: `${code}\nexport {};\n`,
      }));
    }),
);

/** What a reader of README has installed by its last section, as we test with it. */
const installed = [
  'ai',
  'zod',
  'typescript',
  '@types/node',
  '@clack/core',
  '@opentelemetry/api',
  'pg',
  '@types/pg',
  '@ai-sdk/react',
  'react',
  '@types/react',
];

beforeAll(() => {
  execFileSync('npm', ['pack', '--pack-destination', project], { cwd: root, stdio: 'pipe' });
  write('package.json', JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  const tarball = `./holdpoint-${manifest.version}.tgz`;
  const others = installed.map((name) => `${name}@${manifest.devDependencies[name]}`);
  run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', tarball, ...others);
  const compilerOptions = {
    target: 'es2024',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    jsx: 'react-jsx',
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  };
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['*.ts', '*.tsx'] }));
  copyFileSync(
    join(import.meta.dirname, '..', 'fixtures', 'readme-world.ts'),
    join(project, 'readme-world.ts'),
  );
  for (const { file, code } of blocks) write(file, code);
  write('scripted.ts', scripted);
  write('resume.ts', resume);
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true });
});

test.each([
  { resolution: 'nodenext', module: 'nodenext' },
  { resolution: 'bundler', module: 'esnext' },
])(
  'a strict project type-checks every block of README and the docs: $resolution',
  ({ resolution, module }) => {
    const tsc = join(project, 'node_modules', '.bin', 'tsc');
    const parameters = ['--module', module, '--moduleResolution', resolution];
    const { stdout } = spawnSync(tsc, parameters, { cwd: project, encoding: 'utf8' });
    expect(stdout).toBe('');
  },
);

const printedBy = new Map([
  ['The loop, 1', 'Booked a flight to Paris.'],
  ['Questions, 1', '1. Approve'],
  ['Streaming, 1', 'I look for one.'],
  ['docs/loop-of-your-own.md: Requests and answers, 1', 'Booked a flight to Paris.'],
  ['docs/loop-of-your-own.md: Guarded tools, 1', 'Booked a flight to Paris.'],
]);

test.each(blocks.filter(({ file }) => file.endsWith('.ts')))(
  'a block of the docs runs: $name',
  ({ name, file }) => {
    const printed = run(process.execPath, '--import', './readme-world.ts', file);
    expect(printed).toContain(printedBy.get(name) ?? '');
  },
);

test('a thread waits from one process to the next', () => {
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
