import { Command, CommanderError } from 'commander';
import type { z } from 'zod';
import { readErrorText } from '../../content/app-errors.ts';
import { inertText } from '../../content/inert-text.ts';
import { HoldpointError } from '../../errors.ts';

/** The surroundings of a command, apart from its arguments. */
export interface CommandWorld {
  env: Readonly<Record<string, string | undefined>>;
  /** Writes to the standard output. Resolves when it has been taken. */
  write: (text: string) => Promise<void>;
  /** Writes to the standard error. */
  warn: (text: string) => Promise<void>;
  /** The time, in milliseconds since 1970. Default: that of this machine, and of the store for what is recorded in it. */
  now?: (() => number) | undefined;
  /** Resolves when the person ends the command (Ctrl+C), which no longer ends the process from the first call on. */
  untilEnded: () => Promise<void>;
}

/** The exit status. 0: done. 1: refused, or a problem was found. 2: it could not be done. */
export type ExitStatus = 0 | 1 | 2;

/** The end of a command, with the output that it has not printed itself: with `--json`, only `json`. */
export interface CommandEnd {
  status: ExitStatus;
  json?: unknown;
  /** Lines that are made inert where they are printed. */
  text?: string;
  /** Lines that are inert already: those that show backslashes and line feeds of what others wrote. */
  inert?: string;
  /** A text for the standard error; made inert. */
  warning?: string;
}

/** A command, with its help and its function. */
interface CommandPlan<PARSED> {
  /** Its name and arguments, as `show <requestId>`. */
  name: string;
  /** The text in the list of commands. */
  summary: string;
  description: string;
  addOptions: (command: Command) => Command;
  /** The meaning of the exit statuses, from 0. */
  statuses: readonly [done: string, wanting: string, impossible: string];
  /** Parses the options by their names, with the arguments as `args` and `json`. */
  schema: z.ZodType<PARSED>;
  run: (parsed: PARSED, world: CommandWorld) => Promise<CommandEnd>;
}

/** Adds a command to the program, which records its end. */
export type AddCommand = (
  program: Command,
  world: CommandWorld,
  onEnd: (end: CommandEnd) => Promise<void>,
) => void;

/** Makes a command out of its plan. */
export function planCommand<PARSED>(plan: CommandPlan<PARSED>): AddCommand {
  const { name, summary, description, addOptions, statuses, schema, run } = plan;
  const explained = statuses.map((meaning, status) => `  ${status}  ${meaning}`).join('\n');
  return (program, world, onEnd) => {
    const command = addOptions(program.command(name).summary(summary).description(description))
      .option('--json', 'print one JSON value, an error too')
      .addHelpText('after', `\nExit status:\n${explained}`);
    command.action(async () => {
      const parsed = schema.parse({ ...command.opts(), args: command.args });
      await onEnd(await run(parsed, world));
    });
  };
}

/** Arguments that a command does not take. */
export class UsageError extends Error {}

/** An error as it is printed: with the code of a `HoldpointError`, `usage` for wrong arguments, or `failed`. */
export interface DescribedError {
  code: string;
  message: string;
}

/** Describes anything that was thrown. */
export function describeError(error: unknown): DescribedError {
  const message = readErrorText(error).replace(/^error: /, '');
  if (HoldpointError.isInstance(error)) return { code: error.code, message };
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  return { code: isUsage ? 'usage' : 'failed', message };
}

/** A text for a terminal: what models and people wrote can't control it. Ends with a line feed. */
export function toLine(text: string): string {
  return `${inertText(text)}\n`;
}

/** Writes JSON in pure ASCII, for the same value: nothing in it hides, or controls a terminal. */
export function toAsciiJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent) ?? 'null';
  return json.replaceAll(
    /[^\n -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
