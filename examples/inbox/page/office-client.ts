import { readRefusal } from 'holdpoint/ui';
import { type Answer, type Board, boardSchema } from '../board.ts';

/** The server refused; the message says why. */
export class Refusal extends Error {
  /** Reads the refusal in a response. */
  static async read(response: Response): Promise<Refusal> {
    const refusal = readRefusal(await response.text());
    return new Refusal(refusal?.text ?? `The server answered ${response.status}.`);
  }
}

/** The page's requests to the server, in a person's name. */
export class OfficeClient {
  readonly name: string;
  /** For whom the first board was read. */
  #viewer: string | undefined;

  constructor(name: string) {
    this.name = name;
  }

  get headers(): Record<string, string> {
    return { 'x-demo-name': this.name };
  }

  /** Reads the board. Loads the whole page again if somebody else has signed in since: nothing of the person before stays. */
  async board(): Promise<Board> {
    const board = boardSchema.parse(await this.#get('/api/inbox'));
    this.#viewer ??= board.viewer;
    if (board.viewer !== this.#viewer) location.reload();
    return board;
  }

  /** Records an answer; a worker of the server resumes the thread. Throws a `Refusal`. */
  async answer(threadId: string, answer: Answer): Promise<void> {
    const response = await fetch('/api/inbox', {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ threadId, answer, viewer: this.#viewer }),
    });
    if (!response.ok) throw await Refusal.read(response);
  }

  /** Calls `onChange` on each change and after each reconnection, and `onLost` when the connection is lost. Returns a function that stops it. */
  follow(onChange: () => void, onLost: () => void): () => void {
    const source = new EventSource(`/api/inbox/events?as=${encodeURIComponent(this.name)}`);
    source.addEventListener('message', onChange);
    source.addEventListener('error', onLost);
    return () => source.close();
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(path, { headers: this.headers });
    if (!response.ok) throw await Refusal.read(response);
    return response.json();
  }
}

/** Why an answer was not recorded, in words for the person. */
export function errorNotice(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  return 'The server could not be reached. Please answer again.';
}
