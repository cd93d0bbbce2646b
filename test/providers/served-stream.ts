import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ScriptedStep } from '../support/script.ts';
import { chunksOf, piecesOf } from './event-stream.ts';
import type { StreamProtocol } from './provider-protocol.ts';

/** A step of a script, and how a server streams it. */
export interface ServedStep extends ScriptedStep {
  /** How much of a text each delta has, in UTF-16 code units. Default 1. */
  pieceLength?: number;
  /** Sends half of the events and the beginning of one more, and then waits to be told how it goes on. */
  stopsHalfway?: boolean;
}

/** A stream that a server sends, no faster than its connection takes it. */
export class ServedStream {
  /** How many bytes the connection has been given. */
  bytes = 0;
  /** Resolves when nothing more will be sent: all was, or one side has cut the connection. */
  readonly ended: Promise<'sent' | 'cut off'>;
  readonly #response: ServerResponse;
  readonly #protocol: StreamProtocol;
  /** Of an event that was begun. */
  #rest = '';
  #sent = Promise.resolve();

  constructor(response: ServerResponse, protocol: StreamProtocol) {
    this.#response = response;
    this.#protocol = protocol;
    this.ended = once(response, 'close').then(() =>
      response.writableFinished ? 'sent' : 'cut off',
    );
  }

  async send(answer: object, { step, body }: { step: ServedStep; body: unknown }): Promise<void> {
    const { stopsHalfway = false, pieceLength = 1 } = step;
    const pieces = (text: string): Iterable<string> => piecesOf(text, pieceLength);
    const events = this.#protocol.events(answer, { body, pieces });
    this.#response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    if (!stopsHalfway) {
      await this.#write(chunksOf(events));
      this.#response.end();
      return;
    }
    const all = [...events];
    const half = Math.floor(all.length / 2);
    const [next = ''] = all.slice(half);
    const middle = Math.floor(next.length / 2);
    this.#rest = next.slice(middle);
    this.#sent = this.#write(chunksOf([...all.slice(0, half), next.slice(0, middle)]));
  }

  /** From halfway on, ends the response as if all had been said. */
  async end(): Promise<void> {
    await this.#sent;
    this.#response.end();
  }

  /** From halfway on, says that it failed, as the API does, and ends. */
  async fail(message: string): Promise<void> {
    await this.#sent;
    this.#response.end(this.#rest + this.#protocol.failure(message));
  }

  /** From halfway on, cuts the connection. */
  async drop(): Promise<void> {
    await this.#sent;
    this.#response.destroy();
  }

  async #write(chunks: Iterable<Buffer>): Promise<void> {
    for (const chunk of chunks) {
      if (this.#response.destroyed) return;
      this.bytes += chunk.length;
      if (this.#response.write(chunk)) continue;
      await Promise.race([once(this.#response, 'drain'), this.ended]);
    }
  }
}
