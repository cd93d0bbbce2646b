import type { LanguageModelMiddleware, ToolSet } from 'ai';
import {
  type AgentOptions,
  type AgentStream,
  type AgentStreamEvent,
  createAgent,
  CollectedResponse,
  type ProviderResponse,
  type ProviderPart,
} from '../agent.ts';
import { checkHistoryOption } from '../view/import-from-client.ts';
import { checkMs } from '../content/check-settings.ts';
import { HoldpointError } from '../errors.ts';
import type { CheckedRules } from '../policy/checked-rules.ts';
import { isSamePrincipal } from '../policy/same-person.ts';
import { memoryStore } from '../stores/memory.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { readMessageId } from '../thread/app-messages.ts';
import { answersByApprovalId, ApprovalIds, isRejection } from '../view/approval-ids.ts';
import { listActiveTools } from './inert-tools.ts';
import {
  refuseForeignAnswers,
  refuseUnruledTools,
  warnOfForeignAnswers,
} from './left-behind-rules.ts';
import {
  type ModelCallOptions,
  parseAnswer,
  type PerCallOption,
  type ProviderModel,
  pickCallSettings,
  parseThreadOptions,
} from './model-call.ts';
import { listNewInput, makeReplyKey } from './new-input.ts';
import { readPrompt, type ReadPrompt, withPromptHistory } from './read-prompt.ts';
import { RecordingModel } from './recording-model.ts';
import { RunParts } from './run-parts.ts';
import { ProviderRunStream } from './run-stream.ts';

/** The options of `holdPoint`: those of `createAgent`, except for those that each model call sets. */
type HoldPointOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> = Omit<
  AgentOptions<TOOLS, RUNTIME_CONTEXT>,
  'model' | 'instructions' | 'output' | PerCallOption
> & {
  /**
   * The time that a stream may wait for its reader during the run, in milliseconds. After that the run ends with a `TimeoutError`, as if
   * its signal had aborted, and releases the thread. Protects against readers that leave without cancelling. Default and maximum:
   * `leaseMs`.
   */
  unreadTimeoutMs?: number;
  /**
   * The treatment of earlier messages in a prompt for a thread without events: `refuse`, the default, with `invalid-input`; or `import`, as
   * the beginning of the thread. If they come from a client, it may have made them up: a forged message can mislead the model, but nothing
   * in it can answer or run anything. Calls without a result are closed.
   */
  history?: 'refuse' | 'import';
};

/* The AI SDK retries a failed call after 2 seconds, then 4, and so on: a worker must not claim the thread between its retries. */
const initialRetryDelayMs = 10_000;

/**
 * Middleware that runs a durable thread behind the interface of a model, so that you keep your `generateText`, `streamText`,
 * `ToolLoopAgent` or `useChat`. Tools run inside the model call, approval requests come out as the model's `tool-approval-request`
 * parts, and answers come in through the prompt. The thread, which each call names, is the authority: of a prompt, only the new messages
 * at its end are read, and answers at its very end, in a message of `answerMessage` or as `tool-approval-response` parts of the AI SDK with
 * `providerExecuted: true`. An answer that a message follows is history, which anybody may have written: if its request is still open, the
 * reply asks again, and the message is not recorded. After a vote the request has a new `approvalId`, and a yes under an older one has no
 * effect. If requests are open and the prompt has no new message and no answer that counts, the result has a warning.
 *
 * Pass `providerOptions.holdpoint` as `{ threadId, principal?, channel?, whilePending?, messageId?, answers? }`: `answers` takes answers
 * to questions, and any others. `providerMetadata.holdpoint` of the result is `{ threadId, status, requests }`. A `toolChoice` that
 * forces a call applies to the first step of the run only.
 *
 * `messageId` is your id for the last message of the prompt, 1 to 256 characters; it is ignored if the prompt does not end with a message
 * of the user. A call with a known id adds no message: it resumes the turn, and once there is a reply returns the recorded one, with its
 * text, calls, results and sources, even if the conversation has continued since. The usage is only that of this call, so a recorded reply
 * has none. The id may also be in the message (`providerOptions.holdpoint.messageId`). Without an id, a message is recognized by its
 * content until its turn ends. An answer that is sent again returns what followed it; this needs no id.
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
 * Move `toolApproval` here from `generateText`, `streamText` or `ToolLoopAgent`: left there, it can't hold a call, as the tools run behind
 * the model, and the AI SDK asks by itself about what holdpoint has already decided. Tools that a map doesn't list run, as in the AI SDK.
 *
 * Throws a `TypeError` like `createAgent`, for an invalid `unreadTimeoutMs` or `history`, and if there is no `toolApproval` at all and a
 * tool with `execute` has no `needsApproval` (`toolApproval: () => 'approved'` says that all calls run). A call fails like `agent.run`, and
 * with a `HoldpointError`: `invalid-input` if it does not name a thread; `not-found` if its prompt answers a request of the AI SDK's own;
 * `not-allowed` if its tools are not in `tools` or were not made by `inertTools`, because the AI SDK would run those if a history says that
 * they were approved.
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
  const RULES = unknown,
>(
  options: CheckedRules<TOOLS, RULES> & HoldPointOptions<TOOLS, RUNTIME_CONTEXT>,
): LanguageModelMiddleware {
  const { leaseMs = 60_000, unreadTimeoutMs = leaseMs, history, ...others } = options;
  const agentOptions = {
    ...others,
    leaseMs,
    store: options.store ?? memoryStore(),
    retry: { initialDelayMs: initialRetryDelayMs, ...options.retry },
  };
  /* Validates the options now instead of at the first call. */
  createAgent<TOOLS, RUNTIME_CONTEXT>({ ...agentOptions, model: 'none' });
  refuseUnruledTools(options.tools ?? {}, options.toolApproval);
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

