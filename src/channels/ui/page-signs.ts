import type { UIMessageChunk } from 'ai';
import type { RefusedAnswer } from '../../http/error-response.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { askChunk } from './ask-chunk.ts';
import type { PageStand } from './thread-telling.ts';
import { turnAt } from './turns.ts';

/** What decides which signs a page gets. */
export interface PageSigns {
  thread: AgentThread;
  stand: PageStand;
  /** The revision of the thread before it took what the page brought. */
  before: number;
  /** The revision that the page says it has seen. */
  seen: number | undefined;
  refused: readonly RefusedAnswer[];
  /** Whether the page brought answers and a message, which begins another turn than theirs. */
  isSplit: boolean;
}

/**
 * A stream with the signs for the page right after its start: `data-refused-answers` and `data-stale`. They are transient parts, so that
 * `onData` gets them and no message keeps them.
 */
export async function* withSigns(
  chunks: AsyncIterable<UIMessageChunk>,
  signs: PageSigns,
): AsyncGenerator<UIMessageChunk, void> {
  for await (const chunk of chunks) {
    yield chunk;
    if (chunk.type === 'start') yield* signChunks(signs);
  }
}

function* signChunks(signs: PageSigns): Generator<UIMessageChunk, void> {
  const { thread, refused } = signs;
  yield* askedAgain(signs);
  if (refused.length > 0) yield { type: 'data-refused-answers', transient: true, data: refused };
  if (isStale(signs)) {
    yield { type: 'data-stale', transient: true, data: { revision: thread.revision } };
  }
}

/* Otherwise the page would keep showing the answer that was refused. */
function* askedAgain({
  thread,
  stand,
  before,
  refused,
}: PageSigns): Generator<UIMessageChunk, void> {
  if (stand.type !== 'message') return;
  const { events, calls, activeRequests } = thread;
  const seen = stand.revision ?? before;
  const turn = turnAt(events, seen);
  for (const { requestId } of refused) {
    const request = activeRequests.find((open) => open.requestId === requestId);
    const call = calls.findLast((each) => each.requestId === requestId);
    const opened = events.findIndex(
      (event) => event.type === 'request-opened' && event.request.requestId === requestId,
    );
    const isShown = turn <= opened + 1 && opened + 1 <= seen;
    if (request !== undefined && call !== undefined && isShown) yield askChunk(request, call);
  }
}

/* The thread has events that neither the page's messages nor this stream show. */
function isStale({ thread: { events }, stand, before, seen, isSplit }: PageSigns): boolean {
  if (isSplit) return true;
  if (seen === undefined) return false;
  return stand.type === 'message' ? turnAt(events, before) > turnAt(events, seen) : seen < before;
}
