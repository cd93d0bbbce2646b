import type { UIMessageChunk } from 'ai';
import type { RefusedAnswer } from '../../../http/error-response.ts';
import { ApprovalIds } from '../../../thread/approval-ids.ts';
import { makeApprovalRequestChunk } from './call-chunks.ts';
import type { StreamedPage } from './thread-chunks.ts';
import { turnAt } from '../../../view/turns.ts';

/** The values that decide which notices a page gets. */
export interface NoticeContext extends StreamedPage {
  /** The revision that the page shows, according to its request. */
  seen: number | undefined;
  refused: readonly RefusedAnswer[];
  /** Whether the page sent answers and a message, which begins another turn than theirs. */
  isSplit: boolean;
}

/**
 * Inserts the notices for a page right after the start of its stream: `data-refused-answers` and `data-stale`. They are transient parts:
 * `onData` gets them, and no message keeps them.
 */
export async function* withNotices(
  chunks: AsyncIterable<UIMessageChunk> | Iterable<UIMessageChunk>,
  context: NoticeContext,
): AsyncGenerator<UIMessageChunk, void> {
  for await (const chunk of chunks) {
    /* The page is told so once. */
    if (chunk.type === 'data-stale' && isStale(context)) continue;
    yield chunk;
    if (chunk.type === 'start') yield* makeNoticeChunks(context);
  }
}

function* makeNoticeChunks(context: NoticeContext): Generator<UIMessageChunk, void> {
  const { thread, refused } = context;
  yield* reopenRequests(context);
  if (refused.length > 0) yield { type: 'data-refused-answers', transient: true, data: refused };
  if (isStale(context)) {
    yield { type: 'data-stale', transient: true, data: { revision: thread.revision } };
  }
}

/* Without these the page would keep showing an answer that was refused, or an approval that waits for those of others. */
function* reopenRequests({
  thread,
  position,
  before,
  refused,
}: NoticeContext): Generator<UIMessageChunk, void> {
  if (position.type !== 'message') return;
  const { events, calls, activeRequests } = thread;
  const seen = position.revision ?? before;
  const turn = turnAt(events, seen);
  const sent = [...refused.map(({ requestId }) => requestId), ...position.answers];
  if (sent.length === 0) return;
  const ids = new ApprovalIds(events);
  for (const requestId of new Set(sent)) {
    const request = activeRequests.find((open) => open.requestId === requestId);
    const call = calls.findLast((each) => each.requestId === requestId);
    const opened = events.findIndex(
      (event) => event.type === 'request-opened' && event.request.requestId === requestId,
    );
    const isShown = turn <= opened + 1 && opened + 1 <= seen;
    if (request !== undefined && call !== undefined && isShown) {
      yield makeApprovalRequestChunk(request, ids.changesOf(requestId));
    }
  }
}

/* The thread has events that neither the page's messages nor this stream shows. */
function isStale({ thread: { events }, position, before, seen, isSplit }: NoticeContext): boolean {
  if (isSplit) return true;
  if (seen === undefined) return false;
  return position.type === 'message'
    ? turnAt(events, before) > turnAt(events, seen)
    : seen < before;
}
