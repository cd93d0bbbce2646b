import { homedir, userInfo } from 'node:os';
import type { Gate, GateOptions } from '../gate.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { inertLine } from '../../content/inert-text.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import { refuseNobody } from './answering-agent.ts';
import { withStore } from './command-store.ts';
import {
  addGateOptions,
  checkGateOptions,
  findHttpPort,
  type GateCommandOptions,
  gateOptionsSchema,
  makeGateArguments,
} from './gate-arguments.ts';
import { type GateEntry, makeClientConfig } from './gate-clients.ts';
import { type GateConfig, makeCommandConfig, readGateConfig } from './gate-config.ts';
import { makeAuthorize, makeGateToken, serveGateOverHttp } from './gate-http.ts';
import { makeObserver } from './gate-observer.ts';
import { askForLink, type GatePage, openGatePage } from './gate-page.ts';
import { reserveOutput, serveGateOverStdio } from './gate-stdio.ts';
import { type LocalKey, openLocalKey } from './local-key.ts';
import {
  type CommandEnd,
  type CommandWorld,
  planCommand,
  toLine,
  UsageError,
} from './run-command.ts';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hashText } from '../../content/crypto.ts';
import { spawn } from 'node:child_process';

/** `holdpoint gate` */
export const addGateCommand = planCommand({
  name: 'gate [command...]',
  summary: 'hold the calls of an MCP server until a person has approved them',
  description:
    'Serve MCP on standard input and output, in front of the server that "-- <command> [args]" starts, or of those in --config. Each call that the rules do not let run waits for a person. The page to answer is on 127.0.0.1; its address is on the standard error.',
  addOptions: addGateOptions,
  statuses: [
    'the client has gone, or ended by Ctrl+C',
    'the store is damaged, or another version wrote it; nothing was served',
    'the arguments, the file or the store are wrong; nothing was served',
  ],
  schema: gateOptionsSchema,
  run: runGate,
});

/** The settings of a running gate. */
interface GateRun {
  options: GateCommandOptions;
  config: GateConfig;
  principal: unknown;
  key: LocalKey;
  world: CommandWorld;
  report: (problem: string) => void;
}

async function runGate(options: GateCommandOptions, world: CommandWorld): Promise<CommandEnd> {
  checkGateOptions(options);
  if (!doesServe(options)) return describeGate(options, world);
  const isStdio = options.http === undefined;
  const output = isStdio ? reserveOutput() : undefined;
  try {
    const run = await prepareRun(options, world);
    return await withGateStore(run, async (store) => {
      const { gate, page } = await openGate(run, store);
      try {
        if (output === undefined) await serveHttp(run, gate);
        else await serveStdio(run, gate, output.wire);
      } finally {
        await gate.close();
        await page.close();
      }
      return { status: 0 };
    });
  } finally {
    output?.release();
  }
}

function doesServe({ printConfig, page }: GateCommandOptions): boolean {
  return printConfig === undefined && page !== true;
}

async function prepareRun(options: GateCommandOptions, world: CommandWorld): Promise<GateRun> {
  const report = (problem: string): void => void world.warn(toLine(`holdpoint gate: ${problem}`));
  const { args, config: file } = options;
  const config =
    file === undefined
      ? await makeCommandConfig(args, options.inheritEnv, process.cwd())
      : await readGateConfig(file, { env: doesServe(options) ? world.env : undefined });
  const principal = options.as ?? userInfo().username;
  refuseNobody(principal, config);
  const { keyFile } = await prepareGateStore(options, world.env);
  return { options, config, principal, key: await openLocalKey(keyFile), world, report };
}

async function withGateStore<RESULT>(
  { options, world }: GateRun,
  use: (store: ThreadStore) => Promise<RESULT>,
): Promise<RESULT> {
  const { named } = await prepareGateStore(options, world.env);
  return withStore(named, world, use, { createSchema: true });
}

