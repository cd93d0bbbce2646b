import { emitKeypressEvents, type Key as NodeKey } from 'node:readline';
import { Readable } from 'node:stream';

/** What was typed: characters, a paste, or a key by its name (`up`, `return`, `ctrl+c`, `shift+tab`). */
export type Key = ({ type: 'text' | 'paste'; text: string } | { type: 'stroke'; name: string }) & {
  /** Whether it came in one piece with keys before it, so that nobody can have seen what those did. */
  isTogether?: boolean;
};

/* How long a lone escape byte may be the beginning of an arrow key. */
const escapeCodeTimeout = 50;

/**
 * Makes keys of what a terminal sends, through Node's own decoder. Characters that come together stay together, so
 * that a hundred thousand of them are one change and not as many.
 */
export class KeyDecoder implements Disposable {
  readonly #bytes = new Readable({ read() {} });
  readonly #take: (key: Key) => void;
  #together: Key[] | undefined;
  #paste: string | undefined;
  #isClosed = false;

  constructor(take: (key: Key) => void) {
    this.#take = take;
    this.#bytes.on('keypress', (text: string | undefined, key: NodeKey) =>
      this.#decoded(text, key),
    );
    Reflect.apply(emitKeypressEvents, undefined, [this.#bytes, { escapeCodeTimeout }]);
  }

  write(chunk: Buffer | string): void {
    /* Ctrl+C is a way out also of a paste whose end has been lost. */
    if (chunk.toString() === '\u0003') this.#paste = undefined;
    this.#together = [];
    this.#bytes.emit('data', chunk);
    const keys = this.#together;
    this.#together = undefined;
    for (const [index, key] of keys.entries())
      this.#take(index === 0 ? key : { ...key, isTogether: true });
  }

  /** Drops the beginning of a paste whose end has not come. */
  forget(): void {
    this.#paste = undefined;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    /* Any byte ends the wait after a lone escape, and with it the timer. */
    this.#bytes.emit('data', '\0');
  }

  #decoded(text: string | undefined, key: NodeKey): void {
    if (this.#isClosed) return;
    if (key.name === 'paste-start') this.#paste = '';
    else if (key.name === 'paste-end') this.#endPaste();
    else if (this.#paste !== undefined) this.#paste += key.sequence ?? text ?? '';
    else this.#deliver(keyOf(text, key));
  }

  #endPaste(): void {
    /* Terminals send the line breaks of a paste as the Enter key does. */
    const text = (this.#paste ?? '').replaceAll(/\r\n?/g, '\n');
    this.#paste = undefined;
    if (text !== '') this.#deliver({ type: 'paste', text: text.toWellFormed() });
  }

  #deliver(key: Key): void {
    if (this.#together === undefined) return this.#take(key);
    const last = this.#together.at(-1);
    if (last?.type === 'text' && key.type === 'text') last.text += key.text;
    else this.#together.push(key);
  }
}

function keyOf(text: string | undefined, { name, ctrl, meta, shift }: NodeKey): Key {
  if (text !== undefined && ctrl !== true && meta !== true && !/\p{Cc}/u.test(text)) {
    return { type: 'text', text: text.toWellFormed() };
  }
  /* A lone escape byte is decoded as Alt with nothing. */
  if (name === 'escape') return { type: 'stroke', name };
  const modifiers = [
    ctrl === true && 'ctrl+',
    meta === true && 'meta+',
    shift === true && 'shift+',
  ];
  return { type: 'stroke', name: `${modifiers.filter(Boolean).join('')}${name ?? ''}` };
}
