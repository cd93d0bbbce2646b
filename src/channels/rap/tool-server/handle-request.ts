import { z } from 'zod';
import { HoldpointError } from '../../../errors.ts';
import { errorResponse, jsonResponse, refusal } from '../../../http/error-response.ts';
import { readJsonText } from '../../../http/read-json-body.ts';
import type { WebhookSignatures } from '../webhook-signatures.ts';
import { callAddressSchema, closeSchema, callNameSchema } from './runtime-messages.ts';
import type { RunningCalls } from './running-calls.ts';
import { serveCall, type Serving } from './serve-call.ts';

/** The settings and state of the handler. */
interface HandlerContext {
  calls: RunningCalls;
  signatures: WebhookSignatures | undefined;
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
      return refusal(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
    }
    /* Every POST of a browser has an `origin`: a web page that found this port, by DNS rebinding for example, is not a runtime. */
    if (request.headers.has('origin')) {
      return refusal(403, 'forbidden', 'Requests of web pages are refused.');
    }
    try {
      const body = await readSigned(context, request);
      if (body instanceof Response) return body;
      return await handleMessage(context, request, body);
    } catch (error) {
      context.report(error);
      return errorResponse(error);
    }
  };
}

/** The JSON of a request, or the response for a body that can't be read. */
type Body = { json: unknown } | { fault: Response };

/** The body if its signature is valid, else a refusal. */
async function readSigned(
  { signatures, serving }: HandlerContext,
  request: Request,
): Promise<Body | Response> {
  const body = await readJsonText(request, serving.maximumBodyBytes);
  if (body instanceof Response) return signatures === undefined ? { fault: body } : body;
  if (signatures?.verify(request.headers, body.text) === false) {
    return refusal(401, 'not-signed', 'The signature is not valid.');
  }
  try {
    const json: unknown = JSON.parse(body.text);
    return { json };
  } catch {
    return { fault: refusal(400, 'invalid-input', 'The body is not JSON.') };
  }
}

async function handleMessage(
  context: HandlerContext,
  request: Request,
  body: Body,
): Promise<Response> {
  const [, secret, route] = routes.exec(new URL(request.url).pathname) ?? [];
  const json = 'json' in body ? body.json : undefined;
  if (secret !== undefined) {
    /* A selection that can't be read fails the user choice. */
    const isAccepted = context.serving.prompts.answer(secret, json);
    if ('fault' in body) return body.fault;
    return isAccepted
      ? jsonResponse({})
      : refusal(404, 'unknown-prompt', 'No prompt waits for this selection.');
  }
  switch (route) {
    case 'cancel_tool_call':
      cancelCall(context, json);
      return jsonResponse({});
    case 'tool_call_status':
      return jsonResponse({ alive: isAlive(context, json) });
    case 'close_thread':
      await closeThread(context, json);
      return jsonResponse({});
    default:
      return 'fault' in body ? body.fault : startCall(context, request, json);
  }
}

function startCall(context: HandlerContext, request: Request, json: unknown): Response {
  const { calls, isAllowed, report, serving } = context;
  const { data: address, error } = callAddressSchema.safeParse(json);
  if (address === undefined) {
    const fault = z.prettifyError(error).slice(0, maximumFaultLength);
    const message = `Invalid invocation: ${fault}`;
    report(new HoldpointError('invalid-input', message));
    return refusal(400, 'invalid-input', message);
  }
  const { group_id: groupId, id, callback_url: callbackUrl } = address;
  if (!isAllowed(callbackUrl)) {
    const message = `Callbacks to ${new URL(callbackUrl).origin} are not allowed.`;
    report(new HoldpointError('invalid-input', message));
    return refusal(403, 'not-allowed', message);
  }
  const invocation = { address, json, baseUrl: context.baseUrlOf(request) };
  const isAccepted = calls.start(groupId, id, (stop) =>
    serveCall(serving, invocation, stop).catch(report),
  );
  return isAccepted
    ? jsonResponse({})
    : refusal(429, 'too-busy', 'Too many calls are running, or the server is closing.');
}

function cancelCall({ calls }: HandlerContext, json: unknown): void {
  const { data } = callNameSchema.safeParse(json);
  if (data !== undefined) calls.cancel(data.thread_id, data.tool_call_id);
}

/* A runtime that was restarted asks this, and fails the call if the answer is no. */
function isAlive({ calls }: HandlerContext, json: unknown): boolean {
  const { data } = callNameSchema.safeParse(json);
  return data !== undefined && calls.isRunning(data.thread_id, data.tool_call_id);
}

async function closeThread(
  { calls, report, serving }: HandlerContext,
  json: unknown,
): Promise<void> {
  const { data } = closeSchema.safeParse(json);
  if (data === undefined) return;
  calls.closeGroup(data.thread_id);
  try {
    await serving.grants.clear?.(data.thread_id);
  } catch (error) {
    report(error);
  }
}
