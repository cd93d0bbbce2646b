import type { LanguageModelUsage } from 'ai';
import type { StepMetadata } from '../../thread/events.ts';
import { isModelDue, computeThreadStatus } from '../../thread/thread-status.ts';
import { endsTurn } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';

/** How a run ended. */
export interface RunEnd {
  status:
    | 'completed'
    | 'waiting'
    | 'running'
    | 'indeterminate'
    | 'stuck'
    | 'max-steps'
    | 'cancelled';
  usage: LanguageModelUsage | undefined;
  finishReason: string | undefined;
  /** Provider metadata of the last step. */
  metadata: StepMetadata | undefined;
}

/** The status of a run that left the thread in this state. */
export function describeEndStatus(state: Readonly<ThreadState>, now: number): RunEnd['status'] {
  const { head, pastCalls } = state;
  const status = computeThreadStatus(head, now);
  if (status !== 'idle') return status;
  if (head.failure !== undefined) return 'waiting';
  /* The lease expired before the model was asked; the next run asks it. */
  if (isModelDue(head)) return head.isOutOfSteps ? 'max-steps' : 'running';
  if (head.isStopped) return 'cancelled';
  /* A person ended the turn: the model gets these results with the next message. */
  const isPast = (step: number): boolean => step < head.steps - 1;
  const last = pastCalls.findLast((call) => endsTurn(call) || isPast(call.step));
  return last === undefined || isPast(last.step) ? 'completed' : 'cancelled';
}
