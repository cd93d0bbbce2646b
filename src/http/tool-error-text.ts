import { renderPublicError } from './error-response.ts';

/** Which error texts a client gets. */
export interface ErrorTextOptions {
  /**
   * The text that a client gets for an error that is not its own, a tool's included; it is called again each time the thread is loaded.
   * Default: `An error occurred.`
   */
  onError?: (error: unknown) => string;
  /**
   * Whether a failed call shows what `onError` returns for its error, which may contain secrets, instead of the text that the model got.
   * Default `true`.
   */
  redactToolErrors?: boolean;
}

/** The text that a client gets for a tool that failed with `error`: the same live and after a reload. */
export function renderToolError(
  { redactToolErrors = true, onError }: ErrorTextOptions,
  error: string,
): string {
  return redactToolErrors ? renderPublicError(new Error(error), onError) : error;
}

/** The same for a call of the tool `toolName`. Errors of `clientTools` happened in the client and are returned unchanged. */
export function callErrorText(
  options: ErrorTextOptions & { clientTools?: readonly string[] },
  toolName: string,
  error: string,
): string {
  return options.clientTools?.includes(toolName) === true ? error : renderToolError(options, error);
}
