import type { UIMessageChunk } from 'ai';
import type { Agent, AnswerOptions } from '../../../agent.ts';
import { findViewerRights } from '../../../view/viewer-rights.ts';
import type { ThreadChunks } from './thread-chunks.ts';

/** The person to whom a stream is sent. */
export interface StreamViewer {
  agent: Pick<Agent, 'rights'>;
  by: AnswerOptions;
  /** Aborted when their page has disconnected. */
  disconnected: AbortSignal;
}

/**
 * Adds the viewer's rights to the open requests to their stream, before each chunk that shows another state of them: the transient part
 * `data-request-rights`. They are read for this stream alone, because other pages that follow the same run have other viewers.
 */
export async function* withRights(
  stream: AsyncIterable<UIMessageChunk>,
  chunks: ThreadChunks,
  { agent, by, disconnected }: StreamViewer,
): AsyncGenerator<UIMessageChunk, void> {
  let sentAt = 0;
  for await (const chunk of stream) {
    if (chunks.askedAt > sentAt && !disconnected.aborted) {
      const { thread } = chunks;
      const data = await findViewerRights(agent, thread, by);
      sentAt = thread.revision;
      if (data !== undefined) yield { type: 'data-request-rights', transient: true, data };
    }
    yield chunk;
  }
}
