import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '..', 'src');

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const texts = new Map(
  globSync('**/*.ts', { cwd: source }).map((file) => [
    file,
    readFileSync(join(source, file), 'utf8'),
  ]),
);

const statement = /^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)';/gms;

/* What is loaded on first use. */
const lazyImport = /import\((?:\s*)'([^']+)'\)/g;

const imports: Import[] = [...texts].flatMap(([from, text]) =>
  [
    ...[...text.matchAll(statement)].map(([, type, to = '']) => ({
      to,
      isType: type !== undefined,
    })),
    ...[...text.matchAll(lazyImport)].map(([, to = '']) => ({ to, isType: false })),
  ].map(({ to, isType }) => ({
    from,
    to: to.startsWith('.') ? normalize(join(dirname(from), to)) : to,
    isType,
  })),
);
const ownImports = imports.filter(({ to }) => to.endsWith('.ts'));
const packageImports = imports.filter(({ to }) => !to.endsWith('.ts'));

const below = ['thread', 'policy', 'content', 'errors.ts'];

/** What each room may import beside itself and the rooms in it. Types count. */
const rooms: Record<string, readonly string[]> = {
  'errors.ts': [],
  content: ['errors.ts'],
  thread: ['content', 'errors.ts'],
  policy: ['content', 'errors.ts'],
  stores: ['thread', 'content', 'errors.ts'],
  testing: ['thread', 'content', 'errors.ts'],
  agent: [...below, 'stores/memory.ts'],
  'agent/custom': ['agent', ...below],
  'agent/run': ['agent/input', 'agent/calls', 'agent/model', ...below],
  'agent/input': ['agent/calls', 'agent/model', ...below],
  'agent/calls': ['agent/model', ...below],
  'agent/model': below,
  tools: ['agent', ...below],
  audit: ['thread', 'content', 'errors.ts'],
  backtest: ['agent/calls', ...below],
  command: ['backtest', 'stores', ...below],
  http: ['content/refuse-unknown.ts', 'errors.ts', 'agent/sign-in.ts'],
  view: ['agent', 'thread', 'content', 'errors.ts'],
  middleware: ['agent', ...below, 'stores/memory.ts'],
  channels: ['agent', 'view', 'thread', 'content', 'errors.ts', 'http', 'tools/interaction.ts'],
  engines: ['agent', 'stores/postgres/wake.ts', 'thread', 'content', 'errors.ts'],
  otel: ['thread', 'content', 'errors.ts'],
  'otel.ts': ['otel', 'thread', 'content', 'errors.ts'],
  'custom-agent.ts': ['agent/custom'],
  'worker.ts': ['agent', 'thread', 'content', 'errors.ts'],
  'schemas.ts': ['thread', 'content'],
  'index.ts': ['agent', ...below, 'stores/memory.ts', 'http'],
};

const isIn = (file: string, room: string): boolean => file === room || file.startsWith(`${room}/`);

/** The innermost room that a file is in. */
function roomOf(file: string): string {
  const around = Object.keys(rooms).filter((room) => isIn(file, room));
  return around.toSorted((one, other) => other.length - one.length)[0] ?? 'no room';
}

const shown = ({ from, to }: Import): string => `${from} imports ${to}`;

test('rooms import one way', () => {
  const offenders = ownImports.filter(({ from, to }) => {
    const room = roomOf(from);
    return ![room, ...(rooms[room] ?? [])].some((allowed) => isIn(to, allowed));
  });
  expect(offenders.map(shown)).toEqual([]);
});

/** Whose part a file is: what is in `stores/postgres` belongs to `stores/postgres.ts`. */
const ownerOf = (file: string) => file.replace(/\.ts$/, '').split('/')[1];

/* SQL stores share `stores/sql`, and the store in a file is one on a driver. */
const sharedByStores = ['stores/sql', 'stores/sqlite-on.ts'];

test.each(['stores', 'channels', 'engines'])('of %s none imports another', (room) => {
  const offenders = ownImports.filter(
    ({ from, to }) =>
      isIn(from, room) &&
      isIn(to, room) &&
      ownerOf(from) !== ownerOf(to) &&
      !sharedByStores.some((shared) => isIn(to, shared)),
  );
  expect(offenders.map(shown)).toEqual([]);
});

