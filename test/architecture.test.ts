import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';

const source = join(import.meta.dirname, '..', 'src');

interface Import {
  from: string;
  to: string;
  isType: boolean;
  isLazy: boolean;
}

const texts = new Map(
  globSync('**/*.{ts,tsx}', { cwd: source }).map((file) => [
    file,
    readFileSync(join(source, file), 'utf8'),
  ]),
);

const statement = /^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)';/gms;

const computed = 'a computed path';

/* What is loaded on first use. The type of a module, `typeof import('…')`, loads nothing. */
const lazyImport = /(typeof\s+)?\bimport\(\s*(?:'([^']+)')?/g;

const imports: Import[] = [...texts].flatMap(([from, text]) =>
  [
    ...[...text.matchAll(statement)].map(([, type, to = '']) => ({
      to,
      isType: type !== undefined,
      isLazy: false,
    })),
    ...[...text.matchAll(lazyImport)].map(([, type, to = computed]) => ({
      to,
      isType: type !== undefined,
      isLazy: type === undefined,
    })),
  ].map(({ to, ...kind }) => ({
    from,
    to: to.startsWith('.') ? normalize(join(dirname(from), to)) : to,
    ...kind,
  })),
);
const isOwn = ({ to }: Import): boolean => /\.tsx?$/.test(to);
const ownImports = imports.filter(isOwn);
const packageImports = imports.filter((each) => !isOwn(each));

const below = ['thread', 'policy', 'content', 'json', 'errors.ts'];

const forApps = ['browser', 'agent.ts', 'view', 'thread', 'content', 'json', 'errors.ts', 'http'];

