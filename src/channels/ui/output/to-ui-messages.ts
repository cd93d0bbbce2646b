import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { CallsByPlace } from '../../../thread/calls-by-place.ts';
import { retractedMessages } from '../../../thread/app-messages.ts';
import { chunkStream } from './chunk-stream.ts';
import { type ImportedView, importedViews } from './imported-messages.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';
import { TurnChunks } from './turn-chunks.ts';
import { messageIdOf, type Turn, turnsOf } from '../../../view/turns.ts';
import { userUIMessage } from './user-ui-message.ts';

/**
 * The messages of a thread for the first load of a page: the same messages, open requests included, as on a page that has followed the
 * thread from its beginning.
 *
 * @example
 * return Response.json(await toUIMessages(await agent.thread(id)));
 */
export async function toUIMessages(
  thread: AgentThread,
  options: ThreadViewOptions = {},
): Promise<UIMessage[]> {
  const turns = turnsOf(thread.events);
  const imported = importedViews(thread.id, thread.events, options);
  const chunks = [importedChunks(thread.id, imported), pastChunks(thread, turns, options)];
  const stream = chunkStream(joined(chunks), () => {});
  const replies = new Map<string, UIMessage>();
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    replies.set(message.id, message);
  }
  const retracted = retractedMessages(thread.events);
  const views = imported.map(({ id, user }) => user ?? replies.get(id));
  const past = turns.flatMap(({ revision, events: [first] }) => {
    const id = messageIdOf(thread.id, revision);
    const isShown = first?.type === 'message-added' && !retracted.has(first);
    const user = isShown && userUIMessage(first.message, `${id}:user`);
    return [user, replies.get(id)];
  });
  return [...views, ...past].filter((message) => typeof message === 'object');
}

async function* joined<CHUNK>(
  streams: readonly (AsyncIterable<CHUNK> | Iterable<CHUNK>)[],
): AsyncGenerator<CHUNK, void> {
  for (const stream of streams) yield* stream;
}

/* The import is the first two events of the thread. */
function* importedChunks(
  threadId: string,
  views: readonly ImportedView[],
): Generator<UIMessageChunk, void> {
  const messageMetadata = { threadId, revision: 2, status: 'idle' };
  for (const { id: messageId, chunks } of views) {
    if (chunks.length === 0) continue;
    yield { type: 'start', messageId, messageMetadata };
    yield* chunks;
    yield { type: 'finish', messageMetadata };
  }
}

/** The chunks of every turn in which the assistant did something, one after the other: the AI SDK's reader begins a message at each new id. */
async function* pastChunks(
  thread: AgentThread,
  turns: readonly Turn[],
  options: ThreadViewOptions,
): AsyncGenerator<UIMessageChunk, void> {
  const { calls, events, id: threadId, status } = thread;
  const threadCalls = new CallsByPlace(calls);
  for (const turn of turns) {
    const turnChunks = new TurnChunks(threadCalls, options);
    const isLast = turn.end === events.length;
    const chunks = turn.events.slice(1).flatMap((event) => turnChunks.ofEvent(event));
    chunks.push(...turnChunks.showStatus(calls));
    if (chunks.length === 0) continue;
    const messageMetadata = { threadId, revision: turn.end, status: isLast ? status : 'idle' };
    yield { type: 'start', messageId: messageIdOf(threadId, turn.revision), messageMetadata };
    yield* chunks;
    yield { type: 'finish', messageMetadata };
  }
}
