import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Gate, GateOptions } from '../channels/mcp.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import { parsePrincipal, refuseNobody } from './answering-agent.ts';
import { withStore } from './command-store.ts';
import { gateClients, makeClientConfig } from './gate-clients.ts';
import { type GateConfig, makeCommandConfig, readGateConfig } from './gate-config.ts';
import { makeAuthorize, makeGateToken, serveGateOverHttp } from './gate-http.ts';
import { describeServers, makeGateInbox } from './gate-inbox.ts';
import { makeObserver } from './gate-observer.ts';
import { askForLink, defaultPagePort, type GatePage, openGatePage } from './gate-page.ts';
import { reserveOutput, serveGateOverStdio } from './gate-stdio.ts';
import { prepareGateStore } from './gate-store.ts';
import { hasDesktop, openInBrowser } from './local-browser.ts';
import { type LocalKey, openLocalKey } from './local-key.ts';
import { parsePort } from './local-server.ts';
import {
  type CommandEnd,
  type CommandWorld,
  planCommand,
  toLine,
  UsageError,
} from './run-command.ts';

const defaultHttpPort = 4647;

const optionsSchema = z.object({
  args: z.array(z.string()),
  config: z.string().optional(),
  inheritEnv: z.array(z.string()),
  store: z.string().optional(),
  postgres: z.union([z.string(), z.literal(true)]).optional(),
  as: z.json().optional(),
  port: z.number(),
  open: z.boolean().optional(),
  page: z.boolean().optional(),
  printConfig: z.enum(gateClients).optional(),
  observe: z.boolean().optional(),
  http: z.union([z.number(), z.literal(true)]).optional(),
  principalHeader: z.string().optional(),
});

type GateCommandOptions = z.infer<typeof optionsSchema>;

/** `holdpoint gate` */
export const addGateCommand = planCommand({
  name: 'gate [command...]',
  summary: 'hold the calls of an MCP server until a person has approved them',
  description:
    'Serve MCP on standard input and output, in front of the server that "-- <command> [args]" starts, or of those in --config. Each call that the rules do not let run waits for a person. The page to answer is on 127.0.0.1; its address is on the standard error.',
  addOptions,
  statuses: [
    'the client has gone, or ended by Ctrl+C',
    'not used',
    'the arguments, the file or the store are wrong; nothing was served',
  ],
  schema: optionsSchema,
  run: runGate,
});

function addOptions(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'servers and rules: JSON (schemas/gate.json), or JavaScript or TypeScript that exports { name, upstreams, toolApproval, mayAnswer } as its default; without it, every call asks',
    )
    .option(
      '--inherit-env <name>',
      'a variable of the environment that the server gets too, besides PATH, HOME and the like; can be repeated',
      (name: string, others: string[]) => [...others, name],
      [],
    )
    .addOption(
      new Option(
        '--store <file>',
        'the SQLite file of the calls; default: the environment variable HOLDPOINT_STORE, or ~/.holdpoint/gate.sqlite',
      ).conflicts('postgres'),
    )
    .option(
      '--postgres [url]',
      'the database of the calls, which needs the package pg; default: the environment variable DATABASE_URL',
    )
    .option(
      '--as <principal>',
      'whose name calls and answers carry; default: the user of this machine',
      parsePrincipal,
    )
    .option('--port <port>', 'the port of the page', parsePort, defaultPagePort)
    .option(
      '--open',
      'open the page in the browser when the first call waits; default on a desktop',
    )
    .option('--no-open', 'never open a browser')
    .option(
      '--page',
      'print a link to the page of the gates with this store, port and file, and end',
    )
    .addOption(
      new Option(
        '--print-config <client>',
        'print the configuration for a client, and end',
      ).choices(gateClients),
    )
    .option('--observe', 'run every call, and record what would have been asked')
    .option(
      '--http [port]',
      `serve streamable HTTP on 127.0.0.1 for several clients instead; default port ${defaultHttpPort}`,
      parsePort,
    )
    .option(
      '--principal-header <name>',
      'with --http: the header in which a proxy names the caller; it needs the variable HOLDPOINT_PROXY_SECRET',
      parseHeaderName,
    );
}

function parseHeaderName(text: string): string {
  if (/^[a-z0-9-]{1,100}$/i.test(text) && text.toLowerCase() !== 'authorization') return text;
  throw new InvalidArgumentError('It must be the name of a header.');
}

/** What a gate runs with. */
interface GateRun {
  options: GateCommandOptions;
  config: GateConfig;
  principal: unknown;
  key: LocalKey;
  world: CommandWorld;
  report: (problem: string) => void;
}