/** Where each package may be used. */
const packages: Record<string, readonly string[]> = {
  '@cfworker/json-schema': ['agent/calls'],
  ai: [
    'agent/model',
    'agent/calls/tool-definitions.ts',
    'agent/calls/input-validation.ts',
    'agent/calls/schema-json.ts',
    'agent/custom',
    'middleware',
    'tools',
    'channels/ui',
    'channels/rap/tool-server',
  ],
  zod: Object.keys(rooms),
  eventemitter3: ['agent/run/agent-events.ts', 'stores/sql/notices.ts'],
  'eventsource-encoder': ['channels/ag-ui'],
  '@ai-sdk/react': ['channels/ui'],
  react: ['channels/ui'],
  canonicalize: ['policy'],
  immer: ['content/edited-input.ts', 'agent/input/answer-edit.ts'],
  '@dbos-inc/dbos-sdk': ['engines/dbos.ts', 'engines/dbos/overdue-workflows.ts'],
  'graphile-worker': ['engines/graphile-worker.ts'],
  standardwebhooks: ['channels/rap'],
  '@opentelemetry/api': ['otel.ts', 'otel'],
  'fast-wrap-ansi': ['channels/terminal'],
  pg: ['command'],
  'node:readline': ['channels/terminal'],
  'node:fs': ['stores/sqlite', 'channels/terminal'],
  'node:os': ['channels/terminal'],
  'node:child_process': ['channels/terminal'],
  'node:fs/promises': ['command'],
  'node:path': ['command', 'channels/terminal'],
  'node:sqlite': ['stores/sqlite'],
  'node:stream': ['channels/terminal'],
  'node:timers/promises': ['stores/postgres', 'channels/terminal'],
  'node:url': ['command'],
  'node:util': ['channels/terminal', 'command'],
  'node:assert/strict': ['testing/conformance'],
};

test('each package is used in its rooms; types of `ai` may be used in all', () => {
  const offenders = packageImports.filter(({ from, to, isType }) => {
    const isTypeOfAi = to === 'ai' && isType;
    return !isTypeOfAi && packages[to]?.some((room) => isIn(from, room)) !== true;
  });
  expect(offenders.map(shown)).toEqual([]);
});

/* What is replaced as a whole when another package does it better, or only runs on Node. */
const usedInOneFile = [
  '@ai-sdk/react',
  'canonicalize',
  'node:readline',
  'node:sqlite',
  'react',
  'standardwebhooks',
];

test('some packages are used in one file', () => {
  const files = usedInOneFile.map((name) => {
    const users = packageImports.filter(({ to }) => to === name).map(({ from }) => from);
    return { name, files: [...new Set(users)] };
  });
  expect(files.filter((used) => used.files.length !== 1)).toEqual([]);
});

test.each(['index.ts', 'stores/sqlite-on.ts'])('%s reaches nothing that only Node has', (entry) => {
  const reached = new Set([entry]);
  for (const file of reached) {
    for (const { from, to } of imports) if (from === file) reached.add(to);
  }
  expect([...reached].filter((name) => name.startsWith('node:'))).toEqual([]);
});

test('no file is longer than 250 lines', () => {
  const lengths = [...texts].map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }));
  const tooLong = lengths.filter(({ lines }) => lines > 250);
  expect(tooLong).toEqual([]);
});

/* They switch on strings, or on unions of the language and of other packages, which may grow without us. */
const switchesWithDefault = [
  'agent/model/collected-response.ts',
  'agent/model/streaming-model.ts',
  'channels/ag-ui/input/client-history.ts',
  'channels/ag-ui/output/step-messages.ts',
  'channels/rap/tool-server/handle-request.ts',
  'channels/terminal/entry-list.ts',
  'channels/terminal/free-text.ts',
  'channels/terminal/pager.ts',
  'channels/terminal/text-buffer.ts',
  'channels/ui/input/attachment.ts',
  'channels/ui/input/page-input.ts',
  'channels/ui/output/imported-messages.ts',
  'channels/ui/output/step-parts.ts',
  'middleware/recorded-steps.ts',
  'middleware/run-parts.ts',
  'policy/strict-json.ts',
  'thread/tagged-json.ts',
];

test('a switch on a union of ours has no default, so that a new member does not compile', () => {
  const files = [...texts].filter(([, text]) =>
    /^ +default:/m.test(text.replaceAll(/^ +default: \S.*$/gm, '')),
  );
  const offenders = files
    .map(([file]) => file)
    .filter((file) => !switchesWithDefault.includes(file));
  expect(offenders).toEqual([]);
});