/** Opens the gate and its page. Throws the errors of the settings before either serves anything. */
async function openGate(run: GateRun, store: ThreadStore): Promise<{ gate: Gate; page: GatePage }> {
  const { config, key, options, report, world } = run;
  const { name, toolApproval } = config;
  const [{ createGate }, { createInboxHandler }] = await Promise.all([
    importGate(),
    import('../inbox.ts'),
  ]);
  let page: GatePage | undefined;
  const openOnce = makeBrowserOpener(run, () => page);
  const gate = createGate({
    ...config,
    store,
    ...(options.observe === true && {
      toolApproval: makeObserver({ store, name, toolApproval, report }),
    }),
    authorize: makeAuthorize(
      await makeGateToken(key, name),
      { principal: run.principal, header: options.principalHeader },
      world.env,
    ),
    pageUrl: async ({ requestId, shownTo }) => {
      openOnce();
      /* A caller over HTTP may be another person or an agent, who could answer with a link. */
      if (shownTo === 'person' && options.http !== undefined) return undefined;
      const link = shownTo === 'model' ? page?.address : (await page?.makeLink())?.url;
      return link && `${link}#request=${requestId}`;
    },
    onProblem: (problem) => report(describeProblem(problem)),
  } satisfies GateOptions);
  page = await openGatePage({
    key,
    name,
    port: options.port,
    makeHandler: (path) =>
      createInboxHandler({
        agents: gate.agents,
        authorize: () => ({ principal: run.principal }),
        /* The person who runs the command can read and write the store. */
        maySee: () => true,
        maySettle: () => true,
        runNow: gate.runNow,
        path,
      }),
    report,
    now: world.now ?? Date.now,
  });
  await reportPage(run, page);
  return { gate, page };
}

/* The length of an error, in characters. */
const longestError = 500;

type GateProblem = Parameters<NonNullable<GateOptions['onProblem']>>[0];

function describeProblem({ upstream, problem, error }: GateProblem): string {
  const where = upstream === undefined ? '' : `${upstream}: `;
  const why =
    error === undefined ? '' : ` ${inertLine(readErrorText(error).slice(0, longestError))}`;
  return `${where}${problem}${why}`;
}

async function importGate(): Promise<typeof import('../gate.ts')> {
  return import('../gate.ts').catch((cause: unknown) => {
    throw new Error(
      'The gate needs the packages @modelcontextprotocol/server and @modelcontextprotocol/client: install them beside holdpoint.',
      { cause },
    );
  });
}

/* The standard error of a server that a client has started is a file of the client, which its agent may read. */
async function reportPage({ report }: GateRun, page: GatePage): Promise<void> {
  if (process.stderr.isTTY) report(`The page: ${(await page.makeLink()).url}`);
  else
    report(
      `The page: ${page.address} ("${page.linkCommand}", with the other options of this gate, prints a link that opens it.)`,
    );
}

/** Opens the page in the browser for the first call that waits, unless a browser shows it. */
function makeBrowserOpener(
  { options, world, report }: GateRun,
  findPage: () => GatePage | undefined,
): () => void {
  /* Callers over HTTP may be other users of the machine, who could read the link among the arguments of the program that opens it. */
  let isDue =
    options.open ?? (options.http === undefined && hasDesktop(process.platform, world.env));
  const openPage = async (): Promise<void> => {
    const link = await findPage()?.makeLink();
    if (link === undefined || link.isWatched) return;
    openInBrowser(link.url, (error) => report(`No browser could be opened: ${error.message}`));
  };
  return () => {
    if (!isDue) return;
    isDue = false;
    openPage().catch((error: unknown) => report(`The page could not be opened: ${String(error)}`));
  };
}

async function serveStdio(
  run: GateRun,
  gate: Gate,
  wire: Parameters<typeof serveGateOverStdio>[1],
): Promise<void> {
  const { principal, world } = run;
  await Promise.race([serveGateOverStdio(gate, wire, principal), world.untilEnded()]);
}

async function serveHttp({ options, world, report }: GateRun, gate: Gate): Promise<void> {
  const server = await serveGateOverHttp(gate, findHttpPort(options));
  report(`MCP: ${server.url} ("--print-config <client>" prints its token.)`);
  await world.untilEnded();
  await server.close();
}

