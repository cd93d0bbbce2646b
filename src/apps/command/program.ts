import { Command, CommanderError } from 'commander';
import { HoldpointError } from '../../errors.ts';
import { addAnswerCommand } from './answer-command.ts';
import { addBacktestCommand } from './backtest-command.ts';
import { addDeleteCommand } from './delete-command.ts';
import { addExportCommand } from './export-command.ts';
import { addGateCommand } from './gate-command.ts';
import { addInboxCommand } from './inbox-command.ts';
import { addListCommand } from './list-command.ts';
import {
  type CommandEnd,
  type CommandWorld,
  describeError,
  type ExitStatus,
  toAsciiJson,
  toLine,
} from './run-command.ts';
import { addSettleCommand } from './settle-command.ts';
import { addShowCommand } from './show-command.ts';
import { addVerifyCommand } from './verify-command.ts';

const commands = [
  addInboxCommand,
  addListCommand,
  addShowCommand,
  addAnswerCommand,
  addSettleCommand,
  addVerifyCommand,
  addExportCommand,
  addDeleteCommand,
  addBacktestCommand,
  addGateCommand,
];

/** Runs `holdpoint` with the arguments that follow it. Resolves with the exit status; never rejects. */
export async function runHoldpoint(
  args: readonly string[],
  world: CommandWorld,
): Promise<ExitStatus> {
  /* Arguments after `--` are not for this command. */
  const isJson = args.slice(0, findEnd(args)).includes('--json');
  let status: ExitStatus = 0;
  const print = async ({ json, text, inert, warning, ...end }: CommandEnd): Promise<void> => {
    ({ status } = end);
    if (isJson && json !== undefined) await world.write(`${toAsciiJson(json, 2)}\n`);
    if (isJson) return;
    if (inert !== undefined) await world.write(`${inert}\n`);
    if (text !== undefined) await world.write(toLine(text.trimEnd()));
    if (warning !== undefined) await world.warn(toLine(warning));
  };
  let help = '';
  const program = makeProgram(world, print, (text) => (help += text));
  let failure: unknown;
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(moveIdsBehind(args), { from: 'user' });
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    if (!isHelp) failure = error;
  }
  if (failure !== undefined) return printError(failure, isJson, world);
  if (help !== '') await world.write(help);
  return status;
}

function findEnd(args: readonly string[]): number {
  const at = args.indexOf('--');
  return at === -1 ? args.length : at;
}

/*
 * One id in 64 begins with a hyphen, as base64url may. After `--` it is not parsed as an option; an argument that follows an option may be
 * its value.
 */
function moveIdsBehind(args: readonly string[]): string[] {
  if (args.includes('--')) return [...args];
  const isId = (arg: string, at: number): boolean =>
    /^-[\w-]{21}$/.test(arg) && args[at - 1]?.startsWith('-') === false;
  return [...args.filter((arg, at) => !isId(arg, at)), '--', ...args.filter(isId)];
}

function makeProgram(
  world: CommandWorld,
  onEnd: (end: CommandEnd) => Promise<void>,
  writeOut: (text: string) => void,
): Command {
  const program = new Command('holdpoint')
    .description('What waits for people, in a store of threads: see it, answer it, check it.')
    .exitOverride()
    /* Errors are printed by `printError`. */
    .configureOutput({ writeOut, writeErr: () => {} });
  for (const addCommand of commands) addCommand(program, world, onEnd);
  return program;
}

async function printError(
  error: unknown,
  isJson: boolean,
  world: CommandWorld,
): Promise<ExitStatus> {
  const { code, message } = describeError(error);
  if (isJson) await world.write(`${toAsciiJson({ error: { code, message } }, 2)}\n`);
  else await world.warn(toLine(code === 'usage' ? `${message}\nSee: holdpoint --help` : message));
  return HoldpointError.isInstance(error) ? 1 : 2;
}
