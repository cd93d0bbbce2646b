import { readErrorText } from '../content/app-errors.ts';
import { inertLine } from '../content/inert-text.ts';

/** What a command prints, and the status with which it exits. */
export interface CommandEnd {
  status: 0 | 1 | 2;
  output?: string;
  error?: string;
}

/** A command: how it explains itself, reads its arguments, and works. */
interface Command<PARSED extends { help: boolean }> {
  usage: string;
  /** Throws for arguments that it does not take. */
  parse: (args: readonly string[]) => PARSED;
  run: (parsed: PARSED) => Promise<CommandEnd>;
}

/** Runs a command. The status is 2 for arguments that it does not take, and where it fails. */
export async function runCommand<PARSED extends { help: boolean }>(
  { usage, parse, run }: Command<PARSED>,
  args: readonly string[],
): Promise<CommandEnd> {
  let parsed: PARSED;
  try {
    parsed = parse(args);
  } catch (error) {
    return { status: 2, error: `${inertLine(readErrorText(error))}\n\n${usage}` };
  }
  if (parsed.help) return { status: 0, output: usage };
  try {
    return await run(parsed);
  } catch (error) {
    return { status: 2, error: `${inertLine(readErrorText(error))}\n` };
  }
}
