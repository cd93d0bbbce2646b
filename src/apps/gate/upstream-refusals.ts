import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

/**
 * Checks whether an error of a call says for sure that the call was not executed: it was never sent, or the server refused it before it
 * ran. With any other error, the server may have begun: an internal error, a code of the server's own, a proxy timeout. `checksResult`: the
 * server may refuse the result of a call that ran.
 */
export function isRefusal(error: unknown, { checksResult }: { checksResult: boolean }): boolean {
  if (ProtocolError.isInstance(error))
    return refusingCodes.has(error.code) && !(checksResult && resultCodes.has(error.code));
  if (SdkHttpError.isInstance(error)) return refusingStatuses.has(error.data.status);
  if (SdkError.isInstance(error)) return unsent.has(error.code);
  if (error instanceof UnauthorizedError) return true;
  const cause: unknown = error instanceof TypeError ? error.cause : undefined;
  return (
    typeof cause === 'object' &&
    cause !== null &&
    'code' in cause &&
    unconnected.has(String(cause.code))
  );
}

const headerMismatch = -32_020;

const refusingCodes: ReadonlySet<number> = new Set([
  ProtocolErrorCode.ParseError,
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.MethodNotFound,
  ProtocolErrorCode.InvalidParams,
  headerMismatch,
  ProtocolErrorCode.MissingRequiredClientCapability,
  ProtocolErrorCode.UnsupportedProtocolVersion,
  ProtocolErrorCode.UrlElicitationRequired,
]);

/*
 * Also sent after a call, for a result that does not fit the `outputSchema`, by servers with the TypeScript SDK 1.12 to 1.20, and by those
 * that forward calls with its client.
 */
const resultCodes: ReadonlySet<number> = new Set([
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.InvalidParams,
]);

/* Without 408 and 499, which report a timeout, and 409, which may say that the same call is running. */
const refusingStatuses: ReadonlySet<number> = new Set([
  400, 401, 402, 403, 404, 405, 406, 411, 413, 414, 415, 421, 422, 426, 429, 431, 451,
]);

const unsent: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.NotConnected,
  SdkErrorCode.NotInitialized,
  SdkErrorCode.CapabilityNotSupported,
  SdkErrorCode.MethodNotSupportedByProtocolVersion,
]);

/* The codes with which `fetch` fails before there is a connection. */
const unconnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
