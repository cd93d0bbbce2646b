import { renderSchemaError } from '../../../json/field-fault.ts';
import { checkLimit, checkMs, refuseUnknown } from '../../../content/check-settings.ts';
import { waitForTimer } from '../../../content/waiting.ts';
import { HoldpointError } from '../../../errors.ts';
import {
  makeErrorResponse,
  makeJsonResponse,
  makeRefusalResponse,
} from '../../../http/error-response.ts';
import { readJsonText } from '../../../http/read-json-body.ts';
import { callAddressSchema, callNameSchema, closeSchema, type NamedOwner } from '../messages.ts';
import type { Poster } from '../post-json.ts';
import { makeOriginCheck, makeBaseUrlFinder } from '../url-checks.ts';
import { OpenPrompts } from './ask-user.ts';
import {
  type Caller,
  findSigner,
  listSignedCallers,
  makeCallbackSender,
  makeUnsignedCaller,
} from './callers.ts';
import { memoryGrants, makeConversationKey } from './session-grants.ts';
import { type OwnedCall, RunningCalls } from './running-calls.ts';
import { makeToolRunners, serveCall, type Serving } from './serve-call.ts';
import { type ToolServerOptions, toolServerSettings } from './tool-server-options.ts';

/** A server of tools for runtimes in other processes. */
export interface ToolServer {
  /**
   * Handles the requests of a runtime: invocations at any path, selections, and `…/cancel_tool_call`, `…/close_thread` and
   * `…/tool_call_status` below that path. An accepted request is answered with 200 at once. A refused invocation does not run; the reason
   * is in the body, as `{ error: { code, message } }`: 400 (invalid invocation), 401 (signatures), 403 (callback origin not allowed, or a
   * request of a web page), 404 (no prompt waits for the selection), 413, 415, and 429 (too many calls are running, or the server is
   * closing). Cancellations and closed conversations are answered with 200 even if the call or conversation is unknown, as those of other
   * callers are: a message is about the calls of the caller that signed it, or, where nothing is signed, about those with the
   * `callback_url` that it has, and with a `user_id`, about those of this user alone.
   */
  handler: (request: Request) => Promise<Response>;
  /** Stops all running calls and accepts no more; resolves when each result was delivered or its retries are exhausted. */
  close: () => Promise<void>;
}

/** The settings and state of a server. */
interface ServerContext {
  calls: RunningCalls;
  /** The callers that may sign; `undefined` where nothing is signed. */
  signers: readonly Caller[] | undefined;
  findBaseUrl: (request: Request) => string;
  isAllowed: (callbackUrl: string) => boolean;
  report: (error: unknown) => void;
  serving: Serving;
}

/**
 * Serves tools over HTTP callbacks to any runtime that uses the protocol of `holdpoint/rap`. A call is acknowledged at once, may ask the
 * person at the runtime, and always ends with one `tool_result`. A call that a caller sends twice, with the same `group_id`, `id` and user,
 * runs once. Calls are kept in the memory of this process: they end with it, and other processes don't know them.
 *
 * Throws a `TypeError` for an option that it does not have, for an invalid URL, origin, secret or number, and for a schema that validates
 * nothing.
 *
 * @example
 * const { handler, close } = createToolServer({
 *   tools: {
 *     deleteFolder: {
 *       inputSchema: z.object({ path: z.string() }),
 *       execute: async ({ path }, { askForSession }) => {
 *         const isAllowed = await askForSession({ prompt: `May I delete ${path}?`, key: `delete:${path}` });
 *         if (!isAllowed) return 'Error: The user said no.';
 *         await rm(path, { recursive: true });
 *         return `Deleted ${path}.`;
 *       },
 *     },
 *   },
 * });
 */
