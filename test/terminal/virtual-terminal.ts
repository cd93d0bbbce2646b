import { PassThrough, Writable } from 'node:stream';
import { onTestFinished, vi } from 'vitest';
import { waitUntil } from '../support/waiting.ts';

/** A place for what the terminal under test draws: it obeys the few escape sequences that are used, and no other. */
export class VirtualOutput extends Writable {
  isTTY = true;
  columns: number;
  rows: number;
  /** Everything that was written, with its escape sequences. */
  written = '';
  isCursorShown = true;
  arePastesMarked = false;
  /** Whether what is written stays on its way, until `release` is called. */
  isStuck = false;
  #release = (): void => {};
  readonly #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  /** The first row that has not scrolled away: the cursor goes no further up. */
  #top = 0;

  constructor({ columns = 80, rows = 24 } = {}) {
    super({ decodeStrings: false });
    this.columns = columns;
    this.rows = rows;
  }

  /** What a person sees, without spaces at the ends of lines. */
  get screen(): string {
    return this.#shown(0);
  }

  /** The same without what has scrolled away. */
  get visible(): string {
    return this.#shown(this.#top);
  }

  #shown(from: number): string {
    return this.#lines
      .slice(from)
      .map((cells) =>
        Array.from(cells, (cell) => cell ?? ' ')
          .join('')
          .trimEnd(),
      )
      .join('\n');
  }

  resize(size: { columns?: number; rows?: number }): void {
    Object.assign(this, size);
    this.#scroll();
    this.emit('resize');
  }

  override _write(chunk: Buffer | string, _encoding: unknown, done: () => void): void {
    const text = chunk.toString();
    this.written += text;
    // oxlint-disable-next-line no-control-regex
    const parts = text.matchAll(/\u001B\[(\??)([\d;]*)([A-Za-z])|([^])/gu);
    for (const [, mode, count = '', command, character] of parts) {
      if (command === undefined) this.#put(character ?? '');
      else this.#obey(command, mode === '?' ? `?${count}` : count);
    }
    if (this.isStuck) this.#release = done;
    else done();
  }

  release(): void {
    this.isStuck = false;
    this.#release();
  }

  #put(character: string): void {
    if (character === '\n') {
      this.#row += 1;
      this.#column = 0;
      this.#lines[this.#row] ??= [];
      this.#scroll();
      return;
    }
    if (/\p{Cc}/u.test(character))
      throw new Error(`A control character: ${JSON.stringify(character)}`);
    const line = this.#lines[this.#row];
    if (line !== undefined) line[this.#column] = character;
    this.#column += 1;
  }

  #scroll(): void {
    this.#top = Math.max(this.#top, this.#row - this.rows + 1);
  }

  #obey(command: string, argument: string): void {
    const count = Number(argument === '' ? 1 : argument);
    switch (command) {
      case 'A':
        this.#row = Math.max(this.#top, this.#row - count);
        break;
      case 'B':
        this.#row = Math.min(this.#lines.length - 1, this.#row + count);
        break;
      case 'D':
        this.#column = Math.max(0, this.#column - count);
        break;
      case 'G':
        this.#column = count - 1;
        break;
      case 'J':
        this.#lines.splice(this.#row + 1);
        this.#lines[this.#row]?.splice(this.#column);
        break;
      case 'K':
        this.#lines[this.#row] = [];
        break;
      case 'm':
        break;
      case 'h':
      case 'l':
        this.#mode(argument, command === 'h');
        break;
      default:
        throw new Error(`An unknown sequence: ESC [ ${argument} ${command}`);
    }
  }

  #mode(argument: string, isOn: boolean): void {
    if (argument === '?25') this.isCursorShown = isOn;
    else if (argument === '?2004') this.arePastesMarked = isOn;
    else throw new Error(`An unknown mode: ${argument}`);
  }
}

/** Keys on the way to the terminal under test. */
class VirtualInput extends PassThrough {
  isTTY = true;
  isRaw = false;

  setRawMode(mode: boolean): this {
    this.isRaw = mode;
    return this;
  }
}

