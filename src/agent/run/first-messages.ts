import type { ModelMessage } from 'ai';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import type { ThreadState } from '../../thread/thread-state.ts';

/** The messages that a step's model call was made with; copied and frozen only for a rule or a tool that looks. */
export function firstMessages(state: ThreadState, count: number): () => readonly ModelMessage[] {
  let messages: readonly ModelMessage[] | undefined;
  return () => (messages ??= deepFreeze(state.messages.slice(0, count)));
}
