import { allowed, type Authorized, type Gate } from './authorize.ts';
import { foreignOrigin, type OriginOptions } from './foreign-origin.ts';
import { readJsonBody } from './read-json-body.ts';

/** What an app says of a route that runs threads. */
interface PostOptions<RUNTIME_CONTEXT> extends Gate<RUNTIME_CONTEXT>, OriginOptions {
  maximumBodyBytes?: number;
  abortOnDisconnect?: boolean;
}

/** How a channel reads its posts, and its word where the app has none. */
interface PostReading<ASKED> {
  parse: (json: unknown) => ASKED;
  maximumBodyBytes: number;
  channel: string;
}

/** A post that may go on. */
export interface Posted<ASKED, RUNTIME_CONTEXT> {
  asked: ASKED;
  /** As whom it runs the thread, and how. */
  runOptions: Authorized<RUNTIME_CONTEXT> & { channel: string; signal?: AbortSignal };
  /** For the response to abort when the client has left. */
  gone: AbortController;
}

/** What a request posts to a thread, or the response that refuses it. Nothing of the thread is read before. */
export async function takePost<ASKED extends { threadId: string }, RUNTIME_CONTEXT>(
  options: PostOptions<RUNTIME_CONTEXT>,
  request: Request,
  reading: PostReading<ASKED>,
): Promise<Posted<ASKED, RUNTIME_CONTEXT> | Response> {
  const foreign = foreignOrigin(request, options);
  if (foreign !== undefined) return foreign;
  const { maximumBodyBytes = reading.maximumBodyBytes, abortOnDisconnect = false } = options;
  const body = await readJsonBody(request, maximumBodyBytes);
  if (body instanceof Response) return body;
  const asked = reading.parse(body.json);
  const caller = await allowed(options, request, asked.threadId);
  if (caller instanceof Response) return caller;
  const { principal, channel = reading.channel, runtimeContext } = caller;
  const gone = new AbortController();
  const runOptions = {
    principal,
    channel,
    ...(runtimeContext === undefined ? {} : { runtimeContext }),
    ...(abortOnDisconnect ? { signal: gone.signal } : {}),
  };
  return { asked, runOptions, gone };
}
