import { HoldpointError } from '../errors.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { ParsedInput } from './input/parse-input.ts';

/** Throws `not-allowed` for input that does not come through the call on which the agent works in this thread. */
export function refuseChildInput(
  { threadId, head }: Readonly<ThreadState>,
  { messages, answers }: ParsedInput,
): void {
  if (head.parent === undefined || messages.length + answers.length === 0) return;
  const { threadId: above, toolCallId } = head.parent;
  throw new HoldpointError(
    'not-allowed',
    `In thread ${threadId} an agent works on call ${toolCallId} of thread ${above}: answer its requests there. ` +
      'agent.thread(id) opens it for reading, and agent.run([], thread) resumes it.',
  );
}
