import type { UIMessageChunk } from 'ai';
import type { AgentStream } from '../../../agent/agent-stream.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { checkedLimit } from '../../../content/checked-number.ts';
import { chunkStream, drain } from './chunk-stream.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';
import { withFirst, runChunks } from './run-chunks.ts';
import { type PagePosition, ThreadChunks } from './thread-chunks.ts';
import { turnAt } from './turns.ts';

/** A run to tell, and where its reader stands. */
export interface UIMessageStreamOptions extends ThreadViewOptions {
  /** From `agent.stream`, not begun. */
  stream: AgentStream;
  /** The handle that the stream was made with. */
  thread: AgentThread;
  /** The revision that the reader's last message shows, from its metadata: what came after it is told first. Default: from now. */
  revision?: number;
}

/**
 * A run as the AI SDK's UI message stream, for a route of your own: `createUIMessageStreamResponse({ stream })`. It goes at its
 * reader's pace; a reader that leaves does not end the run. Throws a `TypeError` for a `revision` that is none.
 */
export function toUIMessageStream({
  stream,
  thread,
  revision,
  ...options
}: UIMessageStreamOptions): ReadableStream<UIMessageChunk> {
  if (revision !== undefined) checkedLimit(revision, 'revision');
  const chunks = tell({ stream, thread, options, revision, before: thread.revision });
  return chunkStream(chunks, () => void drain(chunks));
}

async function* tell({
  stream,
  thread,
  options,
  revision,
  before,
}: {
  stream: AgentStream;
  thread: AgentThread;
  options: ThreadViewOptions;
  revision: number | undefined;
  before: number;
}): AsyncGenerator<UIMessageChunk, void> {
  const threadChunks = new ThreadChunks(options);
  const events = stream[Symbol.asyncIterator]();
  const first = await events.next();
  const isNewTurn = turnAt(thread.events, thread.revision) > before;
  const position: PagePosition = isNewTurn
    ? { type: 'nothing' }
    : { type: 'message', revision, answers: [], isHeld: revision !== undefined };
  try {
    yield* threadChunks.begin(thread, position, before);
    yield* runChunks(withFirst(first, events), thread, threadChunks);
    yield* threadChunks.end(thread);
  } catch (error) {
    yield* threadChunks.fail(thread, error);
  }
}