async function runGate(options: GateCommandOptions, world: CommandWorld): Promise<CommandEnd> {
  checkOptions(options);
  if (options.printConfig !== undefined || options.page === true)
    return describeGate(options, world);
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

function checkOptions(options: GateCommandOptions): void {
  const { args, config, inheritEnv, page, http, principalHeader } = options;
  const named = (args.length > 0 ? 1 : 0) + (config === undefined ? 0 : 1);
  /* The page of all gates in front of a command is the same. */
  if (named > 1 || (named === 0 && page !== true))
    throw new UsageError(
      'Name the server behind the gate: holdpoint gate -- <command> [args]; or pass --config <file> alone.',
    );
  if (config !== undefined && inheritEnv.length > 0)
    throw new UsageError('With --config, servers have inheritEnv in the file.');
  if (principalHeader !== undefined && http === undefined)
    throw new UsageError('--principal-header needs --http.');
}

async function prepareRun(options: GateCommandOptions, world: CommandWorld): Promise<GateRun> {
  const report = (problem: string): void => void world.warn(toLine(`holdpoint gate: ${problem}`));
  const { args, config: file } = options;
  const config =
    file === undefined
      ? await makeCommandConfig(args, options.inheritEnv)
      : await readGateConfig(file, { env: world.env, report });
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

/** Opens the gate and its page. What is wrong with the settings is thrown before either serves anybody. */
async function openGate(run: GateRun, store: ThreadStore): Promise<{ gate: Gate; page: GatePage }> {
  const { config, key, options, report, world } = run;
  const { name, toolApproval } = config;
  const [{ createGate }, { createInboxHandler }] = await Promise.all([
    importGate(),
    import('../channels/inbox.ts'),
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
      { principal: run.principal, header: options.principalHeader, place: describePlace(run) },
      world.env,
    ),
    pageUrl: async ({ requestId, shownTo }) => {
      openOnce();
      const link = shownTo === 'model' ? page?.address : (await page?.makeLink())?.url;
      return link && `${link}#request=${requestId}`;
    },
    onProblem: ({ upstream, problem }) =>
      report(upstream === undefined ? problem : `${upstream}: ${problem}`),
  } satisfies GateOptions);
  page = await openGatePage({
    key,
    name,
    port: options.port,
    makeHandler: (path) =>
      createInboxHandler({
        ...makeGateInbox({ gate, principal: run.principal, servers: describeServers(config) }),
        path,
      }),
    report,
    now: world.now,
  });
  await reportPage(run, page);
  return { gate, page };
}

async function importGate(): Promise<typeof import('../channels/mcp.ts')> {
  return import('../channels/mcp.ts').catch((cause: unknown) => {
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
      `The page: ${page.address} ("npx holdpoint gate --page", with the options of this gate, prints a link that opens it.)`,
    );
}

/** Opens the page in the browser for the first call that waits, unless a browser shows it. */
function makeBrowserOpener(
  { options, world, report }: GateRun,
  findPage: () => GatePage | undefined,
): () => void {
  let isDue = options.open ?? hasDesktop(process.platform, world.env);
  const open = async (): Promise<void> => {
    const link = await findPage()?.makeLink();
    if (link === undefined || link.isWatched) return;
    openInBrowser(link.url, (error) => report(`No browser could be opened: ${error.message}`));
  };
  return () => {
    if (!isDue) return;
    isDue = false;
    open().catch((error: unknown) => report(`The page could not be opened: ${String(error)}`));
  };
}

/* The same call of gates in front of other servers is another call. */
function describePlace({ config, options }: GateRun): string {
  const servers = describeServers(config);
  return options.http === undefined ? `${process.cwd()} ${servers}` : servers;
}

async function serveStdio(
  run: GateRun,
  gate: Gate,
  wire: Parameters<typeof serveGateOverStdio>[1],
): Promise<void> {
  const caller = { principal: run.principal, place: describePlace(run) };
  await Promise.race([serveGateOverStdio(gate, wire, caller), run.world.untilEnded()]);
}

async function serveHttp({ options, world, report }: GateRun, gate: Gate): Promise<void> {
  const port = typeof options.http === 'number' ? options.http : defaultHttpPort;
  const server = await serveGateOverHttp(gate, port);
  report(`MCP: ${server.url} ("--print-config <client>" prints its token.)`);
  await world.untilEnded();
  await server.close();
}

/** Prints what `--print-config` or `--page` asks for. Serves nothing. */
async function describeGate(options: GateCommandOptions, world: CommandWorld): Promise<CommandEnd> {
  const run = await prepareRun(options, world);
  const { config, key } = run;
  if (options.printConfig === undefined) {
    const { port } = options;
    const link = await askForLink({ key, name: config.name, port });
    if (link === undefined)
      throw new Error(
        `No gate of this store with the name ${config.name} serves its page on port ${port}. It does while a client runs the gate.`,
      );
    return { status: 0, text: link.url, json: { url: link.url } };
  }
  const entry =
    options.http === undefined
      ? { command: process.execPath, args: makeArguments(options) }
      : {
          url: `http://127.0.0.1:${typeof options.http === 'number' ? options.http : defaultHttpPort}/mcp`,
          headers: { Authorization: `Bearer ${await makeGateToken(key, config.name)}` },
        };
  const { text, note } = makeClientConfig(options.printConfig, nameEntry(config), entry);
  return { status: 0, inert: text, warning: note };
}

/* A file's own name; of a command, that of its server. */
function nameEntry({ name, upstreams }: GateConfig): string {
  const [server = name] = Object.keys(upstreams);
  const chosen = name === 'gate' ? server.replace(/-[a-z0-9]+$/, '') : name;
  return chosen.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
}

const isRelative = (word: string): boolean => /^\.{1,2}(\/|\\|$)/.test(word);

/** The arguments that start this gate from any folder. */
function makeArguments(options: GateCommandOptions): string[] {
  const { args, config, inheritEnv, store, postgres, as, port, open, observe } = options;
  const script = process.argv[1] ?? 'holdpoint';
  return [
    ...process.execArgv,
    resolve(script),
    'gate',
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    ...inheritEnv.flatMap((name) => ['--inherit-env', name]),
    ...(store === undefined ? [] : ['--store', resolve(store)]),
    ...(postgres === undefined ? [] : ['--postgres']),
    ...(as === undefined ? [] : ['--as', typeof as === 'string' ? as : JSON.stringify(as)]),
    ...(port === defaultPagePort ? [] : ['--port', String(port)]),
    ...(open === undefined ? [] : [open ? '--open' : '--no-open']),
    ...(observe === true ? ['--observe'] : []),
    ...(args.length === 0
      ? []
      : ['--', ...args.map((word) => (isRelative(word) ? resolve(word) : word))]),
  ];
}
