import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';

const bookingSchema = z.object({
  flightId: z.string(),
  to: z.string(),
  departs: z.string(),
  price: z.number(),
  idempotencyKey: z.string(),
});

/** A line of the ledger. */
export type Booking = z.infer<typeof bookingSchema>;

/** A folder of the demo's own, and as many starts of the demo in it as a test needs. */
export class World implements AsyncDisposable {
  readonly folder: string;
  readonly #demos: Demo[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<World> {
    return new World(await mkdtemp(join(tmpdir(), 'holdpoint-demo-')));
  }

  start({
    wish = [],
    airlineMs = 0,
    folder = this.folder,
    acceptsLines = true,
  }: {
    wish?: string[];
    airlineMs?: number;
    folder?: string;
    acceptsLines?: boolean;
  } = {}): Demo {
    const demo = new Demo(folder, { wish, airlineMs, acceptsLines });
    this.#demos.push(demo);
    return demo;
  }

  async bookings(): Promise<Booking[]> {
    const text = await readFile(join(this.folder, 'bookings.jsonl'), 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => bookingSchema.parse(JSON.parse(line)));
  }

  store(): ThreadStore & Disposable {
    return sqliteStore(join(this.folder, 'threads.sqlite'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#demos.map((demo) => demo.kill('SIGKILL')));
    await rm(this.folder, { recursive: true });
  }
}

/** The demo as a child process, at the other end of two pipes. */
export class Demo {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #unread = '';
  #errors = '';
  #over = false;
  #news = Promise.withResolvers<void>();

  constructor(
    folder: string,
    { wish, airlineMs, acceptsLines }: { wish: string[]; airlineMs: number; acceptsLines: boolean },
  ) {
    const { AI_GATEWAY_API_KEY: _k, HOLDPOINT_MODEL: _m, FORCE_COLOR: _c, ...rest } = process.env;
    const own = {
      HOLDPOINT_DEMO_DIR: folder,
      HOLDPOINT_DEMO_AIRLINE_MS: String(airlineMs),
      HOLDPOINT_DEMO_LINES: acceptsLines ? '1' : '0',
    };
    const program = ['--conditions=holdpoint-source', 'examples/travel-agent/main.ts', ...wish];
    this.#child = spawn(process.execPath, program, {
      cwd: new URL('../..', import.meta.url),
      env: { ...rest, NO_COLOR: '1', ...own },
      stdio: 'pipe',
    });
    this.#ended = once(this.#child, 'close');
    this.#child.once('close', () => {
      this.#over = true;
      this.#news.resolve();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()));
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#unread += chunk.toString();
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
  }

  /** What is printed from the last `shows` up to the text. */
  async shows(text: string): Promise<string> {
    for (;;) {
      const end = this.#unread.indexOf(text) + text.length;
      if (end >= text.length) {
        const shown = this.#unread.slice(0, end);
        this.#unread = this.#unread.slice(end);
        return shown;
      }
      if (this.#over || this.#unread.includes('That failed:')) {
        throw new Error(`The demo did not show '${text}': ${this.#unread}${this.#errors}`);
      }
      await this.#news.promise;
    }
  }

  types(...lines: string[]): this {
    this.#child.stdin?.write(lines.map((line) => `${line}\n`).join(''));
    return this;
  }

  /** Closes the input; the exit code, what was still unread, and what was said of errors. */
  async ends(): Promise<{ code: number | null; shown: string; errors: string }> {
    this.#child.stdin?.end();
    return this.#outcome();
  }

  signal(signal: 'SIGKILL' | 'SIGINT'): void {
    this.#child.kill(signal);
  }

  async kill(signal: 'SIGKILL' | 'SIGINT'): Promise<{ code: number | null; shown: string }> {
    this.signal(signal);
    return this.#outcome();
  }

  async #outcome(): Promise<{ code: number | null; shown: string; errors: string }> {
    await this.#ended;
    return { code: this.#child.exitCode, shown: this.#unread, errors: this.#errors };
  }
}
