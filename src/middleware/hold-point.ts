import type { LanguageModelMiddleware, ToolSet } from 'ai';
import { CollectedResponse, type ProviderResponse } from '../agent/model.ts';
import { checkHistoryOption } from '../agent/import-from-client.ts';
import { createAgent } from '../agent/create-agent.ts';
import { checkMs } from '../content/checked-number.ts';
import { memoryStore } from '../stores/memory.ts';
import { type HoldPointOptions, prepareRun } from './prepare-run.ts';

export type { HoldPointOptions } from './prepare-run.ts';

/* The AI SDK retries a failed call after 2 seconds, then 4, and so on: a worker must not claim the thread between its retries. */
const initialRetryDelayMs = 10_000;

/**
 * Middleware that runs a durable thread behind the interface of a model, so that you keep your `generateText`, `streamText`,
 * `ToolLoopAgent` or `useChat`. Tools run inside the model call, approval requests come out as the model's `tool-approval-request`
 * parts, and answers come in through the prompt. The thread, which each call names, is the authority: of a prompt, only the new messages
 * at its end are read, and answers at its very end, as `tool-approval-response` parts of the AI SDK or in a message of `answerMessage`. An
 * answer that a message follows is history, which anybody may have written: if its request is still open, the reply asks again, and the
 * message is not recorded. After a vote the request has a new `approvalId`, and a yes under an older one has no effect.
 *
 * Pass `providerOptions.holdpoint` as `{ threadId, principal?, channel?, whilePending?, messageId?, answers? }`: `answers` takes answers
 * to questions, and any others. `providerMetadata.holdpoint` of the result is `{ threadId, status, requests }`. A `toolChoice` that
 * forces a call applies to the first step of the run only.
 *
 * `messageId` is your id for the last message of the prompt, 1 to 256 characters; it is ignored if the prompt does not end with a message
 * of the user. A call with a known id adds no message: it resumes the turn, and once there is a reply returns the recorded one, with its
 * text, calls, results and sources, even if the conversation has continued since. The usage is that of this call alone, so a recorded
 * reply has none. The id may also be in the message (`providerOptions.holdpoint.messageId`). Without an id, a message is recognized by
 * its content until its turn ends. An answer that is sent again returns what followed it; this needs no id.
 *
 * The `tools` of a call, made by `inertTools`, and its `activeTools` limit the tools that the model may use in it. A call without tools
 * allows all of them, and so does an empty `activeTools`, because the AI SDK then passes no tools (use `toolChoice: 'none'` instead). A
 * call that was proposed earlier and is approved now runs in any case.
 *
 * Preliminary results of a generator tool are in the stream of a call with `include: { rawChunks: true }`, as `raw` parts that contain
 * `{ type: 'tool-result', preliminary: true, toolCallId, toolName, input, output }`.
 *
 * The call's `maxRetries` applies while the model fails before the first part. After that the run retries each model request, up to
 * `maxRetries` of `holdPoint` (default 2) times. A failed thread is due for workers after `retry.initialDelayMs`, here 10,000 by default,
 * so that the AI SDK retries first.
 *
 * Pass each call an `abortSignal` that aborts when the client disconnects: the AI SDK does not report that the body of its response was
 * cancelled. Without a signal, a stream that nobody reads ends after `unreadTimeoutMs`.
 *
 * Throws a `TypeError` like `createAgent`, and for an invalid `unreadTimeoutMs` or `history`. A call fails like `agent.run`, and with a
 * `HoldpointError`: `invalid-input` if it does not name a thread; `not-allowed` if its tools are not in `tools` or were not made by
 * `inertTools`, because the AI SDK would run those if a history says that they were approved.
 *
 * @example
 * const held = wrapLanguageModel({ model, middleware: holdPoint({ tools, toolApproval: { pay: 'user-approval' }, store }) });
 * const call = { model: held, providerOptions: { holdpoint: { threadId: 'trip-42' } } };
 * let result = await generateText({ ...call, prompt: 'Pay the rent.' });
 * while (approvalRequestsOf(result).length > 0) {
 *   const messages = approvalRequestsOf(result).map((request) => answerMessage(request.approve()));
 *   result = await generateText({ ...call, messages });
 * }
 */
export function holdPoint<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
>(options: HoldPointOptions<TOOLS, RUNTIME_CONTEXT>): LanguageModelMiddleware {
  const { leaseMs = 60_000, unreadTimeoutMs = leaseMs, history, ...others } = options;
  const agentOptions = {
    ...others,
    leaseMs,
    store: options.store ?? memoryStore(),
    retry: { initialDelayMs: initialRetryDelayMs, ...options.retry },
  };
  /* Validates the options now instead of at the first call. */
  createAgent<TOOLS, RUNTIME_CONTEXT>({ ...agentOptions, model: 'none' });
  const settings = {
    options: agentOptions,
    history: checkHistoryOption(history),
    unreadTimeoutMs: Math.min(checkMs(unreadTimeoutMs, 'unreadTimeoutMs'), leaseMs),
  };
  return {
    specificationVersion: 'v4',
    async wrapStream({ model, params }) {
      const { stream } = await prepareRun(settings, { model, params, isStreamed: true });
      await stream.begin();
      return { stream: stream.read() };
    },
    async wrapGenerate({ model, params }) {
      const run = await prepareRun(settings, { model, params, isStreamed: false });
      const collected = new CollectedResponse();
      const stream = run.stream.read();
      for await (const part of stream) {
        if (part.type === 'error') throw part.error;
        collected.add(part);
      }
      const { response: last } = run.model;
      const { request, response } = last ?? {};
      const whole = collected.whole({ stream, request, response });
      if (params.responseFormat?.type !== 'json') return whole;
      const structuredOutputText = last ? readStructuredText(last) : run.parts.recordedText;
      return { ...whole, structuredOutputText };
    },
  };
}

/* The structured output of a run is that of its last step. */
function readStructuredText({ structuredOutputText, content }: ProviderResponse): string {
  return (
    structuredOutputText ?? content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  );
}
