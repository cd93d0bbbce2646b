import type { ToolCallRecord } from '../content/tool-call.ts';
import type { NewThreadEvent } from '../thread/thread-event.ts';
import type { ThreadHead } from '../thread/thread-state.ts';
import { endEvents } from './close-requests.ts';
import type { Attempt, Finished } from './executions.ts';

/** The events that record results. What ended otherwise meanwhile, or was given up, is left as it is. */
export function resultEvents(
  head: ThreadHead,
  finished: readonly Finished[],
  at: number,
): NewThreadEvent[] {
  return finished.flatMap(({ attempt, execution }): NewThreadEvent[] => {
    const { step, index } = attempt;
    const call = callOf(head, attempt);
    if (call === undefined) return [];
    if (execution.type === 'ended') {
      return endEvents(head, { type: 'call-ended', at, step, index, outcome: execution.outcome });
    }
    if (call.status === 'deferred') return [];
    const { expiresAfterMs } = execution;
    const expiry = expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs };
    return [{ type: 'call-deferred', at, step, index, ...expiry }];
  });
}

/** The call of an attempt, while that attempt is the one whose result is awaited. */
export function callOf(
  { calls }: ThreadHead,
  { step, index, attempt }: Attempt,
): ToolCallRecord | undefined {
  const call = calls[index];
  const isAwaited = call?.status === 'started' || call?.status === 'deferred';
  return isAwaited && call.step === step && call.attempts === attempt ? call : undefined;
}
