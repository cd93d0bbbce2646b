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

/** An answer that was not recorded, and why. */
export interface RefusedAnswer {
  requestId: string;
  code: HoldpointErrorCode;
  message: string;
}

/**
 * What a caller over HTTP is told of a failure: what it can act on, with its code. Of all else it is told what `onError` makes of it,
 * which is nothing unless the app says so. `refusedAnswers` are those that were refused one by one.
 */
export function errorResponse(
  error: unknown,
  onError?: (error: unknown) => string,
  refusedAnswers: readonly RefusedAnswer[] = [],
): Response {
  const known = HoldpointError.isInstance(error) ? error : undefined;
  const status = (known && statuses[known.code]) ?? 500;
  const { code, message } =
    known !== undefined && status !== 500
      ? known
      : { code: 'internal-error', message: toldOf(error, onError) };
  const more = refusedAnswers.length === 0 ? {} : { refusedAnswers };
  return jsonResponse({ error: { code, message }, ...more }, { status });
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
