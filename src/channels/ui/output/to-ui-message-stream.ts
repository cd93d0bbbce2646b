import type { UIMessageChunk } from 'ai';
import type { AgentStream } from '../../../agent/agent-stream.ts';
import { checkedLimit } from '../../../content/checked-number.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { chunkStream, drain, withFirst } from './chunk-stream.ts';
import { type PagePosition, runChunks, ThreadChunks } from './thread-chunks.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { turnAt } from '../../../view/turns.ts';

/** A run to stream, and what its reader already shows. */
export interface UIMessageStreamOptions extends ThreadViewOptions {
  /** From `agent.stream`, not yet read. */
  stream: AgentStream;
  /** The handle that was passed to `agent.stream`. */
  thread: AgentThread;
  /** The revision in the metadata of the reader's last message: later events are streamed first. Default: the current one. */
  revision?: number;
}

/**
 * A run as the AI SDK's UI message stream, for a route of your own: `createUIMessageStreamResponse({ stream })`. The run goes at the pace
 * of the stream's reader; a reader that leaves does not end it. Throws a `TypeError` if `revision` is not a whole number of at least 0.
 */
export function toUIMessageStream({
  stream,
  thread,
  revision,
  ...options
}: UIMessageStreamOptions): ReadableStream<UIMessageChunk> {
  if (revision !== undefined) checkedLimit(revision, 'revision');
  const chunks = chunksOf({ stream, thread, options, revision, before: thread.revision });
  return chunkStream(chunks, () => void drain(chunks));
}

async function* chunksOf({
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
  const chunks = new ThreadChunks(options);
  const events = stream[Symbol.asyncIterator]();
  const first = await events.next();
  const isNewTurn = turnAt(thread.events, thread.revision) > before;
  const position: PagePosition = isNewTurn
    ? { type: 'nothing' }
    : { type: 'message', revision, answers: [], isHeld: revision !== undefined };
  try {
    yield* chunks.begin(thread, position, before);
    yield* runChunks(withFirst(first, events), thread, chunks);
    yield* chunks.end(thread);
  } catch (error) {
    yield* chunks.fail(thread, error);
  }
}
