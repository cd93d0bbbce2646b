import { emitKeypressEvents, type Key as NodeKey } from 'node:readline';
import { Readable } from 'node:stream';
import type { TerminalInput } from './terminal-streams.ts';

/** Input from the keyboard: characters, a paste, or a key by its name (`up`, `return`, `ctrl+c`, `shift+tab`). */
export type Key = ({ type: 'text' | 'paste'; text: string } | { type: 'stroke'; name: string }) & {
  /** True if it arrived in one chunk with the keys before it, so that the person can't have seen their effect. */
  isTogether?: boolean;
};

/** The strokes of a key: its name, or each typed character. A paste has none. */
export function listStrokes(key: Key): Iterable<string> {
  if (key.type === 'stroke') return [key.name];
  return key.type === 'text' ? key.text : [];
}

/* The wait, in milliseconds, for an escape byte to turn out to be the beginning of an arrow key. */
const escapeCodeTimeout = 50;

/**
 * Decodes a terminal's bytes into keys, with Node's own decoder. Characters that arrive together stay together, so that a hundred
 * thousand of them cause one redraw.
 */
export class KeyDecoder implements Disposable {
  readonly #bytes = new Readable({ read() {} });
  readonly #onKey: (key: Key) => void;
  #together: Key[] | undefined;
  #paste: string | undefined;
  #isClosed = false;

  constructor(onKey: (key: Key) => void) {
    this.#onKey = onKey;
    this.#bytes.on('keypress', (text: string | undefined, key: NodeKey) =>
      this.#decoded(text, key),
    );
    Reflect.apply(emitKeypressEvents, undefined, [this.#bytes, { escapeCodeTimeout }]);
  }

  write(chunk: Buffer | string): void {
    /* Ctrl+C also ends a paste whose end marker was lost. */
    if (chunk.toString() === '\u0003') this.#paste = undefined;
    this.#together = [];
    this.#bytes.emit('data', chunk);
    const keys = this.#together;
    this.#together = undefined;
    for (const [index, key] of keys.entries())
      this.#onKey(index === 0 ? key : { ...key, isTogether: true });
  }

  /** Drops a paste whose end marker has not arrived. */
  discardPaste(): void {
    this.#paste = undefined;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    /* Any byte ends the wait after an escape byte, and its timer. */
    this.#bytes.emit('data', '\0');
  }

  #decoded(text: string | undefined, key: NodeKey): void {
    if (this.#isClosed) return;
    if (key.name === 'paste-start') this.#paste = '';
    else if (key.name === 'paste-end') this.#endPaste();
    else if (this.#paste !== undefined) this.#paste += key.sequence ?? text ?? '';
    else this.#emit(readKey(text, key));
  }

  #endPaste(): void {
    /* Terminals send the line breaks of a paste as the Enter key does. */
    const text = (this.#paste ?? '').replaceAll(/\r\n?/g, '\n');
    this.#paste = undefined;
    if (text !== '') this.#emit({ type: 'paste', text: text.toWellFormed() });
  }

  #emit(key: Key): void {
    if (this.#together === undefined) return this.#onKey(key);
    const last = this.#together.at(-1);
    if (last?.type === 'text' && key.type === 'text') last.text += key.text;
    else this.#together.push(key);
  }
}

function readKey(text: string | undefined, { name, ctrl, meta, shift }: NodeKey): Key {
  if (text !== undefined && ctrl !== true && meta !== true && !/\p{Cc}/u.test(text)) {
    return { type: 'text', text: text.toWellFormed() };
  }
  /* Node decodes a lone escape byte as Alt without a key. */
  if (name === 'escape') return { type: 'stroke', name };
  const modifiers = [
    ctrl === true && 'ctrl+',
    meta === true && 'meta+',
    shift === true && 'shift+',
  ];
  return { type: 'stroke', name: `${modifiers.filter(Boolean).join('')}${name ?? ''}` };
}

/* Too short to read a request, too long for keys that are hit twice. In milliseconds, as the next one. */
const deadTime = 500;
/* A terminal does not report that a key is released. One that is held down comes again sooner than this. */
const releaseTime = 1_000;

/**
 * Decides which keys of an input count. After `announce`, no key counts until the new text was on the screen for the dead time, and a key
 * that was held before doesn't count while it repeats.
 */
export class KeyGuard {
  #announced: object | undefined;
  #countsFrom = -Infinity;
  readonly #strokes = new Map<string, { at: number; isHeld: boolean }>();

  /** Announces a new display. */
  announce(): void {
    const now = performance.now();
    this.#announced = {};
    for (const [name, stroke] of this.#strokes) {
      if (now - stroke.at < releaseTime) stroke.isHeld = true;
      else this.#strokes.delete(name);
    }
  }

  /** Identifies the announced display that is not on the screen yet. */
  get announced(): object | undefined {
    return this.#announced;
  }

  /** Notes that the announced display is on the screen now, unless another one has been announced since. */
  startDeadTime(announced: object | undefined): void {
    if (announced === undefined || announced !== this.#announced) return;
    this.#announced = undefined;
    this.#countsFrom = performance.now() + deadTime;
  }

  /** True if the person can't have read what was announced. */
  get isEarly(): boolean {
    return this.#announced !== undefined || performance.now() < this.#countsFrom;
  }

  /** Checks whether a key counts. Where letters are text (`isTyping`), a letter may come again soon. */
  accepts(key: Key, isTyping: boolean): boolean {
    const at = performance.now();
    const names = [...listStrokes(key)];
    const canRepeat = isTyping && key.type === 'text';
    const isHeld = !canRepeat && names.some((name) => this.#isHeld(name, at));
    const isAccepted = !isHeld && !this.isEarly;
    for (const name of names) this.#strokes.set(name, { at, isHeld: !isAccepted });
    return isAccepted;
  }

  #isHeld(name: string, now: number): boolean {
    const stroke = this.#strokes.get(name);
    return stroke?.isHeld === true && now - stroke.at < releaseTime;
  }
}

/* Kept per input: its next question may belong to another call. */
const guards = new WeakMap<TerminalInput, KeyGuard>();

/** Returns the guard of an input, shared by all who ask there. */
export function findGuard(input: TerminalInput): KeyGuard {
  const guard = guards.get(input) ?? new KeyGuard();
  guards.set(input, guard);
  return guard;
}