/** The options of `holdPoint`, with defaults filled in. */
interface HoldPointSettings<TOOLS extends ToolSet, RUNTIME_CONTEXT> {
  options: Omit<HoldPointOptions<TOOLS, RUNTIME_CONTEXT>, 'unreadTimeoutMs' | 'history'>;
  unreadTimeoutMs: number;
  history: 'refuse' | 'import';
}

/** A call of the wrapped model. */
interface ModelCall {
  model: ProviderModel;
  params: ModelCallOptions;
  isStreamed: boolean;
}

/** The run for a model call. It starts when the stream is read. */
interface PreparedRun {
  stream: ProviderRunStream;
  model: RecordingModel;
  parts: RunParts;
}

/** Prepares the run of the thread that a model call names. Throws like `holdPoint`'s model calls. */
async function prepareRun<TOOLS extends ToolSet, RUNTIME_CONTEXT>(
  { options, unreadTimeoutMs, history }: HoldPointSettings<TOOLS, RUNTIME_CONTEXT>,
  { model: wrapped, params, isStreamed }: ModelCall,
): Promise<PreparedRun> {
  const { threadId, answers: others, messageId: id, ...runOptions } = parseThreadOptions(params);
  const activeTools = narrowTools(
    options.activeTools,
    listActiveTools(params, options.tools ?? {}),
  );
  const sent = readPrompt(params.prompt);
  const { instructions } = sent;
  if (sent.isResumed) refuseAnswers(others);
  const own = [...others, ...sent.answersInMessages.map(parseAnswer)];
  const newest = sent.messages.at(-1);
  const messageId = newest && (id ?? readMessageId(newest));
  const model = new RecordingModel(wrapped, { params, isStreamed, hasParts: () => parts.hasParts });
  const agent = createAgent<TOOLS, RUNTIME_CONTEXT>({
    ...options,
    ...pickCallSettings(params),
    ...(activeTools && { activeTools, toolOrder: options.toolOrder ?? activeTools }),
    model: model.model,
    ...(instructions.length > 0 && { instructions }),
  });
  const { principal, channel } = runOptions;
  const isSender = (other: unknown): boolean =>
    isSamePrincipal(principal, other, options.principalId);
  const { thread, prompt } = await withPromptHistory(agent, sent, {
    threadId,
    history,
    by: { principal, channel },
  });
  /* Reads the whole log: only where the prompt answers something. */
  const ids = new ApprovalIds(prompt.answeredIds.length === 0 ? [] : thread.events);
  refuseForeignAnswers(thread, ids, prompt.answers);
  const inPrompt = answersByApprovalId(thread, ids, prompt.answers);
  const answers = [...own, ...inPrompt.answers];
  const answered = [...own.map(({ requestId }) => requestId), ...inPrompt.requestIds];
  const reply = makeReplyKey(prompt, thread, { answered, messageId, isSender });
  const parts = new RunParts({
    thread,
    callerTools: new Set(params.tools?.map(({ name }) => name)),
    ...reply,
    rejected: new Set(inPrompt.answers.filter(isRejection).map(({ requestId }) => requestId)),
    shownCalls: new Set(isStreamed ? prompt.shownCalls : []),
    isAsking: (call, requestId) => isStreamed && isAskingIn(prompt, thread, call, requestId),
    includeRaw: params.includeRawChunks === true,
    response: () => model.response,
    failure: (error) => model.failureOf(error),
  });
  const input = listNewInput(prompt, thread, { answers, messageId, isSender });
  const unread = new AbortController();
  const signal = AbortSignal.any([
    unread.signal,
    ...(params.abortSignal ? [params.abortSignal] : []),
  ]);
  const { whilePending: _pending, ...resuming } = { ...runOptions, abortSignal: signal };
  const hasInput = input.length > 0 || prompt.messages.length > 0 || prompt.isResumed;
  const warnings = [
    ...(hasInput ? [] : warnOfOpenRequests(thread)),
    ...warnOfForeignAnswers(thread, ids, prompt),
  ];
  const run = agent.stream(input, thread, {
    ...runOptions,
    messageId,
    resumeStopped: reply.isRepeated && !prompt.isResumed,
    abortSignal: signal,
  });
  const insteadOf = (error: unknown): AgentStream | undefined => {
    if (!isStillAsked(error, thread, prompt)) return undefined;
    parts.isUnsaid = true;
    return agent.stream(answers, thread, resuming);
  };
  const onUnread = (): void => unread.abort(makeUnreadError(unreadTimeoutMs));
  const partsOf = makeConverter(parts, params);
  return {
    model,
    parts,
    stream: new ProviderRunStream(run, { warnings, partsOf, unreadTimeoutMs, onUnread, insteadOf }),
  };
}