export function createToolServer<INPUTS extends Record<string, unknown>>(
  options: ToolServerOptions<INPUTS>,
): ToolServer {
  refuseUnknown('createToolServer', options, toolServerSettings);
  const wait = ignoreRejections(options.wait ?? waitForTimer);
  const { deadlineMs = 86_400_000, graceMs = 5_000, callbackMs = 10_000 } = options;
  const { maximumBodyBytes = 1_048_576, retries = 10 } = options;
  const poster = {
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: checkMs(callbackMs, 'callbackMs'),
    timer: wait,
  };
  const calls = new RunningCalls(options.maximumRunning, options.maximumRemembered);
  const context: ServerContext = {
    calls,
    signers: listSignedCallers(options.signing),
    findBaseUrl: makeBaseUrlFinder(options.baseUrl),
    isAllowed: makeOriginCheck(options.allowedOrigins),
    report: makeReporter(options.onError),
    serving: {
      deadlineMs: checkMs(deadlineMs, 'deadlineMs'),
      graceMs: checkMs(graceMs, 'graceMs'),
      maximumBodyBytes: checkLimit(maximumBodyBytes, 'maximumBodyBytes'),
      wait,
      tools: makeToolRunners(options.tools),
      grants: options.grants ?? memoryGrants(),
      prompts: new OpenPrompts(),
      makeSender: makeCallbackSender(poster, checkLimit(retries, 'retries')),
    },
  };
  return {
    handler: async (request) => handleRequest(context, request),
    close: async () => calls.close(),
  };
}

/* A `wait` may reject when its signal aborts. */
function ignoreRejections(wait: NonNullable<ToolServerOptions['wait']>): Poster['timer'] {
  return async (milliseconds, signal) => {
    try {
      await wait(milliseconds, signal);
    } catch {
      /* The wait has ended. */
    }
  };
}

/* If `onError` throws, a call must still send its result. */
function makeReporter(onError: ToolServerOptions['onError']): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      /* There is nowhere else to report it. */
    }
  };
}

/* Matched at the end of the path, so that the app can mount the handler anywhere. */
const routes =
  /\/(?:user_choice_response\/([^/]*)|(cancel_tool_call|tool_call_status|close_thread))$/;

