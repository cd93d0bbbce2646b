import { z } from 'zod';
import { HoldpointError } from '../../../errors.ts';
import { errorResponse, jsonResponse, refusal } from '../../../http/error-response.ts';
import { readJsonText } from '../../../http/read-json-body.ts';
import type { WebhookSignatures } from '../webhook-signatures.ts';
import { addressSchema, closeSchema, namedCallSchema } from './runtime-messages.ts';
import type { RunningCalls } from './running-calls.ts';
import { serveCall, type Serving } from './serve-call.ts';

/** What requests are taken with. */
interface Taking {
  calls: RunningCalls;
  signatures: WebhookSignatures | undefined;
  baseUrlOf: (request: Request) => string;
  isAllowed: (callbackUrl: string) => boolean;
  report: (error: unknown) => void;
  serving: Serving;
}

const maximumFaultLength = 1_000;

/* By the end of the path, wherever the app has put the handler. */
const routes =
  /\/(?:user_choice_response\/([^/]*)|(cancel_tool_call|tool_call_status|close_thread))$/;

/** Takes what a runtime posts. What is dropped is refused with its reason, so that the runtime can end its call. */
export function takeRequest(taking: Taking): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST') {
      return refusal(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
    }
    /* Every POST of a browser has one: a page that found this port, by another name for it say, is no runtime. */
    if (request.headers.has('origin')) {
      return refusal(403, 'forbidden', 'Pages are not served here.');
    }
    try {
      const body = await readSigned(taking, request);
      if (body instanceof Response) return body;
      return await takeMessage(taking, request, body);
    } catch (error) {
      taking.report(error);
      return errorResponse(error);
    }
  };
}

/** What a request says, or why that can't be read. */
type Read = { json: unknown } | { fault: Response };

/** The body, where it is signed as it must be; what can't be read is no reason to end a call of another. */
async function readSigned(
  { signatures, serving }: Taking,
  request: Request,
): Promise<Read | Response> {
  const body = await readJsonText(request, serving.maximumBodyBytes);
  if (body instanceof Response) return signatures === undefined ? { fault: body } : body;
  if (signatures?.know(request.headers, body.text) === false) {
    return refusal(401, 'not-signed', 'The signature is not valid.');
  }
  try {
    const json: unknown = JSON.parse(body.text);
    return { json };
  } catch {
    return { fault: refusal(400, 'invalid-input', 'The body is no JSON.') };
  }
}

async function takeMessage(taking: Taking, request: Request, body: Read): Promise<Response> {
  const [, secret, route] = routes.exec(new URL(request.url).pathname) ?? [];
  const json = 'json' in body ? body.json : undefined;
  if (secret !== undefined) {
    /* A selection that can't be read is none of the choices, and fails the flow. */
    const isTaken = taking.serving.prompts.answer(secret, json);
    if ('fault' in body) return body.fault;
    return isTaken ? jsonResponse({}) : refusal(404, 'unknown-prompt', 'No question waits here.');
  }
  switch (route) {
    case 'cancel_tool_call':
      cancelCall(taking, json);
      return jsonResponse({});
    case 'tool_call_status':
      return jsonResponse({ alive: isAlive(taking, json) });
    case 'close_thread':
      await closeThread(taking, json);
      return jsonResponse({});
    default:
      return 'fault' in body ? body.fault : invoke(taking, request, json);
  }
}

function invoke(taking: Taking, request: Request, json: unknown): Response {
  const { calls, isAllowed, report, serving } = taking;
  const { data: address, error } = addressSchema.safeParse(json);
  if (address === undefined) {
    const fault = z.prettifyError(error).slice(0, maximumFaultLength);
    const message = `This is no invocation that can be answered: ${fault}`;
    report(new HoldpointError('invalid-input', message));
    return refusal(400, 'invalid-input', message);
  }
  const { group_id: groupId, id, callback_url: callbackUrl } = address;
  if (!isAllowed(callbackUrl)) {
    const message = `Callbacks may not go to ${new URL(callbackUrl).origin}.`;
    report(new HoldpointError('invalid-input', message));
    return refusal(403, 'not-allowed', message);
  }
  const invocation = { address, json, baseUrl: taking.baseUrlOf(request) };
  const isTaken = calls.take(groupId, id, (stop) =>
    serveCall(serving, invocation, stop).catch(report),
  );
  return isTaken ? jsonResponse({}) : refusal(429, 'too-busy', 'The call was not taken.');
}

function cancelCall({ calls }: Taking, json: unknown): void {
  const { data } = namedCallSchema.safeParse(json);
  if (data !== undefined) calls.cancel(data.thread_id, data.tool_call_id);
}

/* A runtime that was restarted asks that, and gives up a call that is not. */
function isAlive({ calls }: Taking, json: unknown): boolean {
  const { data } = namedCallSchema.safeParse(json);
  return data !== undefined && calls.isRunning(data.thread_id, data.tool_call_id);
}

async function closeThread({ calls, report, serving }: Taking, json: unknown): Promise<void> {
  const { data } = closeSchema.safeParse(json);
  if (data === undefined) return;
  calls.closeGroup(data.thread_id);
  try {
    await serving.grants.clear?.(data.thread_id);
  } catch (error) {
    report(error);
  }
}
