import { HoldpointError } from '../../errors.ts';
import { isRunning } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { refuseChild } from '../input/answer-errors.ts';
import type { ParsedInput } from '../input/parse-input.ts';

/** Throws `not-allowed` for messages and answers in a child thread that do not come through its delegated call. */
export function refuseChildInput(
  state: Readonly<ThreadState>,
  { messages, answers }: ParsedInput,
): void {
  if (messages.length + answers.length > 0) refuseChild(state);
}

/** Throws `thread-busy` while a run holds the thread. */
export function refuseRunning({ threadId, head }: Readonly<ThreadState>, now: number): void {
  if (!isRunning(head, now)) return;
  throw new HoldpointError(
    'thread-busy',
    `Thread ${threadId} is being run; try again when that run has ended.`,
  );
}
