import type { AnswerOptions } from '../input/run-input.ts';

/** How one run goes. */
export interface RunOptions<RUNTIME_CONTEXT = Record<string, unknown>> extends AnswerOptions {
  /** Ends the run: tools get it as theirs, `run` rejects with its reason, and the thread can be run again. */
  abortSignal?: AbortSignal;
  /** @deprecated The same as `abortSignal`, by its old name. */
  signal?: AbortSignal;
  /** For the rules of `toolApproval`; and for the AI SDK's telemetry, of what `telemetry.includeRuntimeContext` names. */
  runtimeContext?: RUNTIME_CONTEXT;
  /** What a message does to open requests: it is refused (default), or it cancels them. */
  whilePending?: 'refuse' | 'cancel';
  /**
   * Your id for the message of this input, 1 to 256 characters: the same id again records nothing, goes on where the turn stands, and
   * gives the recorded reply once there is one, also when the conversation has gone on since. For callers that retry: queues, workflow
   * engines, browsers.
   */
  messageId?: string;
  /**
   * Does nothing unless `thread.resumeAt` has come: for schedulers of your own, which may wake too early or too often. Only with
   * the input `[]`.
   */
  onlyWhenDue?: boolean;
}
