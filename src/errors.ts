/** Why holdpoint refused, for code to act on. */
export type HoldpointErrorCode =
  /** The thread has no request of this id, nor ever had. Look at `thread.activeRequests`. */
  | 'unknown-request'
  /** The thread has no call of this id. Look at `thread.calls`. */
  | 'unknown-call'
  /** The request, or the call, was answered otherwise before; the first answer stands. */
  | 'already-answered'
  /** The request expired, was cancelled or was invalidated; it can't be answered any more. */
  | 'request-closed'
  /** The answer repeats a call or a digest that is not the one in the log. */
  | 'answer-mismatch'
  /** The answer has not the shape of one, or contradicts another answer of the same input. */
  | 'invalid-answer'
  /** The input of a run, a thread id or a restored thread has not the shape it must have. */
  | 'invalid-input'
  /** A message can't come while requests are open: answer them, or run with `whilePending: 'cancel'`. */
  | 'requests-open'
  /** Another run is at work on the thread: wait for its end. */
  | 'thread-busy'
  /** A call was started and its outcome is unknown; it must be settled before the thread goes on. */
  | 'thread-indeterminate'
  /** The thread belongs to an agent of another name: use that one, or `agent.adopt(thread)`. */
  | 'wrong-agent'
  /** The agent lacks a tool that the thread needs to go on: run it with an agent that has the tool, or cancel. */
  | 'missing-tool'
  /** The thread was deleted; its handles can't be used any more. */
  | 'thread-deleted'
  /** The restored thread and the stored one have different pasts. */
  | 'thread-diverged'
  /** Somebody appended to the thread first. Stores throw it; the agent reads on and decides again. */
  | 'revision-conflict'
  /** The log does not fold: an event is missing, doubled, or not what the ones before it allow. */
  | 'log-tampered'
  /** The thread was written by a newer holdpoint. */
  | 'unsupported-version'
  /** What was asked for is not allowed here. */
  | 'not-allowed';

const brand = Symbol.for('holdpoint.error');

/**
 * The one error class of holdpoint. `code` says what happened, the message says with which id and what to do.
 * A call that was denied or that failed is content of the thread, not an error.
 *
 * @example
 * try {
 *   await agent.run(answers, thread);
 * } catch (error) {
 *   if (HoldpointError.isInstance(error) && error.code === 'already-answered') return showOutcome(thread);
 *   throw error;
 * }
 */
export class HoldpointError extends Error {
  override readonly name = 'HoldpointError';
  readonly code: HoldpointErrorCode;
  /** Of an answer that was refused: the request that it names. The answers beside it may be fine without it. */
  readonly requestId: string | undefined;
  /** Recognised across duplicate installs of the package, where `instanceof` fails. */
  readonly [brand] = true;

  constructor(
    code: HoldpointErrorCode,
    message: string,
    options: { cause?: unknown; requestId?: string | undefined } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.code = code;
    this.requestId = options.requestId;
  }

  /** Whether a value is a `HoldpointError`, of this or another copy of the package. */
  static isInstance(value: unknown): value is HoldpointError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}
