import type { UIMessage } from 'ai';
import { z } from 'zod';
import { type Answer, type Board, boardSchema } from '../board.ts';

const messageSchema = z.custom<UIMessage>(
  (value) => typeof value === 'object' && value !== null && 'parts' in value,
);
const threadSchema = z.object({ messages: z.array(messageSchema), status: z.string() });
const refusalSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The server said no; `code` says why. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }

  /** Reads the body of a response that says no. */
  static read(status: number, body: string): Refusal {
    try {
      const { code, message } = refusalSchema.parse(JSON.parse(body)).error;
      return new Refusal(code, message);
    } catch {
      return new Refusal('unknown', `The server answered ${status}.`);
    }
  }
}

/** What the page asks the server for, in a person's name. */
export class OfficeClient {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  get headers(): Record<string, string> {
    return { 'x-demo-name': this.name };
  }

  async board(): Promise<Board> {
    return boardSchema.parse(await this.#get('/api/inbox'));
  }

  /** Records an answer; a worker of the server goes on with it. Throws a `Refusal`. */
  async answer(threadId: string, answer: Answer): Promise<void> {
    const response = await fetch('/api/inbox', {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ threadId, answer }),
    });
    if (!response.ok) throw Refusal.read(response.status, await response.text());
  }

  /** The messages of a thread as `useChat` has them, and whether somebody runs it. */
  async thread(threadId: string): Promise<z.infer<typeof threadSchema>> {
    const thread = await this.#get(`/api/chat?id=${encodeURIComponent(threadId)}`);
    return threadSchema.parse(thread);
  }

  /** Calls `onChange` when anything has changed, and once it is connected again; `onLost` when it is not. */
  follow(onChange: () => void, onLost: () => void): () => void {
    const source = new EventSource(`/api/inbox/events?as=${encodeURIComponent(this.name)}`);
    source.addEventListener('message', onChange);
    source.addEventListener('error', onLost);
    return () => source.close();
  }

  async #get(path: string): Promise<unknown> {
    const response = await fetch(path, { headers: this.headers });
    if (!response.ok) throw Refusal.read(response.status, await response.text());
    return response.json();
  }
}