/** Handles a request of a runtime. Each refusal has a reason, so that the runtime can end its call. */
async function handleRequest(context: ServerContext, request: Request): Promise<Response> {
  if (request.method !== 'POST') {
    return makeRefusalResponse(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
  }
  /* Every POST of a browser has an `origin`: a web page that found this port, by DNS rebinding for example, is not a runtime. */
  if (request.headers.has('origin')) {
    return makeRefusalResponse(403, 'forbidden', 'Requests of web pages are refused.');
  }
  try {
    const body = await readSigned(context, request);
    if (body instanceof Response) return body;
    return await handleMessage(context, request, body);
  } catch (error) {
    context.report(error);
    return makeErrorResponse(error);
  }
}

/** The JSON of a request, or the response for a body that can't be read, and who signed it, where messages are signed. */
type Body = ({ json: unknown } | { fault: Response }) & { signer: Caller | undefined };

/** The body if its signature is valid, else a refusal. */
async function readSigned(
  { signers, serving }: ServerContext,
  request: Request,
): Promise<Body | Response> {
  const body = await readJsonText(request, serving.maximumBodyBytes);
  if (body instanceof Response) {
    return signers === undefined ? { fault: body, signer: undefined } : body;
  }
  const signer = signers && findSigner(signers, request.headers, body.text);
  if (signers !== undefined && signer === undefined) {
    return makeRefusalResponse(401, 'not-signed', 'The signature is not valid.');
  }
  try {
    const json: unknown = JSON.parse(body.text);
    return { json, signer };
  } catch {
    return { fault: makeRefusalResponse(400, 'invalid-input', 'The body is not JSON.'), signer };
  }
}

/** A caller's message. */
interface Message {
  json: unknown;
  signer: Caller | undefined;
}

async function handleMessage(
  context: ServerContext,
  request: Request,
  body: Body,
): Promise<Response> {
  const [, secret, route] = routes.exec(new URL(request.url).pathname) ?? [];
  const { signer } = body;
  const json = 'json' in body ? body.json : undefined;
  const message = { json, signer };
  if (secret !== undefined) {
    /* A selection that can't be read fails the user choice. */
    const isAccepted = context.serving.prompts.answer(signer, secret, json);
    if ('fault' in body) return body.fault;
    return isAccepted
      ? makeJsonResponse({})
      : makeRefusalResponse(404, 'unknown-prompt', 'No prompt waits for this selection.');
  }
  switch (route) {
    case 'cancel_tool_call':
      cancelCall(context, message);
      return makeJsonResponse({});
    case 'tool_call_status':
      return makeJsonResponse({ alive: isAlive(context, message) });
    case 'close_thread':
      await closeThread(context, message);
      return makeJsonResponse({});
    case undefined:
    default:
      return 'fault' in body ? body.fault : startCall(context, request, message);
  }
}

function startCall(context: ServerContext, request: Request, { json, signer }: Message): Response {
  const { calls, isAllowed, report, serving } = context;
  const { data: address, error } = callAddressSchema.safeParse(json);
  if (address === undefined) {
    const fault = renderSchemaError(error);
    const message = `Invalid invocation: ${fault}`;
    report(new HoldpointError('invalid-input', message));
    return makeRefusalResponse(400, 'invalid-input', message);
  }
  const { group_id: groupId, id, callback_url: callbackUrl } = address;
  if (!isAllowed(callbackUrl)) {
    const message = `Callbacks to ${new URL(callbackUrl).origin} are not allowed.`;
    report(new HoldpointError('invalid-input', message));
    return makeRefusalResponse(403, 'not-allowed', message);
  }
  const caller = signer ?? makeUnsignedCaller(new URL(callbackUrl));
  const call: OwnedCall = {
    caller,
    user: [address.user_id ?? null, address.requesters_digest ?? null],
    groupId,
    id,
    callbackUrl,
  };
  const invocation = { address, json, call, baseUrl: context.findBaseUrl(request) };
  const isAccepted = calls.start(call, (stop) =>
    serveCall(serving, invocation, stop).catch(report),
  );
  return isAccepted
    ? makeJsonResponse({})
    : makeRefusalResponse(429, 'too-busy', 'Too many calls are running, or the server is closing.');
}

function cancelCall({ calls }: ServerContext, message: Message): void {
  const isMeant = matchNamedCall(message);
  if (isMeant !== undefined) calls.stop(isMeant, 'The call was cancelled.');
}

/* A restarted runtime asks this, and fails the call if the answer is no. */
function isAlive({ calls }: ServerContext, message: Message): boolean {
  const isMeant = matchNamedCall(message);
  return isMeant !== undefined && calls.isRunning(isMeant);
}

function matchNamedCall({ json, signer }: Message): ((call: OwnedCall) => boolean) | undefined {
  const { data } = callNameSchema.safeParse(json);
  if (data === undefined) return undefined;
  return (call) =>
    isOwn(call, signer, data) && call.groupId === data.thread_id && call.id === data.tool_call_id;
}

/* The callback URL of a call is known to its caller alone, whereas anybody can name its ids and its origin. */
function isOwn(
  { caller, callbackUrl, user }: OwnedCall,
  signer: Caller | undefined,
  { callback_url, user_id }: NamedOwner,
): boolean {
  const isOfCaller = signer === undefined ? callbackUrl === callback_url : caller === signer;
  return isOfCaller && (user_id ?? user[0]) === user[0];
}

async function closeThread(
  { calls, report, serving }: ServerContext,
  { json, signer }: Message,
): Promise<void> {
  const { data } = closeSchema.safeParse(json);
  if (data === undefined) return;
  const isMeant = (call: OwnedCall): boolean =>
    isOwn(call, signer, data) && call.groupId === data.thread_id;
  calls.stop(isMeant, 'The conversation was closed.');
  const url = URL.parse(data.callback_url ?? '');
  const caller = signer ?? (url === null ? undefined : makeUnsignedCaller(url));
  try {
    if (caller !== undefined)
      await serving.grants.clear?.(makeConversationKey(caller, data.thread_id));
  } catch (error) {
    report(error);
  }
}
