/** The kind of an error, for code to act on. */
export type HoldpointErrorCode =
  /**
   * The thread has no request or call with this id, or the agent no standing approval in effect. Look in `thread.activeRequests`,
   * `thread.calls` and `agent.grants(thread)`.
   */
  | 'not-found'
  /** The request or call already has a different answer, and the first one counts. The message says which. */
  | 'already-answered'
  /** The request expired, was cancelled or was invalidated, and can't be answered any more. */
  | 'request-closed'
  /** The answer repeats a call or a digest that differs from the stored request. Show the person the stored request again. */
  | 'answer-mismatch'
  /** The answer has the wrong shape, doesn't fit its question, or contradicts another answer of the same input. */
  | 'invalid-answer'
  /** The input of a run, a thread id or the JSON form of a thread is invalid. */
  | 'invalid-input'
  /** A message can't be added while requests are open. Answer them first, or run with `whilePending: 'cancel'`. */
  | 'requests-open'
  /** Another run holds the thread. Wait until it has ended. */
  | 'thread-busy'
  /** A call was started and its outcome is unknown. Settle it before the thread can resume. */
  | 'thread-indeterminate'
  /** The thread belongs to an agent with another name. Use that agent, or take the thread over with `agent.adopt(thread)`. */
  | 'wrong-agent'
  /** The agent lacks a tool that the thread needs in order to resume. Run it with an agent that has the tool, or cancel. */
  | 'missing-tool'
  /** The thread was deleted, and handles on it can't be used any more. */
  | 'thread-deleted'
  /** The thread to restore and the stored thread of the same id have different histories. */
  | 'thread-diverged'
  /** Concurrent append: the log doesn't end where it was expected to. Thrown by stores; the agent reads the new events and retries. */
  | 'revision-conflict'
  /** A standing approval was revoked, has expired or has no use left. Thrown by stores; the agent then asks a person. */
  | 'grant-ended'
  /** The log is damaged or was edited: an event is missing, repeated, or contradicts the ones before it. Restore a backup. */
  | 'log-tampered'
  /** The thread was written by a newer version of holdpoint. Upgrade holdpoint to open it. */
  | 'unsupported-version'
  /** The operation isn't allowed for this thread, call or request now, or in this place. The message says why. */
  | 'not-allowed';

/** An answer that was not recorded, and the reason. */
export interface RefusedAnswer {
  /** The request that it answers. */
  requestId: string;
  /** The kind of fault, for code to act on. */
  code: HoldpointErrorCode;
  /** The fault, and the remedy. */
  message: string;
  /** The path to the field that caused it, of the edited input or of the question. */
  field?: readonly string[];
  /** The reason, for the person who answered. */
  reason?: string;
}

const brand = Symbol.for('holdpoint.error');

/**
 * The error that holdpoint throws. Act on `code`; the message names the fault, the id and the remedy. A call that was denied or that failed
 * is not an error: its outcome is in the thread.
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
  /** The name of the class. */
  override readonly name = 'HoldpointError';
  /** The kind of an error, for code to act on. */
  readonly code: HoldpointErrorCode;
  /** The id of the request whose answer was refused. Other answers of the same input may be accepted without it. */
  declare readonly requestId: string | undefined;
  /** The path to the field that caused an `invalid-answer`: of the input that an approval edits, or of a question. */
  declare readonly field: readonly string[] | undefined;
  /** The reason why that answer, or that field of it, was refused, for the person who gave it. It repeats nothing that they sent. */
  declare readonly reason: string | undefined;
  /**
   * The answers of an input that `run`, `stream` or `respond` refused, each of which would be refused by itself, in their order: leave
   * these out, and the others are accepted. Otherwise empty.
   */
  readonly refusedAnswers: readonly RefusedAnswer[];
  /** Recognizes errors of other copies of the package, where `instanceof` fails. */
  readonly [brand] = true;

  constructor(
    code: HoldpointErrorCode,
    message: string,
    {
      refusedAnswers = [],
      ...options
    }: {
      cause?: unknown;
      requestId?: string | undefined;
      field?: readonly string[] | undefined;
      reason?: string | undefined;
      refusedAnswers?: readonly RefusedAnswer[];
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.code = code;
    /* An absent field is not set, because consoles would print it. */
    if (options.requestId !== undefined) this.requestId = options.requestId;
    if (options.field !== undefined) this.field = options.field;
    if (options.reason !== undefined) this.reason = options.reason;
    this.refusedAnswers = refusedAnswers;
  }

  /** True if a value is a `HoldpointError`, from this or another copy of the package. */
  static isInstance(value: unknown): value is HoldpointError {
    return typeof value === 'object' && value !== null && brand in value;
  }
}
