import { HoldpointError, type HoldpointErrorCode } from '../errors.ts';

const statuses: Partial<Record<HoldpointErrorCode, number>> = {
  'invalid-input': 400,
  'invalid-answer': 400,
  'not-allowed': 403,
  'unknown-request': 404,
  'unknown-call': 404,
  'already-answered': 409,
  'request-closed': 409,
  'answer-mismatch': 409,
  'thread-busy': 409,
  'requests-open': 409,
  'thread-indeterminate': 409,
  'revision-conflict': 409,
};

/**
 * What a caller over HTTP is told of a failure: what it can act on, with its code. Of all else it is told what `onError` makes of it,
 * which is nothing unless the app says so.
 */
export function errorResponse(error: unknown, onError?: (error: unknown) => string): Response {
  const known = HoldpointError.isInstance(error) ? error : undefined;
  const status = known && statuses[known.code];
  return known === undefined || status === undefined
    ? refusal(500, 'internal-error', toldOf(error, onError))
    : refusal(status, known.code, known.message);
}

/** What is told of an error that a caller can't act on. An `onError` that throws has nothing to say, and holds up no response. */
export function toldOf(error: unknown, onError?: (error: unknown) => string): string {
  try {
    if (onError !== undefined) return onError(error);
  } catch {
    /* As without it. */
  }
  return 'An error occurred.';
}

/** A refusal with its reason as JSON: `{ error: { code, message } }`. */
export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return jsonResponse({ error: { code, message } }, { status, headers });
}

/** JSON that no cache keeps: it is about one person's thread. */
export function jsonResponse(
  json: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  return Response.json(json, { status, headers: { 'cache-control': 'no-store', ...headers } });
}
