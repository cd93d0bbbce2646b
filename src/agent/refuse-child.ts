import { HoldpointError } from '../errors.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { ParsedInput } from './input/parse-input.ts';

/** Throws `not-allowed` for messages and answers in a child thread that do not come through its delegated call. */
export function refuseChildInput(
  { threadId, head }: Readonly<ThreadState>,
  { messages, answers }: ParsedInput,
): void {
  if (head.parent === undefined || messages.length + answers.length === 0) return;
  const { threadId: parentId, toolCallId } = head.parent;
  throw new HoldpointError(
    'not-allowed',
    `Thread ${threadId} is a child thread: its input comes through call ${toolCallId} of thread ${parentId}. ` +
      'Answer its requests there. agent.thread(id) opens it for reading, and agent.run([], thread) resumes it.',
  );
}
