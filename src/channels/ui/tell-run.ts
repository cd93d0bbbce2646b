import type { UIMessageChunk } from 'ai';
import type { AgentResponse } from '../../agent/agent-response.ts';
import type { AgentStreamEvent } from '../../agent/agent-stream.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ThreadTelling } from './thread-telling.ts';

/** Tells a run to its end; throws its error. What others append meanwhile is told too, in the order of the thread. */
export async function* tellRun(
  events: AsyncIterable<AgentStreamEvent>,
  thread: AgentThread,
  telling: ThreadTelling,
): AsyncGenerator<UIMessageChunk, AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of events) {
    if ('at' in event) yield* telling.news(thread);
    else if (event.type === 'finish') ({ status } = event.response);
    else if (event.type === 'error') throw event.error;
    else yield* telling.hear(event);
  }
  yield* telling.news(thread);
  return status;
}

/** A stream with the event put back that was taken from it to see how it begins. */
export async function* putBack<EVENT>(
  first: IteratorResult<EVENT, undefined>,
  rest: AsyncIterator<EVENT, undefined>,
): AsyncGenerator<EVENT, void> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}
