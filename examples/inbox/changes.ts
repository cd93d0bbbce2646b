import type { Agent, ThreadEventType } from 'holdpoint';
import { owns, type Person } from './identity.ts';

const changing = [
  'message-added',
  'step-finished',
  'request-opened',
  'request-answered',
  'request-closed',
  'call-started',
  'call-ended',
  'run-ended',
] as const satisfies ThreadEventType[];

/**
 * Tells pages that something has changed, as server-sent events, and not what: they read it anew. So a page that was away misses
 * nothing.
 */
export class Changes {
  readonly #listeners = new Set<(threadId: string) => void>();

  constructor(agent: Agent) {
    for (const type of changing) {
      agent.on(type, ({ threadId }) => {
        for (const listener of this.#listeners) listener(threadId);
      });
    }
  }

  /** A stream with an event for each change in a thread of the person's. */
  follow(person: Person): Response {
    let reader: ReadableStreamDefaultController<string> | undefined;
    const listener = (threadId: string): void => {
      /* News that nobody has read yet say it already. */
      if (!owns(person, threadId) || (reader?.desiredSize ?? 0) <= 0) return;
      reader?.enqueue(`data: ${JSON.stringify(threadId)}\n\n`);
    };
    const body = new ReadableStream<string>({
      start: (controller) => {
        reader = controller;
        controller.enqueue('retry: 500\ndata: ""\n\n');
        this.#listeners.add(listener);
      },
      cancel: () => {
        this.#listeners.delete(listener);
      },
    });
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
    return new Response(body.pipeThrough(new TextEncoderStream()), { headers });
  }
}