/** What a key sends. */
export const keys = {
  up: '\u001B[A',
  down: '\u001B[B',
  right: '\u001B[C',
  left: '\u001B[D',
  home: '\u001B[H',
  end: '\u001B[F',
  pageUp: '\u001B[5~',
  pageDown: '\u001B[6~',
  delete: '\u001B[3~',
  shiftTab: '\u001B[Z',
  enter: '\r',
  escape: '\u001B',
  backspace: '\u007F',
  control: (letter: string): string => String.fromCharCode(letter.charCodeAt(0) - 96),
  altEnter: '\u001B\r',
  paste: (text: string): string => `\u001B[200~${text}\u001B[201~`,
};

/** The keys that approve, and those that reject, from where an approval starts. */
export const approving = [keys.up, keys.enter];
export const rejecting = [keys.enter];

/** Longer than a key must be let go before it counts, in milliseconds. */
export const readingTime = 1_100;

/** A terminal with a person at it. */
export class VirtualTerminal {
  readonly input = new VirtualInput();
  readonly output: VirtualOutput;
  readonly #before: unknown;

  constructor(size?: { columns?: number; rows?: number }) {
    /* The clock by which keys count stands still, until `passes` moves it. */
    if (!vi.isFakeTimers()) {
      vi.useFakeTimers({ toFake: ['performance'] });
      onTestFinished(() => void vi.useRealTimers());
    }
    this.output = new VirtualOutput(size);
    this.#before = this.listeners();
  }

  /** Waits until the screen shows the text, and the person has read it. */
  async shows(text: string): Promise<void> {
    await this.#until(() => this.screen.includes(text), text);
    this.passes(readingTime);
  }

  /** Waits until the screen ends with the text, and the person has read it. */
  async ends(text: string | RegExp): Promise<void> {
    await this.flashes(text);
    this.passes(readingTime);
  }

  /** Waits until the screen ends with the text, which nobody had time to read. */
  async flashes(text: string | RegExp): Promise<void> {
    const isThere = (): boolean =>
      typeof text === 'string' ? this.screen.endsWith(text) : text.test(this.screen);
    await this.#until(isThere, String(text));
  }

  /** Lets time pass, in milliseconds. */
  passes(time: number): void {
    vi.advanceTimersByTime(time);
  }

  /** Sends keys one by one, as a person does who looks before each of them. */
  async types(...sent: string[]): Promise<void> {
    for (const key of sent) {
      this.passes(readingTime);
      await this.hits(key);
    }
  }

  /** Sends keys one by one, as fast as a hand can hit them. */
  async hits(...sent: string[]): Promise<void> {
    for (const key of sent) {
      this.input.write(key);
      await new Promise((resolve) => setImmediate(resolve));
      /* A lone Esc is one when 50 ms pass without another byte; a later timer of 51 ms ends after that. */
      if (key === keys.escape) await new Promise((resolve) => setTimeout(resolve, 51));
    }
  }

  get screen(): string {
    return this.output.screen;
  }

  /** What a person sees without scrolling back. */
  get visible(): string {
    return this.output.visible;
  }

  /** How many listeners there are of each kind. */
  listeners(): Record<string, number> {
    const sources = { input: this.input, output: this.output, process };
    return Object.fromEntries(
      Object.entries(sources).flatMap(([name, source]) =>
        source
          .eventNames()
          .map((event) => [`${name} ${String(event)}`, source.listenerCount(event)]),
      ),
    );
  }

  /** What would be wrong with the terminal after it was given back; nothing, one hopes. */
  faults(): string[] {
    const isSame = JSON.stringify(this.listeners()) === JSON.stringify(this.#before);
    return [
      ...(this.input.isRaw ? ['raw mode is on'] : []),
      ...(this.output.isCursorShown ? [] : ['the cursor is hidden']),
      ...(this.output.arePastesMarked ? ['pastes are marked'] : []),
      ...(isSame
        ? []
        : [`listeners are left: ${JSON.stringify([this.#before, this.listeners()])}`]),
    ];
  }

  async #until(isThere: () => boolean, text: string): Promise<void> {
    await waitUntil(isThere, { timeout: 5_000, interval: 1 }).catch(() => {
      throw new Error(`'${text}' is not on the screen:\n${this.screen}`);
    });
  }
}
