import { errorResponse, refusal } from './error-response.ts';

/** What a request may do in a thread, and as whom. */
export interface Authorized<RUNTIME_CONTEXT = Record<string, unknown>> {
  /** Who it is, as the app knows them: any JSON but `null`; kept in the log with each answer. */
  principal: unknown;
  /** Through what they were reached; kept likewise. Default: the name of the entry, `'ui'` or `'ag-ui'`. */
  channel?: string;
  /** For the rules of `toolApproval`. */
  runtimeContext?: RUNTIME_CONTEXT;
}

/** Says who a request is from, and whether they may see and run the thread. */
export type Authorize<RUNTIME_CONTEXT = Record<string, unknown>> = (asked: {
  /** Its body has been read. */
  request: Request;
  /** As the request says; nothing of the thread has been read. */
  threadId: string;
}) => Decision<RUNTIME_CONTEXT> | PromiseLike<Decision<RUNTIME_CONTEXT>>;

type Decision<RUNTIME_CONTEXT> = Authorized<RUNTIME_CONTEXT> | Response | undefined;

/** The app's hooks that decide about a request. */
export interface Gate<RUNTIME_CONTEXT> {
  authorize: Authorize<RUNTIME_CONTEXT>;
  onError?: (error: unknown) => string;
}

/** What a request may do, or the response that sends it away: what is no clear yes is a no. */
export async function allowed<RUNTIME_CONTEXT>(
  { authorize, onError }: Gate<RUNTIME_CONTEXT>,
  request: Request,
  threadId: string,
): Promise<Authorized<RUNTIME_CONTEXT> | Response> {
  try {
    const decision = await authorize({ request, threadId });
    if (decision instanceof Response) return decision;
    if (decision?.principal !== undefined && decision.principal !== null) return decision;
    return refusal(403, 'not-allowed', 'Whoever asks may not use this thread.');
  } catch (cause) {
    /* Whatever code it has: it is not about what was asked. */
    return errorResponse(new Error('authorize failed.', { cause }), onError);
  }
}
