import { isSignedIn } from '../agent.ts';
import { makeRefusalResponse, makeErrorResponse } from './error-response.ts';
import { readJsonBody, readTextField } from './read-json-body.ts';

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

/** The result of `authorize` for a thread, or the response that refuses the request. */
export async function authorizeRequest<RUNTIME_CONTEXT>(
  hooks: RequestHooks<RUNTIME_CONTEXT>,
  request: Request,
  threadId: string,
): Promise<Authorized<RUNTIME_CONTEXT> | Response> {
  const decide = async () => hooks.authorize({ request, threadId });
  return checkSignIn(hooks, decide, { name: 'this thread', threadId });
}

/**
 * Returns the app's decision about a request's sender, or the response that refuses it. A decision whose principal names nobody is a
 * refusal, and one with a principal such as `false` is reported: it comes from a mistake such as `isSignedIn && user.email`.
 */
export async function checkSignIn<SIGN_IN extends { principal: unknown }>(
  { agent, onError }: { agent: object; onError?: ((error: unknown) => string) | undefined },
  decide: () => Promise<SIGN_IN | Response | undefined>,
  used: { name: string; threadId?: string },
): Promise<SIGN_IN | Response> {
  try {
    const decision = await decide();
    if (decision instanceof Response) return decision;
    const { principal } = decision ?? {};
    const { name, threadId } = used;
    if (decision !== undefined && isSignedIn(agent, { principal, threadId })) return decision;
    return makeRefusalResponse(403, 'not-allowed', `This user may not use ${name}.`);
  } catch (cause) {
    /* Wrapped, because the code of a HoldpointError thrown here would be mistaken for a fault of the request. */
    return makeErrorResponse(new Error('authorize failed.', { cause }), onError);
  }
}

/** The pages that may use a route. */
export interface OriginOptions {
  /**
   * The origins of pages that may use the route, in addition to its own host, such as `https://app.example`. Default: none. Your framework
   * must send the CORS headers for these pages.
   */
  allowedOrigins?: readonly string[];
}

/** Throws a `TypeError` for an allowed origin that is not an http(s) URL. */
export function checkOrigins({ allowedOrigins = [] }: OriginOptions): void {
  for (const origin of allowedOrigins) {
    if (readHttpOrigin(origin) === undefined) {
      throw new TypeError(
        `allowedOrigins has ${JSON.stringify(origin)}, which is not an http(s) URL.`,
      );
    }
  }
}

/**
 * The response that refuses a page of another site: 403, `foreign-origin`. Browsers send the page's origin with every POST; a request
 * without one does not come from a page and is allowed.
 */
export function refuseForeignOrigin(
  { headers, url }: Request,
  { allowedOrigins = [] }: OriginOptions,
): Response | undefined {
  const header = headers.get('origin');
  /* Pages can't set this header, and proxies don't change it. */
  const site = headers.get('sec-fetch-site');
  if (header === null || site === 'same-origin') return undefined;
  const origin = readHttpOrigin(header);
  if (origin !== undefined && allowedOrigins.some((each) => readHttpOrigin(each) === origin)) {
    return undefined;
  }
  const own = [headers.get('x-forwarded-host'), headers.get('host'), new URL(url).host];
  /* The same host, but another site: a page that was loaded over http. */
  const isForeign = site === 'cross-site' || origin === undefined;
  if (!isForeign && own.includes(new URL(origin).host)) return undefined;
  return makeRefusalResponse(
    403,
    'foreign-origin',
    'A page of another site may not use this route.',
  );
}

function readHttpOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) ? origin : undefined;
}

/** The app's options for a route that runs threads. */
interface PostOptions<RUNTIME_CONTEXT> extends RequestHooks<RUNTIME_CONTEXT>, OriginOptions {
  maximumBodyBytes?: number;
  abortOnDisconnect?: boolean;
}

/** A channel's parser of its POST requests, and its defaults. */
interface PostFormat<PARSED> {
  /** The field of a body that names its thread. */
  threadIdField: string;
  parse: (json: unknown) => PARSED;
  maximumBodyBytes: number;
  channel: string;
}

/** An authorized POST request. */
export interface ReceivedPost<PARSED, RUNTIME_CONTEXT> {
  parsed: PARSED;
  /** The options of the run. */
  runOptions: Authorized<RUNTIME_CONTEXT> & { channel: string; abortSignal?: AbortSignal };
  /** The response aborts it when the client disconnects. */
  disconnected: AbortController;
}

/**
 * Authorizes and parses a POST request; returns the response that refuses it if it fails. Does not read the thread, and before the sender
 * is authorized, only the thread's id of the body: parsing a long body takes long.
 */
export async function receivePost<PARSED extends { threadId: string }, RUNTIME_CONTEXT>(
  options: PostOptions<RUNTIME_CONTEXT>,
  request: Request,
  format: PostFormat<PARSED>,
): Promise<ReceivedPost<PARSED, RUNTIME_CONTEXT> | Response> {
  const foreign = refuseForeignOrigin(request, options);
  if (foreign !== undefined) return foreign;
  const { maximumBodyBytes = format.maximumBodyBytes, abortOnDisconnect = false } = options;
  const body = await readJsonBody(request, maximumBodyBytes);
  if (body instanceof Response) return body;
  const threadId = readTextField(body.json, format.threadIdField);
  if (threadId === undefined) return refuseThreadId(`has no text "${format.threadIdField}"`);
  const caller = await authorizeRequest(options, request, threadId);
  if (caller instanceof Response) return caller;
  const parsed = format.parse(body.json);
  /* A sender who may use one thread must not reach another. */
  if (parsed.threadId !== threadId) {
    return refuseThreadId(`is for another thread than its "${format.threadIdField}" names`);
  }
  const { principal, channel = format.channel, runtimeContext } = caller;
  const disconnected = new AbortController();
  const runOptions = {
    principal,
    channel,
    runtimeContext,
    ...(abortOnDisconnect ? { abortSignal: disconnected.signal } : {}),
  };
  return { parsed, runOptions, disconnected };
}

function refuseThreadId(fault: string): Response {
  return makeRefusalResponse(400, 'invalid-input', `The body is not valid: it ${fault}.`);
}
