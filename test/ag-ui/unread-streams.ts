import { EventEmitter, once } from 'node:events';
import { createAgent } from 'holdpoint';
import { type AgUiHandlerOptions, createAgUiHandler } from 'holdpoint/ag-ui';
import { expect } from 'vitest';
import { finishPart, streamedModel, type StreamPart } from '../support/streamed-model.ts';
import { post, runInput, user } from './ag-ui-site.ts';

/** What a client may be behind, at the most; with what one event may add. */
export const backlog = 262_144 + 10_000;

function* pieces(count: number, piece: string): Generator<StreamPart> {
  yield { type: 'text-start', id: '1' };
  for (let index = 0; index < count; index += 1)
    yield { type: 'text-delta', id: '1', delta: piece };
  yield { type: 'text-end', id: '1' };
  yield finishPart();
}

/** An agent whose model says much, and when its runs have ended. */
export function talker(
  count: number,
  piece: string,
  options: Partial<AgUiHandlerOptions> = {},
  answers = 1,
) {
  const { model, heard } = streamedModel(
    ...Array.from({ length: answers }, () => pieces(count, piece)),
  );
  const agent = createAgent({ model, maxRetries: 0 });
  const ends = new EventEmitter();
  let ended = 0;
  agent.on('run-ended', () => {
    ended += 1;
    ends.emit(String(ended));
  });
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }), ...options });
  /** Resolves when so many runs have ended. */
  const runsEnded = async (wanted: number): Promise<unknown> =>
    ended < wanted ? once(ends, String(wanted)) : undefined;
  return { agent, handler, heard, runsEnded };
}

/** Leaves so many streams unread: their runs end, and none keeps more than its share. */
export async function leaveUnread(count: number): Promise<void> {
  const at = talker(1_000, 'x'.repeat(1_000), {}, count);
  const responses = await Promise.all(
    Array.from({ length: count }, async (_, index) =>
      at.handler(post(runInput({ threadId: `t${index}`, messages: [user('u1')] }))),
    ),
  );
  const readers = responses.map(({ body }) => body?.getReader());
  /* Each reads once, as a socket does before its buffer is full, and then no more. */
  const first = await Promise.all(
    readers.map(async (reader) => (await reader?.read())?.value?.byteLength ?? 0),
  );
  await at.runsEnded(count);
  expect(at.heard.requests).toBe(count);
  const kept = await Promise.all(
    readers.map(async (reader) => {
      const decoder = new TextDecoder();
      let deltas = 0;
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
        const frames = decoder.decode(next.value).split('\n\n');
        for (const frame of frames)
          if (frame.includes('TEXT_MESSAGE_CONTENT')) deltas += frame.length;
      }
      return deltas;
    }),
  );
  expect(Math.max(...first)).toBeLessThan(backlog);
  expect(Math.max(...kept)).toBeLessThan(backlog);
}
