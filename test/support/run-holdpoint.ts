import { runHoldpoint } from '../../src/apps/command/program.ts';
import type { CommandWorld, ExitStatus } from '../../src/apps/command/run-command.ts';

/** What a command has printed, and its exit status. */
export interface EndedCommand {
  status: ExitStatus;
  output: string;
  error: string;
}

/** Runs `npx holdpoint` with these arguments in this process. */
export async function runCommand(
  args: readonly string[],
  world: Partial<CommandWorld> = {},
): Promise<EndedCommand> {
  const printed = { output: '', error: '' };
  const status = await runHoldpoint(args, {
    env: {},
    write: async (text) => void (printed.output += text),
    warn: async (text) => void (printed.error += text),
    untilEnded: async () => {},
    ...world,
  });
  return { status, ...printed };
}
