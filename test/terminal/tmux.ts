import { execFile, execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { waitUntil } from '../support/waiting.ts';

const run = promisify(execFile);

/** Whether there is a tmux to test with. */
export const hasTmux = ((): boolean => {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
})();

/** A real pseudo-terminal with a shell in it, in a tmux server of its own. */
export class Tmux implements AsyncDisposable {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  static async start({ columns = 80, rows = 24 } = {}): Promise<Tmux> {
    const tmux = new Tmux(`holdpoint-${process.pid}-${crypto.randomUUID()}`);
    const size = ['-x', String(columns), '-y', String(rows)];
    await tmux.#do('new-session', '-d', ...size, "env -i TERM=$TERM PATH=$PATH PS1='$ ' sh");
    await tmux.shows('$ ');
    return tmux;
  }

  /** What a person sees, without the blank lines at the end. */
  async screen(): Promise<string> {
    return (await this.#do('capture-pane', '-p')).trimEnd();
  }

  /** Waits until the screen shows the text, and gives the screen. */
  async shows(text: string | RegExp): Promise<string> {
    let screen = '';
    const isThere = async (): Promise<boolean> => {
      screen = await this.screen();
      return typeof text === 'string' ? screen.includes(text.trimEnd()) : text.test(screen);
    };
    await waitUntil(isThere, { timeout: 15_000, interval: 20 }).catch(() => {
      throw new Error(`'${text}' is not on the screen:\n${screen}`);
    });
    return screen;
  }

  /** Waits until the screen shows a request, and so long that the next key counts, even one that was pressed before. */
  async reads(text: string | RegExp): Promise<string> {
    const screen = await this.shows(text);
    await setTimeout(1_100);
    return screen;
  }

  /** Presses keys, by the names tmux has for them. */
  async press(...names: string[]): Promise<void> {
    await this.#do('send-keys', ...names);
  }

  /** Types characters, as they are. */
  async type(text: string): Promise<void> {
    await this.#do('send-keys', '-l', text);
  }

  /** Pastes, marked as a paste where the program asked for that. */
  async paste(text: string): Promise<void> {
    await this.#do('set-buffer', text);
    await this.#do('paste-buffer', '-p');
  }

  async resize({ columns, rows }: { columns: number; rows: number }): Promise<void> {
    await this.#do('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Types a command in the shell. */
  async command(line: string): Promise<void> {
    await this.type(line);
    await this.press('Enter');
  }

  /** Types a command in the shell once nothing of an earlier one is shown, so that `shows` can't find what is no longer asked. */
  async commandOnClearScreen(line: string): Promise<void> {
    await this.command('clear');
    await this.shows(/^\$$/);
    await this.command(`clear; ${line}`);
  }

  async isCursorShown(): Promise<boolean> {
    return (await this.#do('display-message', '-p', '#{cursor_flag}')).trim() === '1';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#do('kill-server');
  }

  async #do(...parameters: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-L', this.#socket, '-f', '/dev/null', ...parameters]);
    return stdout;
  }
}
