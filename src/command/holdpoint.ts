#!/usr/bin/env node
import { runBacktestCommand } from './backtest-command.ts';
import { runFillCommand } from './fill-command.ts';
import type { CommandEnd } from './run-command.ts';

const usage = `Usage: holdpoint <command>

Commands:
  backtest        Replays approval rules over recorded threads.
  fill-requests   Adds the requests of threads that an older version has written to the store's rows.

See: holdpoint <command> --help
`;

const [command, ...rest] = process.argv.slice(2);
const ended: CommandEnd = await run();

async function run(): Promise<CommandEnd> {
  if (command === 'backtest') return runBacktestCommand(rest);
  if (command === 'fill-requests') return runFillCommand(rest);
  const isHelp = command === '--help' || command === '-h';
  return isHelp ? { status: 0, output: usage } : { status: 2, error: usage };
}

/* The rules may have opened connections that would keep the process alive. */
process.stderr.write(ended.error ?? '', () => {
  process.stdout.write(ended.output ?? '', () => process.exit(ended.status));
});
