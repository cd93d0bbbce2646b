import { errorResponse, refusal } from '../../http/error-response.ts';
import type { Authorized, UiHandlerOptions } from './ui-handler-options.ts';

/** What a request may do, or the response that sends it away: what is no clear yes is a no. */
export async function allowed<RUNTIME_CONTEXT>(
  { authorize, onError }: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  threadId: string,
): Promise<Authorized<RUNTIME_CONTEXT> | Response> {
  try {
    const decision = await authorize({ request, threadId });
    if (decision instanceof Response) return decision;
    if (decision?.principal !== undefined && decision.principal !== null) return decision;
    return refusal(403, 'not-allowed', 'Whoever asks may not use this thread.');
  } catch (cause) {
    /* Whatever code it has: it is not about what the page asked. */
    return errorResponse(new Error('authorize failed.', { cause }), onError);
  }
}
