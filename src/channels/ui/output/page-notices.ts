import type { UIMessageChunk } from 'ai';
import type { RefusedAnswer } from '../../../http/error-response.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { approvalRequestChunk } from './ask-chunk.ts';
import type { PagePosition } from './thread-chunks.ts';
import { turnAt } from './turns.ts';

/** What decides which signs a page gets. */
export interface PageNotices {
  thread: AgentThread;
  position: PagePosition;
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
export async function* withNotices(
  chunks: AsyncIterable<UIMessageChunk>,
  notices: PageNotices,
): AsyncGenerator<UIMessageChunk, void> {
  for await (const chunk of chunks) {
    yield chunk;
    if (chunk.type === 'start') yield* noticeChunks(notices);
  }
}

function* noticeChunks(notices: PageNotices): Generator<UIMessageChunk, void> {
  const { thread, refused } = notices;
  yield* askedAgain(notices);
  if (refused.length > 0) yield { type: 'data-refused-answers', transient: true, data: refused };
  if (isStale(notices)) {
    yield { type: 'data-stale', transient: true, data: { revision: thread.revision } };
  }
}

/* Otherwise the page would keep showing the answer that was refused. */
function* askedAgain({
  thread,
  position,
  before,
  refused,
}: PageNotices): Generator<UIMessageChunk, void> {
  if (position.type !== 'message') return;
  const { events, calls, activeRequests } = thread;
  const seen = position.revision ?? before;
  const turn = turnAt(events, seen);
  for (const { requestId } of refused) {
    const request = activeRequests.find((open) => open.requestId === requestId);
    const call = calls.findLast((each) => each.requestId === requestId);
    const opened = events.findIndex(
      (event) => event.type === 'request-opened' && event.request.requestId === requestId,
    );
    const isShown = turn <= opened + 1 && opened + 1 <= seen;
    if (request !== undefined && call !== undefined && isShown)
      yield approvalRequestChunk(request, call);
  }
}

/* The thread has events that neither the page's messages nor this stream show. */
function isStale({ thread: { events }, position, before, seen, isSplit }: PageNotices): boolean {
  if (isSplit) return true;
  if (seen === undefined) return false;
  return position.type === 'message'
    ? turnAt(events, before) > turnAt(events, seen)
    : seen < before;
}