/** Prints the output of `--print-config` or `--page`. Serves nothing. */
async function describeGate(options: GateCommandOptions, world: CommandWorld): Promise<CommandEnd> {
  const run = await prepareRun(options, world);
  const { config, key } = run;
  if (options.printConfig === undefined) {
    const { port } = options;
    const link = await askForLink({ key, name: config.name, port });
    if (link === undefined)
      throw new Error(
        `No gate of this store with the name ${config.name} serves its page on port ${port}. It does while a client runs the gate; if something else had the port, the standard error of the gate names another one.`,
      );
    return { status: 0, text: link.url, json: { url: link.url } };
  }
  const entry: GateEntry =
    options.http === undefined
      ? { command: process.execPath, args: makeGateArguments(options, world.env) }
      : {
          url: `http://127.0.0.1:${findHttpPort(options)}/mcp`,
          headers: { Authorization: `Bearer ${await makeGateToken(key, config.name)}` },
        };
  const { text, note } = makeClientConfig(options.printConfig, nameEntry(config), entry);
  const words = 'args' in entry ? entry.args : [];
  const isTemporary = words.some((word) => /[/\\]_npx[/\\]/.test(word));
  const notes = [
    note,
    ...(isTemporary ? [temporary] : []),
    ...(options.postgres !== undefined && 'args' in entry ? [needsUrl] : []),
  ];
  return { status: 0, inert: text, warning: notes.join('\n') };
}

/* It may have a password, and configurations are often checked in. */
const needsUrl =
  'The URL of the database is not in it: set DATABASE_URL for this server in the client. One that the client has already is used.';

const temporary =
  'It names a copy of holdpoint in the cache of npx, which may be deleted: install holdpoint, and print it again.';

/* The name of the file; for a command, that of its server. */
function nameEntry({ name, upstreams }: GateConfig): string {
  const [server = name] = Object.keys(upstreams);
  const chosen = name === 'gate' ? server.replace(/-[a-z0-9]+$/, '') : name;
  return chosen.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
}

/** The options of the gate that name its store. */
interface GateStoreOptions {
  store?: string | undefined;
  /** The Postgres database; `true`: the one in `DATABASE_URL`. */
  postgres?: string | true | undefined;
}

/** The store of a gate's threads, and the key that guards its page. */
interface GateStore {
  named: { store: string } | { postgres: string };
  keyFile: string;
}

/**
 * Finds the store of a gate, and makes its file, which only its user can read. `DATABASE_URL` counts only on request: agents run in the
 * folders of projects, whose database it often is.
 */
async function prepareGateStore(
  { store, postgres }: GateStoreOptions,
  env: CommandWorld['env'],
): Promise<GateStore> {
  const folder = join(env['HOME'] || homedir(), '.holdpoint');
  if (postgres !== undefined) {
    const url = postgres === true ? env['DATABASE_URL'] : postgres;
    if (!url) throw new UsageError('--postgres needs a URL, or the variable DATABASE_URL.');
    await makeFolder(folder);
    const digest = await hashText(`holdpoint/gate-key/v1\0${url}`);
    return {
      named: { postgres: url },
      keyFile: join(folder, `gate-${digest.slice(0, 22)}.key`),
    };
  }
  const file = resolve(store ?? (env['HOLDPOINT_STORE'] || join(folder, 'gate.sqlite')));
  await makeFolder(dirname(file));
  const created = await open(file, 'a', 0o600);
  await created.close();
  return { named: { store: file }, keyFile: `${file}.key` };
}

/* An existing one stays as it is. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Checks whether this machine shows windows, as far as can be seen. */
function hasDesktop(platform: string, env: CommandWorld['env']): boolean {
  const isAlways = platform === 'darwin' || platform === 'win32';
  return isAlways || Boolean(env['DISPLAY']) || Boolean(env['WAYLAND_DISPLAY']);
}

/** The program that opens an address in the browser of the user, and its arguments. No shell reads them. */
function findOpener(platform: string, url: string): [program: string, args: string[]] {
  if (platform === 'darwin') return ['open', [url]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}

/** Opens an address of this command in the browser of the user. Other users of the machine may see the arguments of its program. */
function openInBrowser(url: string, onError: (error: Error) => void): void {
  const [program, args] = findOpener(process.platform, url);
  const child = spawn(program, args, { detached: true, stdio: 'ignore' });
  child.once('error', onError);
  child.unref();
}
