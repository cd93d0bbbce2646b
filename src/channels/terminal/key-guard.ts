import type { Key } from './key.ts';
import type { TerminalInput } from './terminal-options.ts';
import { listStrokes } from './widget.ts';

/* Too short to read a request, too long for keys that are hit twice. In milliseconds, as the next one. */
const deadTime = 500;
/* A terminal does not report that a key is released. One that is held down comes again sooner than this. */
const releaseTime = 1_000;

/**
 * Decides which keys of an input count. After `announce` none counts until the new text was on the screen for the dead time, nor does a
 * key that was pressed before and keeps coming.
 */
export class KeyGuard {
  #announced: object | undefined;
  #countsFrom = -Infinity;
  readonly #strokes = new Map<string, { at: number; isHeld: boolean }>();

  /** What is shown next is new to the person. */
  announce(): void {
    const now = performance.now();
    this.#announced = {};
    for (const [name, stroke] of this.#strokes) {
      if (now - stroke.at < releaseTime) stroke.isHeld = true;
      else this.#strokes.delete(name);
    }
  }

  /** Stands for what was announced and is not on the screen yet. */
  get announced(): object | undefined {
    return this.#announced;
  }

  /** What was announced is on the screen now, unless something else has been announced since. */
  startDeadTime(announced: object | undefined): void {
    if (announced === undefined || announced !== this.#announced) return;
    this.#announced = undefined;
    this.#countsFrom = performance.now() + deadTime;
  }

  /** Whether the person can't have read what was announced. */
  get isEarly(): boolean {
    return this.#announced !== undefined || performance.now() < this.#countsFrom;
  }

  /** Whether a key counts. Where letters are text (`isTyping`), a letter may come again soon. */
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

/* Kept for the input: the next question at it may be another call's. */
const guards = new WeakMap<TerminalInput, KeyGuard>();

/** The guard of an input, the same for all that ask there. */
export function findGuard(input: TerminalInput): KeyGuard {
  const guard = guards.get(input) ?? new KeyGuard();
  guards.set(input, guard);
  return guard;
}
