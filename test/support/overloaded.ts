import { APICallError } from 'ai';

/** What a provider throws that is overloaded: the AI SDK tries again, soon. */
export function overloaded(): APICallError {
  return new APICallError({
    message: 'overloaded',
    url: 'http://localhost',
    requestBodyValues: {},
    statusCode: 503,
    responseHeaders: { 'retry-after-ms': '1' },
  });
}
