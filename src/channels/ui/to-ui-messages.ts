import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { retractedMessages } from '../../thread/app-messages.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { chunkStream } from './chunk-stream.ts';
import type { TellingOptions } from './telling-options.ts';
import { messageIdOf, type Turn, turnsOf } from './turns.ts';
import { TurnTeller } from './turn-teller.ts';
import { userUIMessage } from './user-ui-message.ts';

/**
 * The messages of a thread as a page shows them, for its first load: what the page would hold had it been there all the time, open
 * requests included.
 *
 * @example
 * return Response.json(await toUIMessages(await agent.thread(id)));
 */
export async function toUIMessages(
  thread: AgentThread,
  options: TellingOptions = {},
): Promise<UIMessage[]> {
  const turns = turnsOf(thread.events);
  const stream = chunkStream(pastChunks(thread, turns, options), () => {});
  const told = new Map<string, UIMessage>();
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    told.set(message.id, message);
  }
  const retracted = retractedMessages(thread.events);
  return turns.flatMap(({ revision, events: [first] }) => {
    const id = messageIdOf(thread.id, revision);
    const isSaid = first?.type === 'message-added' && !retracted.has(first);
    const user = isSaid && userUIMessage(first.message, `${id}:user`);
    return [user, told.get(id)].filter((message) => typeof message === 'object');
  });
}

/** Every turn in which the assistant did something, told one after the other: the AI SDK's reader begins a message at each new id. */
async function* pastChunks(
  thread: AgentThread,
  turns: readonly Turn[],
  options: TellingOptions,
): AsyncGenerator<UIMessageChunk, void> {
  const { calls, events, id: threadId, status } = thread;
  const places = new Map(calls.map((call) => [`${call.step}.${call.index}`, call]));
  for (const turn of turns) {
    const teller = new TurnTeller(({ step, index }) => places.get(`${step}.${index}`), options);
    const end = turn.revision - 1 + turn.events.length;
    const isLast = end === events.length;
    const chunks = turn.events.slice(1).flatMap((event) => teller.tell(event));
    /* What is about no call may be answered in a later turn, and shows where it was asked. */
    const later = teller.isAsking ? events.slice(end).filter(isEndOfRequest) : [];
    chunks.push(...later.flatMap((event) => teller.tell(event)));
    if (isLast) chunks.push(...teller.settle(calls));
    if (chunks.length === 0) continue;
    const messageMetadata = { threadId, revision: end, status: isLast ? status : 'idle' };
    yield { type: 'start', messageId: messageIdOf(threadId, turn.revision), messageMetadata };
    yield* chunks;
    yield { type: 'finish', messageMetadata };
  }
}

function isEndOfRequest({ type }: ThreadEvent): boolean {
  return type === 'request-answered' || type === 'request-closed';
}
