import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { makeChunkStream } from './chunk-stream.ts';

/**
 * Reads the parts of a message from chunks. The AI SDK's reader copies its whole message at each chunk, which would take quadratic time for
 * many calls: each part is read as a message of its own.
 */
export async function readParts(chunks: readonly UIMessageChunk[]): Promise<UIMessage['parts']> {
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
