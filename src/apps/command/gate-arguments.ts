import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { parsePrincipal } from './answering-agent.ts';
import { gateClients } from './gate-clients.ts';
import { defaultPagePort } from './gate-page.ts';
import { parsePort } from './local-server.ts';
import { type CommandWorld, UsageError } from './run-command.ts';

const defaultHttpPort = 4647;

/** Parses the options of `addGateOptions`, and the arguments. */
export const gateOptionsSchema = z.object({
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

/** The options and arguments of the command. */
export type GateCommandOptions = z.infer<typeof gateOptionsSchema>;

/** Adds the options of `holdpoint gate`. */
export function addGateOptions(command: Command): Command {
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
      'open the page in the browser when the first call waits; default on a desktop, without --http',
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

/** Throws a `UsageError` for options that contradict each other. */
export function checkGateOptions(options: GateCommandOptions): void {
  const { args, config, inheritEnv, page, printConfig, http, principalHeader } = options;
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
  if (principalHeader !== undefined && printConfig !== undefined)
    throw new UsageError(
      'With --principal-header, clients have an address and a sign-in of your proxy.',
    );
}

/** The port of `--http`. */
export function findHttpPort({ http }: Pick<GateCommandOptions, 'http'>): number {
  return typeof http === 'number' ? http : defaultHttpPort;
}

const isRelative = (word: string): boolean => /^\.{1,2}(\/|\\|$)/.test(word);

/** The arguments that start this gate from any folder. The client that starts it may not have the variable that names the store here. */
export function makeGateArguments(options: GateCommandOptions, env: CommandWorld['env']): string[] {
  const { args, config, inheritEnv, postgres, as, port, open, observe } = options;
  const { store = postgres === undefined ? env['HOLDPOINT_STORE'] : undefined } = options;
  const script = process.argv[1] ?? 'holdpoint';
  return [
    ...process.execArgv,
    resolve(script),
    'gate',
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    ...inheritEnv.flatMap((name) => ['--inherit-env', name]),
    ...(store ? ['--store', resolve(store)] : []),
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
