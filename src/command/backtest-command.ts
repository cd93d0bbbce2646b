import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { ToolSet } from 'ai';
import { z } from 'zod';
import type { BacktestLimits } from '../backtest/backtest-result.ts';
import { backtest, type BacktestRules } from '../backtest/index.ts';
import { inertLine } from '../content/inert-text.ts';
import { openStore, requireOneStore } from './command-store.ts';
import { type CommandEnd, runCommand } from './run-command.ts';

const usage = `Usage: holdpoint backtest <rules file> (--store <file> | --postgres <url>) [options]

Replays approval rules over recorded threads. Runs no tool, calls no model.
The rules file exports as its default { tools, toolApproval, toolsContext, runtimeContext };
the last two are optional. It is JavaScript, or TypeScript that Node can strip.

  --store <file>      the SQLite file of the threads
  --postgres <url>    the connection string of the database of the threads; needs the package pg
  --agent <name>      the agent whose threads are replayed; default: agents without a name
  --max-rejected <n>  allowed calls that would have run although people rejected them; default 0
  --max-edited <n>    allowed calls that would have run with an input that people changed; default: any
  --max-denied <n>    allowed calls that would have been denied although people approved them; default: any
  --json              prints the result as JSON

Exit status: 0 if no limit is exceeded, 1 if one is, 2 if the threads or the rules could not be read.
`;

/** Runs `holdpoint backtest` with the arguments that follow it. */
export async function runBacktestCommand(args: readonly string[]): Promise<CommandEnd> {
  return runCommand({ usage, parse: parseCommandArguments, run }, args);
}

type Arguments = ReturnType<typeof parseCommandArguments>;

function parseCommandArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      store: { type: 'string' },
      postgres: { type: 'string' },
      agent: { type: 'string' },
      'max-rejected': { type: 'string' },
      'max-edited': { type: 'string' },
      'max-denied': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { store, postgres, agent, json, help } = values;
  const [rules = '', ...others] = positionals;
  if (!help && (rules === '' || others.length > 0)) throw new Error('Pass one rules file.');
  if (!help) requireOneStore({ store, postgres });
  const limits = {
    ...limit('maxRejected', '--max-rejected', values['max-rejected']),
    ...limit('maxEdited', '--max-edited', values['max-edited']),
    ...limit('maxDenied', '--max-denied', values['max-denied']),
  };
  return { rules, store, postgres, agent, json, help, limits };
}

function limit(
  name: keyof BacktestLimits,
  option: string,
  text: string | undefined,
): BacktestLimits {
  if (text === undefined) return {};
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${option} must be a whole number; got '${text}'.`);
  return { [name]: Number(text) };
}

async function run({ rules, agent, json, limits, ...given }: Arguments): Promise<CommandEnd> {
  const candidate = await readRules(rules);
  const { store, close } = await openStore(given, { createSchema: false });
  try {
    const named = agent === undefined ? {} : { agent };
    const result = await backtest({ ...candidate, ...named, ...limits, store });
    const output = `${json ? JSON.stringify(result, undefined, 2) : String(result)}\n`;
    if (result.threads === 0 && result.unreadable.length === 0) {
      const whose = agent === undefined ? 'agents without a name' : `agent '${inertLine(agent)}'`;
      return { status: 2, output, error: `The store has no threads of ${whose}.\n` };
    }
    if (result.unreadable.length > 0) return { status: 2, output };
    return { status: result.failures.length > 0 ? 1 : 0, output };
  } finally {
    await close();
  }
}

type Rules = BacktestRules<ToolSet, unknown>;

const rulesSchema = z.object({
  default: z.custom<Rules>((value) => typeof Reflect.get(Object(value), 'tools') === 'object'),
});

async function readRules(path: string): Promise<Rules> {
  const loaded: unknown = await import(pathToFileURL(resolve(path)).href);
  const parsed = rulesSchema.safeParse({ ...Object(loaded) });
  if (parsed.success) return parsed.data.default;
  throw new Error(`${path} must export { tools, toolApproval } as its default.`);
}
