import type { Agent, ThreadEvent } from 'holdpoint';
import { owns, type Person } from './identity.ts';

const changingEvents = [
  'message-added',
  'step-finished',
  'request-opened',
  'request-answered',
  'request-closed',
  'call-started',
  'call-ended',
  'run-ended',
] as const satisfies ThreadEvent['type'][];

/**
 * Notifies pages that something has changed, as server-sent events without the change itself: they read the board again. So a page that
 * was disconnected misses nothing.
 */
export class ChangeStream {
  readonly #listeners = new Set<(threadId: string) => void>();

  constructor(agent: Agent) {
    for (const type of changingEvents) {
      agent.on(type, ({ threadId }) => {
        for (const listener of this.#listeners) listener(threadId);
      });
    }
  }

  /** A stream with an event for each change in the person's threads. */
  follow(person: Person): Response {
    let reader: ReadableStreamDefaultController<string> | undefined;
    const listener = (threadId: string): void => {
      /* An unread event already makes the page read the board again. */
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
