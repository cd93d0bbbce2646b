import type { LanguageModelUsage } from 'ai';
import type { StepMetadata } from '../../thread/thread-event.ts';
import { endsTurn, isModelDue, statusOf, type ThreadState } from '../../thread/thread-state.ts';

/** How a run ended, beside what the log says. */
export interface RunEnd {
  status:
    | 'completed'
    | 'waiting'
    | 'running'
    | 'indeterminate'
    | 'failing'
    | 'stuck'
    | 'max-steps'
    | 'cancelled';
  usage: LanguageModelUsage | undefined;
  finishReason: string | undefined;
  /** What the provider returned with the last step, beside its message. */
  metadata: StepMetadata | undefined;
}

/** How a run ended that leaves the thread in this state. */
export function endStatusOf(state: Readonly<ThreadState>, now: number): RunEnd['status'] {
  const { head, pastCalls } = state;
  const status = statusOf(head, now);
  if (status !== 'idle') return status;
  if (head.failure !== undefined) return 'failing';
  /* The lease ran out before the model was asked; the next run does that. */
  if (isModelDue(head)) return head.isOutOfSteps ? 'max-steps' : 'running';
  if (head.isStopped) return 'cancelled';
  /* Results that the model is not told before the next message: a person ended the turn. */
  const isPast = (step: number): boolean => step < head.steps - 1;
  const last = pastCalls.findLast((call) => endsTurn(call) || isPast(call.step));
  return last === undefined || isPast(last.step) ? 'completed' : 'cancelled';
}
