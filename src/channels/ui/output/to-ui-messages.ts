import type { ModelMessage, UIMessage, UIMessageChunk } from 'ai';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import {
  listImportedMessages,
  findRetractedMessages,
  readShownId,
} from '../../../thread/app-messages.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import { type CallEnd, readResult } from '../../../view/thread-items.ts';
import { makeTurnMessageId, readTurns } from '../../../view/turns.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { readParts } from './read-parts.ts';
import { TurnChunks } from './turn-chunks.ts';
import { makeImportedId, toUserUIMessage } from './user-ui-message.ts';

/**
 * Makes the messages of a thread for the first load of a page: the same, open requests included, as on a page that has followed the thread
 * from its beginning.
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
  const { id: threadId, status, events } = thread;
  const calls = new Map(thread.calls.map((call) => [call.toolCallId, call]));
  const retracted = findRetractedMessages(events);
  const messages: UIMessage[] = [];
  for (const { id, user, chunks } of imported) {
    /* The import is the first two events of the thread. */
    const metadata = { threadId, revision: 2, status: 'idle' };
    const reply = await makeReply(id, chunks, metadata);
    messages.push(...(user === undefined ? reply : [user]));
  }
  for (const { revision, end, items } of turns) {
    const first = events[revision - 1];
    const id = makeTurnMessageId(threadId, revision);
    const isShown = first?.type === 'message-added' && !retracted.has(first);
    if (isShown) {
      const userId = readShownId(threadId, first.message) ?? `${id}:user`;
      const user = toUserUIMessage(first.message, userId);
      if (user !== undefined) messages.push(user);
    }
    const turn = new TurnChunks(options);
    const chunks = [...items.flatMap((item) => turn.ofItem(item)), ...turn.showStatus(calls)];
    const metadata = { threadId, revision: end, status: end === events.length ? status : 'idle' };
    messages.push(...(await makeReply(id, chunks, metadata)));
  }
  return messages;
}

/** Makes the assistant's message of a turn, if it did something. */
async function makeReply(
  id: string,
  chunks: readonly UIMessageChunk[],
  metadata: object,
): Promise<UIMessage[]> {
  if (chunks.length === 0) return [];
  return [{ id, role: 'assistant', metadata, parts: await readParts(chunks) }];
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
