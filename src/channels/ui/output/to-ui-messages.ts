import { type ModelMessage, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { listImportedMessages, findRetractedMessages } from '../../../thread/app-messages.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import { type CallEnd, readResult } from '../../../view/items.ts';
import { makeTurnMessageId, readTurns, type Turn } from '../../../view/turns.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { makeChunkStream } from './chunk-stream.ts';
import { TurnChunks } from './turn-chunks.ts';
import { makeImportedId, toUserUIMessage } from './user-ui-message.ts';

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
  const turns = readTurns(thread);
  const imported = listImportedViews(thread.id, thread.events, options);
  const chunks = [
    makeImportedViewChunks(thread.id, imported),
    streamPastChunks(thread, turns, options),
  ];
  const stream = makeChunkStream(joinStreams(chunks), () => {});
  const replies = new Map<string, UIMessage>();
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    replies.set(message.id, message);
  }
  const retracted = findRetractedMessages(thread.events);
  const views = imported.map(({ id, user }) => user ?? replies.get(id));
  const past = turns.flatMap(({ revision }) => {
    const first = thread.events[revision - 1];
    const id = makeTurnMessageId(thread.id, revision);
    const isShown = first?.type === 'message-added' && !retracted.has(first);
    const user = isShown && toUserUIMessage(first.message, `${id}:user`);
    return [user, replies.get(id)];
  });
  return [...views, ...past].filter((message) => typeof message === 'object');
}

async function* joinStreams<CHUNK>(
  streams: readonly (AsyncIterable<CHUNK> | Iterable<CHUNK>)[],
): AsyncGenerator<CHUNK, void> {
  for (const stream of streams) yield* stream;
}

/* The import is the first two events of the thread. */
function* makeImportedViewChunks(
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
async function* streamPastChunks(
  thread: AgentThread,
  turns: readonly Turn[],
  options: ThreadViewOptions,
): AsyncGenerator<UIMessageChunk, void> {
  const { calls, events, id: threadId, status } = thread;
  for (const turn of turns) {
    const turnChunks = new TurnChunks(options);
    const isLast = turn.end === events.length;
    const chunks = turn.items.flatMap((item) => turnChunks.ofItem(item));
    chunks.push(...turnChunks.showStatus(calls));
    if (chunks.length === 0) continue;
    const messageMetadata = { threadId, revision: turn.end, status: isLast ? status : 'idle' };
    yield { type: 'start', messageId: makeTurnMessageId(threadId, turn.revision), messageMetadata };
    yield* chunks;
    yield { type: 'finish', messageMetadata };
  }
}

/** A message of an imported conversation as a page shows it: one of the user, or the chunks of the assistant's. */
interface ImportedView {
  id: string;
  user: UIMessage | undefined;
  chunks: UIMessageChunk[];
}

/** An imported conversation as a page shows it: replies in one message, and calls as ended, so that there is nothing to answer. */
function listImportedViews(
  threadId: string,
  events: readonly ThreadEvent[],
  options: ThreadViewOptions,
): ImportedView[] {
  const views: ImportedView[] = [];
  let reply: { view: ImportedView; turn: TurnChunks } | undefined;
  for (const [index, message] of listImportedMessages(events).entries()) {
    const id = makeImportedId(threadId, message, index);
    if (message.role === 'user') {
      reply = undefined;
      views.push({ id, user: toUserUIMessage(message, id), chunks: [] });
    } else if (message.role !== 'system') {
      if (reply === undefined) {
        reply = {
          view: { id, user: undefined, chunks: [] },
          turn: new TurnChunks(options),
        };
        views.push(reply.view);
      }
      reply.view.chunks.push(...convertImportedReply(message, reply.turn));
    }
  }
  return views;
}

function convertImportedReply(message: ModelMessage, turn: TurnChunks): UIMessageChunk[] {
  if (message.role !== 'tool') return turn.finishStep({ message });
  return message.content.flatMap((part) =>
    part.type === 'tool-result' ? turn.endCall(part, completeImportedEnd(readResult(part))) : [],
  );
}

function completeImportedEnd(end: CallEnd): CallEnd {
  return end.status === 'denied' ? { ...end, reason: end.reason ?? 'The call was denied.' } : end;
}
