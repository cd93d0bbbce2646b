import { toldOf } from '../../http/error-response.ts';

/** How a thread is told to a client. */
export interface ThreadViewOptions {
  /**
   * The tools whose calls the client runs: those of the agent without `execute`. Their results are taken from its tool messages.
   * What a client lists as its tools is never looked at. Default none.
   */
  clientTools?: readonly string[];
  /** Default `true`. */
  sendReasoning?: boolean;
  /** What the client is told of an error that is not its own, a tool's included. Default: `An error occurred.` */
  onError?: (error: unknown) => string;
  /**
   * Whether the result of a call that failed is what `onError` makes of its error, which may hold secrets, instead of the text that the
   * model got. Default `true`.
   */
  redactToolErrors?: boolean;
}

/** The text that a client gets for a call that failed with `error`: the same live and in a snapshot. */
export function toolErrorText(
  { redactToolErrors = true, onError }: ThreadViewOptions,
  error: string,
): string {
  return redactToolErrors ? toldOf(new Error(error), onError) : error;
}
