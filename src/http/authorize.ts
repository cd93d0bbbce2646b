import { isSignedIn } from '../agent/sign-in.ts';
import { makeErrorResponse, makeRefusalResponse } from './error-response.ts';

/** The identity of an authorized request, and the context it runs with. */
export interface Authorized<RUNTIME_CONTEXT = Record<string, unknown>> {
  /**
   * The user, as the app identifies them: a text that is not blank, or an object that the agent's `principalId` names, or that has an `id`,
   * `subject`, `sub` or `email`. Recorded with each message and answer.
   */
  principal: unknown;
  /** The channel through which the user answers; recorded too. Default: the name of the entry, `'ui'` or `'ag-ui'`. */
  channel?: string;
  /** Passed to the rules of `toolApproval`, in the turns that this user asked for. */
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

/** The agent that a request is for, and the app's hooks. */
export interface RequestHooks<RUNTIME_CONTEXT> {
  agent: object;
  authorize: Authorize<RUNTIME_CONTEXT>;
  onError?: (error: unknown) => string;
}

/**
 * The result of `authorize`, or the response that refuses the request. A decision whose principal names nobody is a refusal, and one with a principal
 * such as `false` is reported: it comes from a mistake, as `isSignedIn && user.email` is.
 */
export async function authorizeRequest<RUNTIME_CONTEXT>(
  { agent, authorize, onError }: RequestHooks<RUNTIME_CONTEXT>,
  request: Request,
  threadId: string,
): Promise<Authorized<RUNTIME_CONTEXT> | Response> {
  try {
    const decision = await authorize({ request, threadId });
    if (decision instanceof Response) return decision;
    const { principal } = decision ?? {};
    if (decision !== undefined && isSignedIn(agent, { principal, threadId })) return decision;
    return makeRefusalResponse(403, 'not-allowed', 'This user may not use this thread.');
  } catch (cause) {
    /* Wrapped, because the code of a HoldpointError thrown here would be taken for a fault of the request. */
    return makeErrorResponse(new Error('authorize failed.', { cause }), onError);
  }
}
