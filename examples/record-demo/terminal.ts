import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A shell in a real pseudo-terminal: a tmux server with one window. */
export class Terminal implements AsyncDisposable {
  readonly #socket = `holdpoint-recording-${process.pid}`;

  /** Starts the shell in a folder, and waits for its prompt. */
  async start({ folder, columns, rows }: { folder: string; columns: number; rows: number }) {
    const size = ['-x', String(columns), '-y', String(rows)];
    const shell = `cd '${folder}'; PS1='$ ' npm_config_loglevel=silent bash --norc --noprofile`;
    await this.#tmux('new-session', '-d', ...size, shell);
    await this.shows('$');
  }

  /** The screen, one string per row, with escape sequences for its styles. */
  async rows(): Promise<string[]> {
    const screen = await this.#tmux('capture-pane', '-p', '-e');
    return screen.replace(/\n$/, '').split('\n');
  }

  /** Waits until the screen contains the text, and so long that the next key counts, even one that was pressed before. */
  async shows(text: string | RegExp): Promise<void> {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await setTimeout(20)) {
      const screen = await this.#tmux('capture-pane', '-p');
      const isThere = typeof text === 'string' ? screen.includes(text) : text.test(screen);
      if (isThere) return setTimeout(1_100);
    }
    throw new Error(`'${text}' did not appear:\n${(await this.rows()).join('\n')}`);
  }

  /** Presses a key, by the name that tmux has for it. */
  async press(key: string): Promise<void> {
    await this.#tmux('send-keys', key);
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text);
  }

  /** Sends SIGKILL to the program in the foreground and to all its children. */
  async killProgram(): Promise<void> {
    const shell = (await this.#tmux('display-message', '-p', '#{pane_pid}')).trim();
    const { stdout } = await run('ps', ['-o', 'tpgid=', '-p', shell]);
    process.kill(-Number(stdout), 'SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux('kill-server');
  }

  async #tmux(...parameters: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-L', this.#socket, '-f', '/dev/null', ...parameters]);
    return stdout;
  }
}
