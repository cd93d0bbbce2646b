#!/usr/bin/env node
import { runBacktestCommand, type CommandEnd } from './backtest-command.ts';

const usage = `Usage: holdpoint <command>

Commands:
  backtest   Replays approval rules over recorded threads. See: holdpoint backtest --help
`;

const [command, ...rest] = process.argv.slice(2);
const ended: CommandEnd = await run();

async function run(): Promise<CommandEnd> {
  if (command === 'backtest') return runBacktestCommand(rest);
  const isHelp = command === '--help' || command === '-h';
  return isHelp ? { status: 0, output: usage } : { status: 2, error: usage };
}

/* The rules may have opened connections that would keep the process alive. */
process.stderr.write(ended.error ?? '', () => {
  process.stdout.write(ended.output ?? '', () => process.exit(ended.status));
});
