import { expect } from 'vitest';
import { Tmux } from './tmux.ts';

/** The command line of the program; its parameter is what it asks. */
export const program = `'${process.execPath}' --conditions=holdpoint-source test/terminal/asking-process.ts`;

/** A shell in which the program asks; its screen holds nothing else. */
export async function ask(what: string, size?: { columns: number; rows: number }): Promise<Tmux> {
  const tmux = await Tmux.start(size);
  await tmux.commandOnClearScreen(`${program} ${what}`);
  return tmux;
}

/** The exit status of the program, once the shell is back. */
export async function status(tmux: Tmux): Promise<number> {
  await tmux.shows(/^\$$/m);
  await tmux.command('echo "status: $?"');
  return Number(/status: (\d+)/.exec(await tmux.shows(/^status: \d+$/m))?.[1]);
}

/** What the shell says of the terminal afterwards. */
async function modes(tmux: Tmux): Promise<string[]> {
  await tmux.shows(/^\$$/m);
  await tmux.command(
    `clear; stty -a | tr ' ' '\\n' | grep -E '^-?(icanon|echo|isig);?$' | tr '\\n' ' '; echo en''d`,
  );
  const screen = await tmux.shows(/ end$/m);
  return (
    screen
      .split('\n')
      .find((line) => line.endsWith(' end'))
      ?.replaceAll(';', '')
      .split(' ')
      .slice(0, -1) ?? []
  );
}

export async function expectRestored(tmux: Tmux): Promise<void> {
  expect(await modes(tmux)).toEqual(['isig', 'icanon', 'echo']);
  expect(await tmux.isCursorShown()).toBe(true);
  await tmux.paste('echo unmarked');
  expect(await tmux.shows('echo unmarked')).not.toContain('200~');
}