/** What each room may import beside itself and the rooms in it. Types count. */
const rooms: Record<string, readonly string[]> = {
  'errors.ts': [],
  json: ['errors.ts'],
  content: ['json', 'errors.ts'],
  thread: ['content', 'json', 'errors.ts'],
  policy: ['content', 'json', 'errors.ts'],
  browser: [],
  stores: ['thread', 'content', 'json', 'errors.ts'],
  testing: ['thread', 'content', 'json', 'errors.ts'],
  'agent.ts': ['agent'],
  agent: [...below, 'stores/memory.ts'],
  'agent/custom': ['agent', ...below],
  'agent/acts': ['agent/run', 'agent/input', 'agent/calls', ...below],
  'agent/run': ['agent/input', 'agent/calls', 'agent/model', ...below],
  'agent/input': ['agent/calls', 'agent/model', ...below],
  'agent/calls': ['agent/model', ...below],
  'agent/model': below,
  tools: ['agent.ts', ...below],
  audit: ['thread', 'content', 'json', 'errors.ts'],
  backtest: ['agent.ts', ...below],
  'apps/command': [
    'agent.ts',
    'agent/custom.ts',
    'backtest',
    'apps/inbox.ts',
    'apps/gate.ts',
    'channels/terminal.ts',
    'http/read-json-body.ts',
    'http/error-response.ts',
    'stores',
    'view/state-words.ts',
    'worker',
    ...below,
  ],
  http: ['content/check-settings.ts', 'json/field-fault.ts', 'errors.ts', 'agent.ts'],
  view: ['agent.ts', 'thread', 'content', 'json', 'errors.ts'],
  middleware: ['agent.ts', 'view', ...below, 'stores/memory.ts'],
  channels: [...forApps, 'tools/interaction.ts'],
  apps: [
    ...forApps,
    'agent/custom.ts',
    'tools/ask-elicitations.ts',
    'tools/elicitation.ts',
    'policy/digest.ts',
  ],
  engines: ['agent.ts', 'stores/postgres.ts', 'thread', 'content', 'json', 'errors.ts'],
  otel: ['thread', 'content', 'json', 'errors.ts'],
  'otel.ts': ['otel', 'thread', 'content', 'json', 'errors.ts'],
  worker: ['thread', 'content', 'json', 'errors.ts'],
  'worker.ts': ['worker', 'agent.ts', 'thread', 'content', 'json', 'errors.ts'],
  'schemas.ts': ['thread', 'content', 'json'],
  'index.ts': ['agent.ts', 'view/group-requests.ts', ...below, 'stores/memory.ts', 'http'],
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

/** `agent` for `agent/calls/delegation.ts`, and for its door. */
const firstLevelOf = (file: string) => file.replace(/\.ts$/, '').split('/')[0];

const crossesRooms = ({ from, to }: Import): boolean => firstLevelOf(from) !== firstLevelOf(to);

test("only a room's own top-level files are imported from outside", () => {
  const offenders = ownImports.filter(
    (each) => crossesRooms(each) && each.to.split('/').length > 2,
  );
  expect(offenders.map(shown)).toEqual([]);
});

/* All stores share `stores/rows`, SQL stores `stores/sql`, and the store in a file is one on a driver. */
const sharedByStores = ['stores/rows', 'stores/sql', 'stores/sqlite-on.ts'];

/* The command serves the inbox and the gate. */
const isCommand = (file: string): boolean => isIn(file, 'apps/command');

/** Whether a file has a sub-room of the same name beside it, as `channels/terminal.ts` has `channels/terminal`. */
function isDoor(file: string): boolean {
  const subRoom = file.replace(/\.ts$/, '');
  return [...texts.keys()].some((other) => other !== file && isIn(other, subRoom));
}

test('nobody in a room takes its doors', () => {
  const offenders = ownImports.filter(
    (each) =>
      !crossesRooms(each) &&
      isDoor(each.to) &&
      !sharedByStores.includes(each.to) &&
      !isCommand(each.from),
  );
  expect(offenders.map(shown)).toEqual([]);
});

/** Whose part a file is: what is in `stores/postgres` belongs to `stores/postgres.ts`. */
const ownerOf = (file: string) => file.replace(/\.ts$/, '').split('/')[1];

test('only SQL stores import what SQL stores share', () => {
  const offenders = ownImports.filter(
    ({ from, to }) =>
      isIn(to, 'stores/sql') && ['memory', 'derive', 'rows'].includes(ownerOf(from) ?? ''),
  );
  expect(offenders.map(shown)).toEqual([]);
});

test.each(['stores', 'channels', 'engines', 'apps'])('of %s none imports another', (room) => {
  const offenders = ownImports.filter(
    ({ from, to }) =>
      isIn(from, room) &&
      isIn(to, room) &&
      ownerOf(from) !== ownerOf(to) &&
      !isCommand(from) &&
      !sharedByStores.some((shared) => isIn(to, shared)),
  );
  expect(offenders.map(shown)).toEqual([]);
});

/** Where each package may be used. */
const packages: Record<string, readonly string[]> = {
  '@cfworker/json-schema': ['json'],
  ai: [
    'agent/model',
    'agent/calls/tool-definitions.ts',
    'agent/calls/input-validation.ts',
    'agent/custom',
    'middleware',
    'tools',
    'channels/ui',
    'channels/rap/tool-server',
    'apps/gate',
  ],
  zod: Object.keys(rooms),
  eventemitter3: ['agent/run/agent-events.ts', 'stores/rows/notices.ts'],
  tinyqueue: ['stores/memory.ts'],
  'eventsource-encoder': ['channels/ag-ui', 'apps/inbox'],
  '#inbox-page': ['apps/inbox/serve-page.ts'],
  rolldown: ['apps/inbox/build-page.ts'],
  '@ai-sdk/react': ['channels/ui'],
  react: ['channels/ui'],
  canonicalize: ['policy'],
  jose: ['apps/links'],
  '@modelcontextprotocol/client': ['apps/gate'],
  '@modelcontextprotocol/client/stdio': ['apps/gate'],
  '@modelcontextprotocol/server': ['apps/gate'],
  '@modelcontextprotocol/server/stdio': ['apps/gate', 'apps/command/gate-stdio.ts'],
  immer: ['content/approval.ts', 'agent/input/answer-edit.ts'],
  '@dbos-inc/dbos-sdk': ['engines/dbos.ts'],
  'graphile-worker': ['engines/graphile-worker.ts'],
  standardwebhooks: ['channels/rap'],
  '@opentelemetry/api': ['otel.ts', 'otel'],
  'fast-wrap-ansi': ['channels/terminal'],
  pg: ['apps/command'],
  commander: ['apps/command'],
  'diff/lib/diff/array.js': ['apps/inbox/page'],
  preact: ['apps/inbox/page'],
  'preact/hooks': ['apps/inbox/page'],
  [computed]: ['apps/command'],
  'node:readline': ['channels/terminal'],
  'node:fs': ['stores/sqlite', 'channels/terminal'],
  'node:os': ['channels/terminal', 'apps/command'],
  'node:child_process': ['channels/terminal', 'apps/command'],
  'node:fs/promises': ['apps/command', 'apps/inbox/build-page.ts'],
  'node:path': ['apps/command', 'channels/terminal'],
  'node:sqlite': ['stores/sqlite'],
  'node:events': ['apps/command'],
  'node:http': ['apps/command'],
  'node:stream': ['channels/terminal', 'apps/command'],
  'node:stream/promises': ['apps/command'],
  'node:timers/promises': ['stores/postgres', 'channels/terminal'],
  'node:url': ['apps/command', 'apps/inbox/build-page.ts'],
  'node:util': ['channels/terminal'],
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
  'jose',
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

/** These files and what they import, and so on. Types count. */
function reachedBy(entries: readonly string[]): string[] {
  const reached = new Set(entries);
  for (const file of reached) {
    for (const { from, to } of imports) if (from === file) reached.add(to);
  }
  return [...reached];
}

test.each(['index.ts', 'stores/sqlite-on.ts'])('%s reaches nothing that only Node has', (entry) => {
  expect(reachedBy([entry]).filter((name) => name.startsWith('node:'))).toEqual([]);
});

test('what runs in a page reaches no thread and no agent', () => {
  const entries = [...texts.keys()].filter((file) => isIn(file, 'channels/ui/browser'));
  const reached = reachedBy([...entries, 'channels/ui/use-thread-chat.ts']);
  const own = reached.filter((file) => texts.has(file));
  const allowed = [
    'channels/ui',
    'browser',
    'view/answer-form.ts',
    'view/edited-input.ts',
    'view/group-requests.ts',
    'view/request-card.ts',
    'view/state-words.ts',
    'content',
    'json',
    'errors.ts',
  ];
  expect(own.filter((file) => !allowed.some((room) => isIn(file, room)))).toEqual([]);
});

/* Types and lazy imports count: whoever reads one file of a circle has to read them all. */
test('no files import each other in a circle', () => {
  const imported = new Map<string, string[]>();
  for (const { from, to } of ownImports) imported.set(from, [...(imported.get(from) ?? []), to]);
  const reachedFrom = new Map(
    [...texts.keys()].map((file) => {
      const reached = new Set(imported.get(file));
      for (const each of reached) for (const next of imported.get(each) ?? []) reached.add(next);
      return [file, reached];
    }),
  );
  const isBehind = (file: string, other: string): boolean =>
    reachedFrom.get(file)?.has(other) === true;
  const offenders = ownImports.filter(({ from, to }) => isBehind(to, from));
  expect(offenders.map(shown)).toEqual([]);
});

/**
 * What is loaded on first use, and why. While a process lives, its package may be replaced by another version, whose files have other
 * names: what an answer needs must have been loaded before.
 */
const lazyImports: Record<string, string> = {
  'apps/gate/serve-stdio.ts imports @modelcontextprotocol/server/stdio': 'only on Node',
  'apps/command/gate-command.ts imports apps/inbox.ts': 'its page, before it is served',
  'apps/command/gate-command.ts imports apps/gate.ts': 'optional peers, before it serves',
  'apps/command/gate-stdio.ts imports @modelcontextprotocol/server/stdio': 'as before it serves',
  'apps/command/inbox-command.ts imports apps/inbox.ts': 'its page, before it is served',
  'apps/command/command-store.ts imports stores/sqlite.ts': 'only for a file',
  'apps/command/command-store.ts imports stores/postgres.ts': 'only for a database',
  [`apps/command/rules-file.ts imports ${computed}`]: "the user's rules",
  'apps/command/command-store.ts imports pg': 'an optional peer, only for a database',
};

test('only what no answer needs is loaded lazily', () => {
  const found = imports.filter(({ isLazy }) => isLazy).map(shown);
  expect(found.toSorted()).toEqual(Object.keys(lazyImports).toSorted());
});

/* Whatever is ours is counted, so each of these must be somebody else's. */
test('sizes are measured whole, of each entry', () => {
  const { exports: entries, 'size-limit': limits } = z
    .object({
      exports: z.record(z.string(), z.unknown()),
      'size-limit': z.array(
        z.object({ name: z.string(), ignore: z.array(z.string()).default([]) }),
      ),
    })
    .parse(JSON.parse(readFileSync(join(source, '..', 'package.json'), 'utf8')));
  const ignored = limits.flatMap(({ name, ignore }) =>
    ignore.filter((each) => packages[each] === undefined).map((each) => `${name} ignores ${each}`),
  );
  expect(ignored).toEqual([]);
  const measured = new Set(limits.map(({ name }) => name));
  const names = Object.keys(entries).map((entry) => entry.replace('.', 'holdpoint'));
  const notMeasured = ['holdpoint/testing/store', 'holdpoint/package.json'];
  expect(names.filter((name) => !measured.has(name))).toEqual(notMeasured);
});

test('no name is exported by two files, apart from doors and entries that pass it on', () => {
  const declaration = /^export (?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm;
  const declared = [...texts].flatMap(([file, text]) =>
    [...new Set([...text.matchAll(declaration)].map(([, name = '']) => name))].map((name) => ({
      name,
      file,
    })),
  );
  const twice = [...Map.groupBy(declared, ({ name }) => name)].filter(
    ([, places]) => places.length > 1,
  );
  expect(twice).toEqual([]);
});

/* Whoever sent a value says how many faults it has, and how long their texts are. */
test('what a schema found becomes a text in one place, which cuts it', () => {
  const users = [...texts].filter(([, text]) =>
    /prettifyError|toFlattened|treeifyError/.test(text),
  );
  expect(users.map(([file]) => file)).toEqual(['json/field-fault.ts']);
});

test('no file is longer than 400 lines', () => {
  const lengths = [...texts].map(([file, text]) => ({ file, lines: text.split('\n').length - 1 }));
  const tooLong = lengths.filter(({ lines }) => lines > 400);
  expect(tooLong).toEqual([]);
});

/* They switch on strings, or on unions of the language and of other packages, which may grow without us. */
const switchesWithDefault = [
  'agent/model/streaming-model.ts',
  'channels/ag-ui/client-messages.ts',
  'channels/rap/tool-server/create-tool-server.ts',
  'channels/terminal/entry-list.ts',
  'channels/terminal/free-text.ts',
  'channels/terminal/screen-dialog.ts',
  'channels/ui/input/user-message.ts',
  'channels/ui/input/page-input.ts',
  'middleware/run-parts.ts',
  'json/strict-json.ts',
  'json/tagged-json.ts',
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
