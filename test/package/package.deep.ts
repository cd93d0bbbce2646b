import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtFrom, loadedWith } from './built-files.ts';
import { type DocBlock, docBlocks } from './doc-blocks.ts';

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

/** What a reader of README and the docs has installed, as we test with it. */
const installed = [
  'ai',
  'zod',
  'typescript',
  '@types/node',
  '@dbos-inc/dbos-sdk',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  'graphile-worker',
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
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['**/*.ts', '**/*.tsx'] }));
  copyFileSync(
    join(import.meta.dirname, '..', 'fixtures', 'readme-world.ts'),
    join(project, 'readme-world.ts'),
  );
  for (const { folder, file, code } of docBlocks) {
    mkdirSync(join(project, folder), { recursive: true });
    write(join(folder, file), code);
  }
  write('terminal.mjs', 'process.stdin.isTTY = true;');
  write('scripted.ts', scripted);
  write('resume.ts', resume);
}, 300_000);

afterAll(() => {
  rmSync(project, { recursive: true });
}, 60_000);

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

/* What blocks print that have no block of their output below them, because more comes out than a reader needs. */
const printedBy = new Map([
  ['docs/channels/terminal.md: In the terminal, 1', '1. Approve'],
  ['docs/guides/your-own-loop.md: Requests and answers, 1', 'Booked a flight to Paris.'],
  ['docs/guides/your-own-loop.md: Guarded tools, 1', 'Booked a flight to Paris.'],
]);
const runFile = promisify(execFile);

/** Runs a block in the folder of its page, at a terminal with nobody at the keyboard, and returns what it prints. */
async function runBlock({ folder, file }: DocBlock): Promise<string> {
  const preloads = ['readme-world.ts', 'terminal.mjs'].map((name) => join(project, name));
  const parameters = [...preloads.flatMap((name) => ['--import', name]), file];
  const running = runFile(process.execPath, parameters, { cwd: join(project, folder) });
  running.child.stdin?.end();
  return (await running).stdout;
}

describe.concurrent('the blocks run in their order, and print what the page says', () => {
  const blocks = docBlocks.filter(({ file }) => file.endsWith('.ts'));

  /* One after another: a later block of a page opens what an earlier one has stored. */
  test.each([...new Set(blocks.map(({ folder }) => folder))])('%s', async (folder) => {
    for (const block of blocks.filter((each) => each.folder === folder)) {
      const printed = await runBlock(block);
      const { name, output = printed } = block;
      expect({ name, printed }).toEqual({ name, printed: output });
      expect(printed).toContain(printedBy.get(name) ?? '');
    }
  });
});

test('the blocks that are expected to print something exist', () => {
  const names = new Set(docBlocks.map(({ name }) => name));
  expect([...printedBy.keys()].filter((name) => !names.has(name))).toEqual([]);
});

test('a thread waits from one process to the next', () => {
  expect(run(process.execPath, 'resume.ts', 'today')).toContain('waiting for 1');
  expect(run(process.execPath, 'resume.ts', 'tomorrow')).toContain('Booked a flight to Paris.');
});

describe('npx holdpoint', () => {
  const command = join(project, 'node_modules', '.bin', 'holdpoint');
  const store = ['--store', 'asked.sqlite'];

  /** What a command prints as JSON. */
  const readJson = (...args: string[]) => JSON.parse(run(command, ...args, ...store, '--json'));

  beforeAll(() => {
    write('ask.ts', asking);
    run(process.execPath, 'ask.ts');
  });

  test('lists, shows, answers, verifies and exports', () => {
    const [{ requestId }] = readJson('list').requests;
    const { digest } = readJson('show', requestId);
    const answer = ['answer', requestId, '--as', 'ben', '--digest', digest, '--reject'];
    expect(readJson(...answer)).toMatchObject({ state: 'rejected' });
    expect(readJson('verify')).toMatchObject({ sound: 1, faults: 0 });
    writeFileSync(join(project, 'threads.jsonl'), run(command, 'export', ...store));
    expect(run(command, 'verify', '--file', 'threads.jsonl')).toContain('1 sound, 0 with a fault');
    expect(spawnSync(command, ['lits'], { cwd: project })).toMatchObject({ status: 2 });
  });

  test('serves the built page until Ctrl+C', async () => {
    const serving = spawn(command, ['inbox', '--as', 'ben', ...store], { cwd: project });
    const ended = once(serving, 'exit');
    const [printed] = await once(serving.stdout, 'data');
    const url = new URL(String(printed).trim());
    const opened = await fetch(url, { redirect: 'manual' });
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(opened.status).toBe(303);
    const script = await fetch(`${url.origin}${url.pathname}/page.js`, { headers: { cookie } });
    expect((await script.text()).length).toBeGreaterThan(1_000);
    expect((await fetch(url)).status).toBe(403);
    serving.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });
});

describe('the built files', () => {
  const installedFolder = join(project, 'node_modules', 'holdpoint');
  const fileOf = (entry: string) => join(installedFolder, manifest.exports[entry].default);

  test('importing the root loads few of them', () => {
    expect(loadedWith(fileOf('.')).files.size).toBeLessThan(12);
  });

  /* Some entries name what only Node has; the table in docs/runtimes.md says which. */
  const anywhere = Object.keys(manifest.exports).filter(
    (entry) => !/package\.json|stores|terminal|otel|testing.store/.test(entry),
  );
  test.each(anywhere)('%s imports no built-in module of Node', (entry) => {
    const packages = [...loadedWith(fileOf(entry)).packages];
    expect(packages.filter((name) => name.startsWith('node:'))).toEqual([]);
  });

  test('no module is in two of them, so entries share its state', () => {
    const sources = builtFrom(join(installedFolder, 'dist')).flatMap((built) => built.sources);
    expect(sources.length).toBeGreaterThan(200);
    expect(sources.filter((source, index) => sources.indexOf(source) !== index)).toEqual([]);
    expect(sources.filter((source) => !existsSync(source))).toEqual([]);
  });

  test('an error of one entry is an instance of the class in another', () => {
    write('instances.ts', instances);
    expect(run(process.execPath, 'instances.ts')).toBe('revision-conflict true\n');
  });
});

const asking = `
import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';

const { model } = scriptedModel([{ calls: [{ id: 'c', name: 'pay', input: { euros: 5 } }] }]);
const pay = tool({ description: 'Pays.', inputSchema: z.object({ euros: z.number() }), execute: async () => 'Paid.' });
using store = sqliteStore('asked.sqlite');
const agent = createAgent({ model, store, tools: { pay }, toolApproval: { pay: 'user-approval' } });
await agent.run('Pay.', await agent.thread('t'));
`;

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

const instances = `
import { HoldpointError } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';

using store = sqliteStore('instances.sqlite');
const end = { revision: 3, hash: 'h' };
const summary = { threadId: 't', status: 'idle', openRequests: 0, failures: 0, updatedAt: 0, ...end } as const;
await store.append('t', { revision: 2, hash: 'g' }, [{ revision: 3, text: '{}' }], summary).catch((error) => {
  console.log(error.code, error.constructor === HoldpointError);
});
`;