function refuseAnswers(answers: readonly unknown[]): void {
  if (answers.length === 0) return;
  throw new HoldpointError(
    'invalid-input',
    'A call with resumeMessage() gives no answers, but providerOptions.holdpoint has some. Send them with answerMessage(…) instead.',
  );
}

/* A part without `providerExecuted` never gets here: without an error, the app would ask forever. */
function warnOfOpenRequests({
  id,
  activeRequests,
}: Pick<AgentThread, 'id' | 'activeRequests'>): ProviderResponse['warnings'] {
  if (activeRequests.length === 0) return [];
  const message =
    `The prompt has no new message and no answer that counts, and thread ${id} waits for ${activeRequests.length} answer(s). End the messages ` +
    'with answerMessage(request.approve()) for a request of approvalRequestsOf(result), or with a tool-approval-response part that has ' +
    'providerExecuted: true. Without it, the AI SDK leaves the part out of the prompt; under an approvalId from before a vote, a yes has no effect.';
  return [{ type: 'other', message }];
}

/* With `toolChoice: 'none'` the AI SDK treats tool parts as a model error; calls of earlier steps are in the thread. */
function makeConverter(
  parts: RunParts,
  { toolChoice }: ModelCallOptions,
): (event: AgentStreamEvent) => ProviderPart[] {
  if (toolChoice?.type !== 'none') return (event) => parts.of(event);
  return (event) => parts.of(event).filter(({ type }) => !type.startsWith('tool-'));
}

function makeUnreadError(unreadTimeoutMs: number): DOMException {
  return new DOMException(`The stream was not read for ${unreadTimeoutMs} ms.`, 'TimeoutError');
}

/* A call can't allow tools that holdPoint's own `activeTools` exclude. */
function narrowTools(
  allowed: readonly string[] | undefined,
  ofCall: readonly string[] | undefined,
): string[] | undefined {
  return ofCall?.filter((name) => allowed?.includes(name) ?? true);
}

/** Checks whether the prompt's last turn asks about a call more often than it answers the call's request. */
function isAskingIn(
  { shownCalls, shownAnswers }: Pick<ReadPrompt, 'shownCalls' | 'shownAnswers'>,
  { events }: Pick<AgentThread, 'events'>,
  toolCallId: string,
  requestId: string,
): boolean {
  const asked = shownCalls.filter((id) => id === toolCallId).length;
  if (asked === 0) return false;
  const ids = new ApprovalIds(events);
  return asked > shownAnswers.filter((id) => ids.read(id).requestId === requestId).length;
}

/** Checks whether `error` refuses a message because requests are open, and the prompt shows one of them as answered. */
function isStillAsked(
  error: unknown,
  { events, activeRequests }: Pick<AgentThread, 'events' | 'activeRequests'>,
  { answeredIds }: Pick<ReadPrompt, 'answeredIds'>,
): boolean {
  if (!HoldpointError.isInstance(error) || error.code !== 'requests-open') return false;
  const ids = new ApprovalIds(events);
  const answered = new Set(answeredIds.map((id) => ids.read(id).requestId));
  return activeRequests.some(({ requestId }) => answered.has(requestId));
}
