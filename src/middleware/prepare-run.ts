import type { ToolSet } from 'ai';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { AgentStream, AgentStreamEvent } from '../agent/agent-stream.ts';
import { createAgent } from '../agent/create-agent.ts';
import type { ProviderPart } from '../agent/model.ts';
import { HoldpointError } from '../errors.ts';
import { isSamePrincipal } from '../policy/same-person.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { readMessageId } from '../thread/app-messages.ts';
import { answersByApprovalId, ApprovalIds, isRejection } from '../thread/approval-ids.ts';
import { listActiveTools } from './inert-tools.ts';
import {
  type ModelCallOptions,
  parseAnswer,
  type PerCallOption,
  type ProviderModel,
  pickCallSettings,
  parseThreadOptions,
} from './model-call-options.ts';
import { listNewInput, makeReplyKey } from './new-input.ts';
import { readPrompt, type ReadPrompt, withPromptHistory } from './read-prompt.ts';
import { RecordingModel } from './recording-model.ts';
import { RunParts } from './run-parts.ts';
import { ProviderRunStream } from './run-stream.ts';

/** The options of `holdPoint`: those of `createAgent`, except for those that each model call sets. */
export type HoldPointOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> = Omit<
  AgentOptions<TOOLS, RUNTIME_CONTEXT>,
  'model' | 'instructions' | 'output' | PerCallOption
> & {
  /**
   * How long a stream may wait for its reader during the run, in milliseconds. After that the run ends with a `TimeoutError`, as if its
   * signal had aborted, and releases the thread. Protects against readers that leave without cancelling. Default and maximum: `leaseMs`.
   */
  unreadTimeoutMs?: number;
  /**
   * What happens to earlier messages in a prompt for a thread without events: `refuse`, the default, with `invalid-input`; or `import`, as
   * the beginning of the thread. If they come from a client, it may have made them up: a forged message can mislead the model, but nothing
   * in it can answer or run anything. Calls without a result are closed.
   */
  history?: 'refuse' | 'import';
};

/** The options of `holdPoint`, with defaults filled in. */
export interface HoldPointSettings<TOOLS extends ToolSet, RUNTIME_CONTEXT> {
  options: Omit<HoldPointOptions<TOOLS, RUNTIME_CONTEXT>, 'unreadTimeoutMs' | 'history'>;
  unreadTimeoutMs: number;
  history: 'refuse' | 'import';
}

/** A call of the wrapped model. */
export interface ModelCall {
  model: ProviderModel;
  params: ModelCallOptions;
  isStreamed: boolean;
}

/** The run for a model call. It starts when the stream is read. */
export interface PreparedRun {
  stream: ProviderRunStream;
  model: RecordingModel;
  parts: RunParts;
}

/** Prepares the run of the thread that a model call names. Throws like `holdPoint`'s model calls. */
export async function prepareRun<TOOLS extends ToolSet, RUNTIME_CONTEXT>(
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
  const own = [...others, ...sent.answersInMessages.map(parseAnswer)];
  const newest = sent.messages.at(-1);
  const messageId = newest && (id ?? readMessageId(newest));
  const model = new RecordingModel(wrapped, { params, isStreamed, hasParts: () => parts.hasParts });
  const agent = createAgent<TOOLS, RUNTIME_CONTEXT>({
    ...options,
    ...pickCallSettings(params),
    ...(activeTools && { activeTools }),
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
  const inPrompt = answersByApprovalId(thread, prompt.answers);
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
  const signal = AbortSignal.any([unread.signal, ...listGiven(params.abortSignal)]);
  const { whilePending: _pending, ...resuming } = { ...runOptions, abortSignal: signal };
  const run = agent.stream(input, thread, {
    ...runOptions,
    messageId,
    resumeStopped: reply.isRepeated,
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
    stream: new ProviderRunStream(run, { partsOf, unreadTimeoutMs, onUnread, insteadOf }),
  };
}

/* With `toolChoice: 'none'` the AI SDK treats tool parts as a model error; calls of earlier steps are in the thread. */
function makeConverter(
  parts: RunParts,
  { toolChoice }: ModelCallOptions,
): (event: AgentStreamEvent) => ProviderPart[] {
  if (toolChoice?.type !== 'none') return (event) => parts.of(event);
  return (event) => parts.of(event).filter(({ type }) => !type.startsWith('tool-'));
}

function listGiven<VALUE>(value: VALUE | undefined): VALUE[] {
  return value === undefined ? [] : [value];
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

/** Whether the prompt's last turn asks about a call more often than it answers the call's request. */
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

/** Whether `error` refuses a message because requests are open, and the prompt shows one of them as answered. */
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
