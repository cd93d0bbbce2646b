import { authorizeRequest, type Authorized, type RequestHooks } from './authorize.ts';
import { refuseForeignOrigin, type OriginOptions } from './foreign-origin.ts';
import { readJsonBody } from './read-json-body.ts';

/** The app's options for a route that runs threads. */
interface PostOptions<RUNTIME_CONTEXT> extends RequestHooks<RUNTIME_CONTEXT>, OriginOptions {
  maximumBodyBytes?: number;
  abortOnDisconnect?: boolean;
}

/** How a channel parses its POST requests, and its defaults. */
interface PostFormat<PARSED> {
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

/** Parses and authorizes a POST request; returns the response that refuses it if it fails. Does not read the thread. */
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
  const parsed = format.parse(body.json);
  const caller = await authorizeRequest(options, request, parsed.threadId);
  if (caller instanceof Response) return caller;
  const { principal, channel = format.channel, runtimeContext } = caller;
  const disconnected = new AbortController();
  const runOptions = {
    principal,
    channel,
    ...(runtimeContext === undefined ? {} : { runtimeContext }),
    ...(abortOnDisconnect ? { abortSignal: disconnected.signal } : {}),
  };
  return { parsed, runOptions, disconnected };
}
