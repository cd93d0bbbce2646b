import type { UIMessageChunk } from 'ai';
import type { AgentResponse } from '../../../agent/agent-response.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ThreadChunks } from './thread-chunks.ts';

/** Tells a run to its end; throws its error. What others append meanwhile is told too, in the order of the thread. */
export async function* runChunks(
  events: AsyncIterable<AgentStreamEvent>,
  thread: AgentThread,
  threadChunks: ThreadChunks,
): AsyncGenerator<UIMessageChunk, AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of events) {
    if ('at' in event) yield* threadChunks.news(thread);
    else if (event.type === 'finish') ({ status } = event.response);
    else if (event.type === 'error') throw event.error;
    else yield* threadChunks.fromDelta(event);
  }
  yield* threadChunks.news(thread);
  return status;
}

/** A stream with the event put back that was taken from it to see how it begins. */
export async function* withFirst<EVENT>(
  first: IteratorResult<EVENT, undefined>,
  rest: AsyncIterator<EVENT, undefined>,
): AsyncGenerator<EVENT, void> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}
