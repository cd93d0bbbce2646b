import type { LanguageModelMiddleware, ToolSet } from 'ai';
import { CollectedResponse, type ProviderResponse } from '../agent/model/collected-response.ts';
import { createAgent } from '../agent/create-agent.ts';
import { checkedMs } from '../content/checked-number.ts';
import { memoryStore } from '../stores/memory.ts';
import { holdRun, type HoldPointOptions } from './held-run.ts';

export type { HoldPointOptions } from './held-run.ts';

/* The AI SDK tries a failed call again after 2 seconds, then 4, and so on: a worker that takes the thread would be in its way. */
const initialRetryDelayMs = 10_000;

/**
 * The whole loop behind the model's own interface, for those who keep their `generateText`, `streamText`, `ToolLoopAgent` or
 * `useChat`: tools run here, approval requests come out as the model's own `tool-approval-request` parts, and answers come in
 * through the prompt. The thread, which each call names, is the authority. Of a prompt only what is newest is read: the messages
 * at its end, and answers by request id, as the AI SDK's `tool-approval-response` parts or in messages of `answerMessage`.
 *
 * `providerOptions.holdpoint` is `{ threadId, principal?, channel?, whilePending?, messageId?, answers? }`: `answers` takes those to
 * questions, and any others. `providerMetadata.holdpoint` of the result is `{ threadId, status, requests }`. A `toolChoice` that forces
 * a call is for the first step of the run.
 *
 * `messageId` is your id for the message that the prompt ends with, 1 to 256 characters; a prompt that ends otherwise has no use for
 * it. The same id again adds no message: the call goes on where the turn stands, and gives the recorded reply once there is one, with
 * its text, calls, results and sources, also when the conversation has gone on since. The usage is then that of this call alone: none.
 * The id may be in the message, too (`providerOptions.holdpoint.messageId`). Without one, a message is known by its words while its turn
 * is under way. An answer that comes again gets what followed it, without an id.
 *
 * The `tools` of a call, made by `inertTools`, and its `activeTools` are those that the model may use in it; a call without tools leaves
 * it all of them, and so does an empty `activeTools`, which the AI SDK passes on as no tools (`toolChoice: 'none'` is the way to say
 * that). What was asked before and is approved now runs in any case.
 *
 * What a tool's generator yields before its result is in the stream of a call with `include: { rawChunks: true }`, as `raw` parts that hold
 * `{ type: 'tool-result', preliminary: true, toolCallId, toolName, input, output }`.
 *
 * The call's `maxRetries` counts for a model that fails before anything has come out. After that the run itself tries each request
 * again, as often as `maxRetries` of `holdPoint` says (default 2). A failed thread is due for workers after `retry.initialDelayMs`, here 10,000
 * by default, so that the AI SDK tries first.
 *
 * Give calls an `abortSignal` that aborts when the client has left: the AI SDK does not pass on that the body of its response was
 * cancelled. Without one a stream that nobody reads ends after `unreadTimeoutMs`.
 *
 * Throws a `TypeError` as `createAgent` does, and for an `unreadTimeoutMs` that can't be used. A call fails as `agent.run` does, and with
 * a `HoldpointError` `invalid-input` when it names no thread, `not-allowed` when it brings tools that are not of `tools`, or were not
 * made by `inertTools`: the AI SDK would run those on the word of a history.
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
  const { unreadTimeoutMs = 60_000, ...others } = options;
  const kept = {
    ...others,
    store: options.store ?? memoryStore(),
    retry: { initialDelayMs: initialRetryDelayMs, ...options.retry },
  };
  /* Made for its checks: what is wrong with the options is said now, and not at the first call. */
  createAgent<TOOLS, RUNTIME_CONTEXT>({ ...kept, model: 'none' });
  const holding = {
    options: kept,
    unreadTimeoutMs: checkedMs(unreadTimeoutMs, 'unreadTimeoutMs'),
  };
  return {
    specificationVersion: 'v4',
    async wrapStream({ model, params }) {
      const { stream } = await holdRun(holding, { model, params, isStreamed: true });
      await stream.begin();
      return { stream: stream.read() };
    },
    async wrapGenerate({ model, params }) {
      const { stream, heard, told } = await holdRun(holding, { model, params, isStreamed: false });
      const answer = new CollectedResponse();
      const parts = stream.read();
      for await (const part of parts) {
        if (part.type === 'error') throw part.error;
        answer.add(part);
      }
      const { request, response } = heard.answer ?? {};
      const whole = answer.whole({ stream: parts, request, response });
      if (params.responseFormat?.type !== 'json') return whole;
      const { answer: last } = heard;
      return { ...whole, structuredOutputText: last ? structuredText(last) : told.recordedText };
    },
  };
}

/* Of several steps the last one is what was asked for. */
function structuredText({ structuredOutputText, content }: ProviderResponse): string {
  return (
    structuredOutputText ?? content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  );
}
