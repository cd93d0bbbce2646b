import { errorResponse, refusal } from './error-response.ts';

/** The identity of an authorized request, and the context it runs with. */
export interface Authorized<RUNTIME_CONTEXT = Record<string, unknown>> {
  /** The user, as the app identifies them: any JSON except `null`. Recorded with each answer. */
  principal: unknown;
  /** The channel through which the user answers; recorded too. Default: the name of the entry, `'ui'` or `'ag-ui'`. */
  channel?: string;
  /** Passed to the rules of `toolApproval`. */
  runtimeContext?: RUNTIME_CONTEXT;
}

/** Decides who sent a request, and whether they may read and run the thread. Return `undefined` or a `Response` to refuse. */
export type Authorize<RUNTIME_CONTEXT = Record<string, unknown>> = (context: {
  /** Its body has already been read. */
  request: Request;
  /** The thread that the request names; it has not been read yet. */
  threadId: string;
}) => Decision<RUNTIME_CONTEXT> | PromiseLike<Decision<RUNTIME_CONTEXT>>;

type Decision<RUNTIME_CONTEXT> = Authorized<RUNTIME_CONTEXT> | Response | undefined;

/** The app's hooks for a request. */
export interface RequestHooks<RUNTIME_CONTEXT> {
  authorize: Authorize<RUNTIME_CONTEXT>;
  onError?: (error: unknown) => string;
}

/** The result of `authorize`, or the response that refuses the request. A decision without a principal is a refusal. */
export async function allowed<RUNTIME_CONTEXT>(
  { authorize, onError }: RequestHooks<RUNTIME_CONTEXT>,
  request: Request,
  threadId: string,
): Promise<Authorized<RUNTIME_CONTEXT> | Response> {
  try {
    const decision = await authorize({ request, threadId });
    if (decision instanceof Response) return decision;
    if (decision?.principal !== undefined && decision.principal !== null) return decision;
    return refusal(403, 'not-allowed', 'This user may not use this thread.');
  } catch (cause) {
    /* Wrapped, because the code of a HoldpointError thrown here would be taken for a fault of the request. */
    return errorResponse(new Error('authorize failed.', { cause }), onError);
  }
}
