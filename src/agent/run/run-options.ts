import type { AnswerOptions } from '../input/run-input.ts';
import type { RunOverrides } from './run-settings.ts';

/** The options of one run. */
export interface RunOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends AnswerOptions, RunOverrides<RUNTIME_CONTEXT> {
  /** Aborts the run: tools get the signal too, `run` rejects with its reason, and the thread can be run again. */
  abortSignal?: AbortSignal;
  /**
   * Passed to the rules of `toolApproval`; and to the AI SDK's telemetry, as far as `telemetry.includeRuntimeContext` names it. It counts only
   * if `principal` is everybody for whom the run works: whoever continues somebody else's turn brings no context to it.
   */
  runtimeContext?: RUNTIME_CONTEXT;
  /** What happens to open requests when a message arrives: the message is refused (default), or it cancels them. */
  whilePending?: 'refuse' | 'cancel';
  /**
   * Your id for the message of this input, 1 to 256 characters. The same id again records nothing: the turn resumes, and once there is a
   * reply, the recorded reply is returned, even if the conversation has continued since. For callers that retry: queues, workflow engines,
   * browsers. Without it, the id in the last message counts, at `providerOptions.holdpoint.messageId`. Another text under the id of a
   * message, or another `principal`, is `invalid-input`.
   */
  messageId?: string;
  /**
   * Also resumes a turn that a person stopped before the model's first word, which a run otherwise leaves alone: for a person who wants the
   * reply after all. The message keeps its sender. Not together with `onlyWhenDue`.
   */
  resumeStopped?: boolean;
  /**
   * The input's message replaces one that has no reply, and those after it, in one append: an edit. It is the revision at which the thread
   * recorded that message, the place of its `message-added` in `thread.events`, counted from 1. Rejects with `not-allowed` if the message has a
   * reply, or if any of the messages was sent by somebody else than `principal`.
   */
  replaces?: number;
  /** The run does nothing before `thread.resumeAt`: for schedulers that may wake too early or too often. Only with the input `[]`. */
  onlyWhenDue?: boolean;
}
