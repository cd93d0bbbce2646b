import { HoldpointError } from '../../../errors.ts';
import { errorResponse, jsonResponse, refusal } from '../../../http/error-response.ts';
import { readJsonBody } from '../../../http/read-json-body.ts';
import type { WebhookSignatures } from '../webhook-signatures.ts';
import { addressSchema, closeSchema, namedCallSchema } from './messages.ts';
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

/* By the end of the path, wherever the app has put the handler. */
const routes =
  /\/(?:user_choice_response\/([^/]*)|(cancel_tool_call|tool_call_status|close_thread))$/;

/** Takes what a runtime posts. Whoever asks is told nothing of what is known here, but whether a call goes on. */
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
      const body = await readJsonBody(request, taking.serving.maximumBodyBytes);
      const { json, text = '' } = body instanceof Response ? {} : body;
      if (taking.signatures?.know(request.headers, text) === false) {
        return refusal(401, 'not-signed', 'The signature is not valid.');
      }
      return (await takeMessage(taking, request, json)) ?? jsonResponse({});
    } catch (error) {
      taking.report(error);
      return errorResponse(error);
    }
  };
}

async function takeMessage(
  taking: Taking,
  request: Request,
  json: unknown,
): Promise<Response | undefined> {
  const [, secret, route] = routes.exec(new URL(request.url).pathname) ?? [];
  if (secret !== undefined) {
    taking.serving.prompts.answer(secret, json);
    return undefined;
  }
  switch (route) {
    case 'cancel_tool_call':
      return cancelCall(taking, json);
    case 'tool_call_status':
      return jsonResponse({ alive: isAlive(taking, json) });
    case 'close_thread':
      return closeThread(taking, json);
    default:
      return invoke(taking, request, json);
  }
}

function invoke(taking: Taking, request: Request, json: unknown): Response | undefined {
  const { calls, isAllowed, report, serving } = taking;
  const { data: address } = addressSchema.safeParse(json);
  if (address === undefined || !isAllowed(address.callback_url)) {
    const what = address === undefined ? 'is none' : `has the callback ${address.callback_url}`;
    report(
      new HoldpointError('invalid-input', `An invocation that can't be answered: it ${what}.`),
    );
    return undefined;
  }
  const invocation = { address, json, baseUrl: taking.baseUrlOf(request) };
  const isTaken = calls.take(address.group_id, address.id, (stop) =>
    serveCall(serving, invocation, stop).catch(report),
  );
  return isTaken ? undefined : refusal(429, 'too-busy', 'The call was not taken.');
}

function cancelCall({ calls }: Taking, json: unknown): undefined {
  const { data } = namedCallSchema.safeParse(json);
  if (data !== undefined) calls.cancel(data.thread_id, data.tool_call_id);
}

/* A runtime that was restarted asks that, and gives up a call that is not. */
function isAlive({ calls }: Taking, json: unknown): boolean {
  const { data } = namedCallSchema.safeParse(json);
  return data !== undefined && calls.isRunning(data.thread_id, data.tool_call_id);
}

async function closeThread({ calls, report, serving }: Taking, json: unknown): Promise<undefined> {
  const { data } = closeSchema.safeParse(json);
  if (data === undefined) return;
  calls.closeGroup(data.thread_id);
  try {
    await serving.grants.clear?.(data.thread_id);
  } catch (error) {
    report(error);
  }
}
