import type { AnswerOptions } from '../input/run-input.ts';
import type { RunSettings } from './run-settings.ts';

/** The options of one run. */
export interface RunOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends AnswerOptions, RunSettings<RUNTIME_CONTEXT> {
  /** Aborts the run: tools get the signal too, `run` rejects with its reason, and the thread can be run again. */
  abortSignal?: AbortSignal;
  /** @deprecated The same as `abortSignal`, by its old name. */
  signal?: AbortSignal;
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
  /** The run does nothing before `thread.resumeAt`: for schedulers that may wake too early or too often. Only with the input `[]`. */
  onlyWhenDue?: boolean;
}
