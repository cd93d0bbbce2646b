import type { Stream } from 'node:stream';

/** Does something to a stream. Where that throws, the stream says that it failed, as it does of what fails later. */
export function attemptOn(stream: Stream, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    queueMicrotask(() => stream.emit('error', error));
  }
}
