import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', 'src');

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const statement = /^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)';/gms;

const imports: Import[] = globSync('**/*.ts', { cwd: source }).flatMap((from) =>
  [...readFileSync(join(source, from), 'utf8').matchAll(statement)].map(([, type, to = '']) => ({
    from,
    to: to.startsWith('.') ? normalize(join(dirname(from), to)) : to,
    isType: type !== undefined,
  })),
);

const room = (file: string): string => file.split('/')[0] ?? file;

/** What each room may import, itself aside (design, part 2). Types count. */
const rooms: Record<string, readonly string[]> = {
  'errors.ts': [],
  content: ['errors.ts'],
  thread: ['content', 'errors.ts'],
  policy: ['content', 'errors.ts'],
  stores: ['thread', 'content', 'errors.ts'],
  testing: ['thread', 'content', 'errors.ts'],
  agent: ['policy', 'thread', 'content', 'errors.ts', 'stores/memory.ts'],
  tools: ['agent', 'content', 'errors.ts'],
  http: ['errors.ts'],
  middleware: ['agent', 'policy', 'thread', 'content', 'errors.ts', 'stores/memory.ts'],
  channels: ['agent', 'thread', 'content', 'errors.ts', 'http', 'tools/interaction.ts'],
  otel: ['thread', 'content', 'errors.ts'],
  'otel.ts': ['otel', 'thread', 'content', 'errors.ts'],
  'worker.ts': ['agent', 'thread', 'content', 'errors.ts'],
  'index.ts': ['agent', 'policy', 'thread', 'content', 'errors.ts', 'stores/memory.ts'],
};

/** The one place, or the few, where each package may be used; a folder stands for its files. `ai` may give types to all. */
const packages: Record<string, readonly string[]> = {
  ai: [
    'agent/model/model-step.ts',
    'agent/model/streaming-model.ts',
    'agent/calls/tool-definitions.ts',
    'agent/model/traced-model.ts',
    'middleware/guarded-call.ts',
    'middleware/heard-model.ts',
    'middleware/inert-tools.ts',
    'tools/question-tool.ts',
    'tools/user-choice.ts',
    'channels/ui/browser/',
    'channels/ui/input/',
    'channels/ui/output/',
    'channels/rap/tool-server/',
  ],
  zod: [],
  'eventsource-encoder': ['channels/ag-ui/'],
  '@ai-sdk/react': ['channels/ui/use-thread-chat.ts'],
  react: ['channels/ui/use-thread-chat.ts'],
  eventemitter3: ['agent/run/agent-events.ts'],
  canonicalize: ['policy/digest.ts'],
  'p-retry': ['channels/rap/', 'channels/rap/tool-server/'],
  standardwebhooks: ['channels/rap/webhook-signatures.ts'],
  '@opentelemetry/api': ['otel.ts', 'otel/'],
  '@clack/core': ['channels/terminal/'],
  'node:readline': ['channels/terminal/key.ts'],
  'node:fs': ['stores/sqlite/sqlite-file.ts'],
  'node:sqlite': ['stores/sqlite/sqlite-file.ts'],
  'node:stream': ['channels/terminal/'],
  'node:timers/promises': ['stores/postgres/keep-listening.ts', 'channels/terminal/'],
  'node:util': ['channels/terminal/paint.ts'],
  'node:assert/strict': ['testing/conformance/'],
};

describe('imports run one way', () => {
  test.each(imports.filter(({ to }) => to.endsWith('.ts')))('$from imports $to', ({ from, to }) => {
    const allowed = rooms[room(from)];
    const ok = room(from) === room(to) || allowed?.some((name) => name === room(to) || name === to);
    expect(ok, `${from} may import ${allowed?.join(', ')} and its own room, not ${to}`).toBe(true);
  });

  test.each(['stores', 'channels'])('of %s none imports another', (name) => {
    const between = imports.filter(
      ({ from, to }) => room(from) === name && room(to) === name && !isOwnPart(from, to),
    );
    expect(between).toEqual([]);
  });
});

/* A store or a channel may be cut into parts: of `stores/postgres.ts` the files below `stores/postgres`. */
function isOwnPart(from: string, to: string): boolean {
  const [, owner] = from.replace(/\.ts$/, '').split('/');
  return to.startsWith(`${room(from)}/${owner}/`);
}

describe('a package is used where the design says', () => {
  test.each(imports.filter(({ to }) => !to.endsWith('.ts')))(
    '$from imports $to',
    ({ from, to, isType }) => {
      const places = packages[to];
      expect(places, `${to} is no package of the design; ${from} imports it`).toBeDefined();
      const anywhere = to === 'zod' || (to === 'ai' && isType);
      expect(
        anywhere || places?.includes(from) || places?.includes(`${dirname(from)}/`),
        `${to} is for ${places?.join(', ')}, not ${from}`,
      ).toBe(true);
    },
  );
});

test('the root entry reaches nothing that only Node has', () => {
  const reached = new Set(['index.ts']);
  for (const file of reached) {
    for (const { from, to } of imports) if (from === file) reached.add(to);
  }
  expect([...reached].filter((name) => name.startsWith('node:'))).toEqual([]);
});
