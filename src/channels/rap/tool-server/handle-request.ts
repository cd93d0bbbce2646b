import { z } from 'zod';
import { HoldpointError } from '../../../errors.ts';
import {
  makeErrorResponse,
  makeJsonResponse,
  makeRefusalResponse,
} from '../../../http/error-response.ts';
import { readJsonText } from '../../../http/read-json-body.ts';
import { makeUnsignedCaller, findSigner } from './callers.ts';
import { makeConversationKey } from './grant-store.ts';
import {
  callAddressSchema,
  callNameSchema,
  closeSchema,
  type NamedOwner,
} from './runtime-messages.ts';
import type { Caller, OwnedCall, RunningCalls } from './running-calls.ts';
import { serveCall, type Serving } from './serve-call.ts';

/** The settings and state of the handler. */
interface HandlerContext {
  calls: RunningCalls;
  /** The callers that may sign; `undefined` where nothing is signed. */
  signers: readonly Caller[] | undefined;
  baseUrlOf: (request: Request) => string;
  isAllowed: (callbackUrl: string) => boolean;
  report: (error: unknown) => void;
  serving: Serving;
}

const maximumFaultLength = 1_000;

/* Matched at the end of the path, so that the app can mount the handler anywhere. */
const routes =
  /\/(?:user_choice_response\/([^/]*)|(cancel_tool_call|tool_call_status|close_thread))$/;

/** Creates the handler for the requests of runtimes. Each refusal has a reason, so that the runtime can end its call. */
export function requestHandler(context: HandlerContext): (request: Request) => Promise<Response> {
  return async (request) => {
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
  };
}

/** The JSON of a request, or the response for a body that can't be read, and who signed it, where messages are signed. */
type Body = ({ json: unknown } | { fault: Response }) & { signer: Caller | undefined };

/** The body if its signature is valid, else a refusal. */
async function readSigned(
  { signers, serving }: HandlerContext,
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

/** What a caller sent. */
interface Message {
  json: unknown;
  signer: Caller | undefined;
}

async function handleMessage(
  context: HandlerContext,
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

function startCall(context: HandlerContext, request: Request, { json, signer }: Message): Response {
  const { calls, isAllowed, report, serving } = context;
  const { data: address, error } = callAddressSchema.safeParse(json);
  if (address === undefined) {
    const fault = z.prettifyError(error).slice(0, maximumFaultLength);
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
  const invocation = { address, json, call, baseUrl: context.baseUrlOf(request) };
  const isAccepted = calls.start(call, (stop) =>
    serveCall(serving, invocation, stop).catch(report),
  );
  return isAccepted
    ? makeJsonResponse({})
    : makeRefusalResponse(429, 'too-busy', 'Too many calls are running, or the server is closing.');
}

function cancelCall({ calls }: HandlerContext, message: Message): void {
  const isMeant = matchNamedCall(message);
  if (isMeant !== undefined) calls.stop(isMeant, 'The call was cancelled.');
}

/* A runtime that was restarted asks this, and fails the call if the answer is no. */
function isAlive({ calls }: HandlerContext, message: Message): boolean {
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
  { calls, report, serving }: HandlerContext,
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
