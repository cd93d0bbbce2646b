import type { UIMessageChunk } from 'ai';

/** Chunks as a stream that makes one when it is asked for one, and calls `onLeave` when its reader leaves. */
export function chunkStream(
  chunks: AsyncGenerator<UIMessageChunk, void>,
  onLeave: () => void,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: onLeave,
    },
    { highWaterMark: 0 },
  );
}

/** Reads what nobody hears any more to its end: a run whose reader just stopped would hold its thread. */
export async function drain(chunks: AsyncGenerator<UIMessageChunk, void>): Promise<void> {
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    /* The run has recorded how it ended, and there is nobody to tell. */
  }
}
