import { cutFault } from '../json/field-fault.ts';
import { HoldpointError, type HoldpointErrorCode, type RefusedAnswer } from '../errors.ts';

const statuses: Partial<Record<HoldpointErrorCode, number>> = {
  'invalid-input': 400,
  'invalid-answer': 400,
  'not-allowed': 403,
  'not-found': 404,
  'already-answered': 409,
  'request-closed': 409,
  'answer-mismatch': 409,
  'thread-busy': 409,
  'requests-open': 409,
  'thread-indeterminate': 409,
  'revision-conflict': 409,
};

/**
 * The HTTP response for an error. An error that the client can act on is sent with its code and message; any other one as
 * `internal-error` with the text of `onError`, which by default reveals nothing. `refusedAnswers` lists answers that were refused
 * individually.
 */
export function makeErrorResponse(
  error: unknown,
  onError?: (error: unknown) => string,
  refusedAnswers: readonly RefusedAnswer[] = [],
): Response {
  const status = (HoldpointError.isInstance(error) ? statuses[error.code] : undefined) ?? 500;
  const { code, message } = makeRefusal(error, onError);
  const more = refusedAnswers.length === 0 ? {} : { refusedAnswers };
  return makeJsonResponse({ error: { code, message }, ...more }, { status });
}

/** The error that the sender receives; `alsoKnown` are codes that they can act on here. */
export function makeRefusal(
  error: unknown,
  onError?: (error: unknown) => string,
  alsoKnown: readonly HoldpointErrorCode[] = [],
): Omit<RefusedAnswer, 'requestId' | 'code'> & { code: string } {
  const isKnown =
    HoldpointError.isInstance(error) &&
    (statuses[error.code] !== undefined || alsoKnown.includes(error.code));
  if (!isKnown) return { code: 'internal-error', message: renderPublicError(error, onError) };
  const { code, message, field, reason } = error;
  return {
    code,
    message: cutFault(message),
    field,
    reason,
  };
}

/** Renders an error for clients: its own text if they can act on it, otherwise that of `onError`. */
export function renderPublicRefusal(error: unknown, onError?: (error: unknown) => string): string {
  const isKnown = HoldpointError.isInstance(error) && statuses[error.code] !== undefined;
  return isKnown ? cutFault(error.message) : renderPublicError(error, onError);
}

/** The text for clients about an error that they can't act on: that of `onError`, or a general one if `onError` is missing or throws. */
export function renderPublicError(error: unknown, onError?: (error: unknown) => string): string {
  try {
    if (onError !== undefined) return onError(error);
  } catch {
    /* The response must not fail because `onError` does. */
  }
  return 'An error occurred.';
}

/** A response that refuses a request, with the JSON `{ error: { code, message } }`. */
export function makeRefusalResponse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return makeJsonResponse({ error: { code, message } }, { status, headers });
}

/** A JSON response with `cache-control: no-store`, because it contains data of one user's thread. */
export function makeJsonResponse(
  json: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json(json, { status, headers: { 'cache-control': 'no-store', ...headers } });
}

/** The error texts that a client gets. */
export interface ErrorTextOptions {
  /**
   * The text that a client gets for an error that is not its own, a tool's included; it is called again each time the thread is loaded.
   * Default: `An error occurred.`
   */
  onError?: (error: unknown) => string;
  /**
   * True if a failed call shows the text of `onError` for its error, which may contain secrets, instead of the text that the model got.
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

/** Renders the error of a call of the tool `toolName`. Errors of `clientTools` happened in the client and are returned unchanged. */
export function callErrorText(
  options: ErrorTextOptions & { clientTools?: readonly string[] },
  toolName: string,
  error: string,
): string {
  return options.clientTools?.includes(toolName) === true ? error : renderToolError(options, error);
}
