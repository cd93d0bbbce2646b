import type { AgentStream, AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderPart } from '../agent/collected-answer.ts';

/**
 * A run as a provider's stream. It goes as fast as it is read; to cancel it ends the run as an aborted signal does, and waits for
 * that.
 */
export function toldStream(
  run: AgentStream,
  tell: (event: AgentStreamEvent) => ProviderPart[],
): ReadableStream<ProviderPart> {
  const events = run[Symbol.asyncIterator]();
  const parts: ProviderPart[] = [{ type: 'stream-start', warnings: [] }];
  const leave = async (): Promise<void> => {
    await events.return?.();
  };
  const nextPart = async (): Promise<ProviderPart | undefined> => {
    while (parts.length === 0) {
      const { done, value } = await events.next();
      if (done === true) return undefined;
      parts.push(...tell(value));
    }
    return parts.shift();
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const part = await nextPart();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        } catch (error) {
          await leave();
          throw error;
        }
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}
