import { type ModelMessage, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import {
  findRetractedMessages,
  listImportedMessages,
  readShownId,
} from '../../../thread/app-messages.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import { type CallEnd, readResult } from '../../../view/thread-items.ts';
import { makeTurnMessageId, readTurns } from '../../../view/turns.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { TurnChunks } from './turn-chunks.ts';
import { makeImportedId, toUserUIMessage } from './user-ui-message.ts';
import { makeChunkStream } from './chunk-stream.ts';

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

/**
 * Reads the parts of a message from chunks. The AI SDK's reader copies its whole message at each chunk, which would take quadratic time for
 * many calls: each part is read as a message of its own.
 */
async function readParts(chunks: readonly UIMessageChunk[]): Promise<UIMessage['parts']> {
  const stream = makeChunkStream(separateParts(groupByPart(chunks)), () => {});
  const messages = new Map<string, UIMessage>();
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) {
    messages.set(message.id, message);
  }
  return [...messages.values()].flatMap(({ parts }) => parts);
}

async function* separateParts(
  groups: Iterable<readonly UIMessageChunk[]>,
): AsyncGenerator<UIMessageChunk, void> {
  let count = 0;
  for (const group of groups) {
    count += 1;
    yield { type: 'start', messageId: String(count) };
    yield* group;
    /* Its reader shows a step that has only begun once something else changes. */
    yield { type: 'finish', messageMetadata: {} };
  }
}

/** Groups chunks by part, in the order in which the parts begin. */
function groupByPart(chunks: readonly UIMessageChunk[]): Iterable<readonly UIMessageChunk[]> {
  const groups: UIMessageChunk[][] = [];
  const latest = new Map<string, UIMessageChunk[]>();
  const inStep = new Set<string>();
  const calls = new Map<string, string>();
  for (const chunk of chunks) {
    if (chunk.type === 'start-step') inStep.clear();
    if (chunk.type === 'tool-approval-request') calls.set(chunk.approvalId, chunk.toolCallId);
    const key = readPartKey(chunk, calls);
    const isNext = key === undefined || beginsPart(chunk, inStep.has(key));
    const group = (isNext ? undefined : latest.get(key)) ?? [];
    if (group.push(chunk) === 1) groups.push(group);
    if (key === undefined) continue;
    latest.set(key, group);
    inStep.add(key);
  }
  return groups;
}

/* Later steps may reuse the id of a text or a call. */
function beginsPart({ type }: UIMessageChunk, isInStep: boolean): boolean {
  if (type === 'text-start' || type === 'reasoning-start') return true;
  return !isInStep && /^tool-input-(?:start|available|error)$/.test(type);
}

/** Reads the key that the chunks of one part share; `undefined` for a chunk that is a part by itself. */
function readPartKey(
  chunk: UIMessageChunk,
  calls: ReadonlyMap<string, string>,
): string | undefined {
  if ('toolCallId' in chunk) return `call ${chunk.toolCallId}`;
  if (chunk.type === 'tool-approval-response') return `call ${calls.get(chunk.approvalId) ?? ''}`;
  if (!('id' in chunk) || chunk.id === undefined) return undefined;
  const [kind] = chunk.type.split(/-(?:start|delta|end)$/);
  return `${kind ?? ''} ${chunk.id}`;
}
