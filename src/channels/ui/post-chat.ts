import type { RunOptions } from '../../agent/agent-options.ts';
import { allowed, type Authorized } from '../../http/authorize.ts';
import { errorResponse } from '../../http/error-response.ts';
import { readJsonBody } from '../../http/read-json-body.ts';
import { type ChatRequest, parseChatRequest } from './chat-request.ts';
import { deliverOutputs } from './client-outputs.ts';
import { pageInput } from './page-input.ts';
import { streamedResponse } from './streamed-response.ts';
import { tellChat } from './tell-chat.ts';
import { putBack } from './tell-run.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** Takes what a page brings, and tells it what comes of that. */
export async function postChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const body = await readJsonBody(request, options.maximumBodyBytes ?? 1_048_576);
  if (body instanceof Response) return body;
  const chat = parseChatRequest(body.json);
  const caller = await allowed(options, request, chat.id);
  return caller instanceof Response ? caller : takeChat(options, request, chat, caller);
}

/* The first event is awaited before the response begins: what is refused is refused with a status. */
async function takeChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  chat: ChatRequest,
  caller: Authorized<RUNTIME_CONTEXT>,
): Promise<Response> {
  const { agent, convertDataPart, clientTools = [], headers, onError } = options;
  const gone = new AbortController();
  const thread = await agent.thread(chat.id);
  const before = thread.revision;
  const { items, stand } = await pageInput(chat, thread, convertDataPart);
  const runOptions = runOptionsOf(options, chat, caller, gone.signal);
  await deliverOutputs({ agent, thread, clientTools, by: runOptions }, chat.outputs ?? []);
  const events = agent.stream(items, thread, runOptions)[Symbol.asyncIterator]();
  const first = await events.next();
  if (first.value?.type === 'error') return errorResponse(first.value.error, onError);
  const run = { options, runOptions, thread, events: putBack(first, events), stand, before };
  return streamedResponse({
    request,
    chunks: tellChat({ ...run, gone: gone.signal }),
    gone,
    headers,
  });
}

function runOptionsOf<RUNTIME_CONTEXT>(
  { abortOnDisconnect = false }: UiHandlerOptions<RUNTIME_CONTEXT>,
  { whilePending }: ChatRequest,
  { principal, channel = 'ui', runtimeContext }: Authorized<RUNTIME_CONTEXT>,
  gone: AbortSignal,
): RunOptions<RUNTIME_CONTEXT> {
  return {
    principal,
    channel,
    ...(runtimeContext === undefined ? {} : { runtimeContext }),
    ...(whilePending === undefined ? {} : { whilePending }),
    ...(abortOnDisconnect ? { signal: gone } : {}),
  };
}
