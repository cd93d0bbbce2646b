import type { ToolSet } from 'ai';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderPart } from '../agent/model/collected-response.ts';
import { createAgent } from '../agent/create-agent.ts';
import { messageIdOf } from '../thread/app-messages.ts';
import { HeardModel } from './heard-model.ts';
import {
  type BroughtOption,
  type ProviderCall,
  type ProviderModel,
  activeToolsOf,
  parseAnswer,
  settingsOf,
  threadOptionsOf,
} from './provider-call.ts';
import { broughtBy, inputOf, isRejection, readPrompt } from './read-prompt.ts';
import { ToldParts } from './told-parts.ts';
import { ToldStream } from './told-stream.ts';

/** What `holdPoint` is made of: the options of `createAgent`, but for what each call of the model brings itself. */
export type HoldPointOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> = Omit<AgentOptions<TOOLS, RUNTIME_CONTEXT>, 'model' | 'instructions' | BroughtOption> & {
  /**
   * How long a stream may wait for its reader while the run is at work, in milliseconds; then the run ends as if its signal had
   * aborted, with a `TimeoutError`, and the thread is free. For readers that leave without a word. Default 60,000.
   */
  unreadTimeoutMs?: number;
};

/** What calls are held with. */
export interface Holding<TOOLS extends ToolSet, RUNTIME_CONTEXT> {
  options: Omit<HoldPointOptions<TOOLS, RUNTIME_CONTEXT>, 'unreadTimeoutMs'>;
  unreadTimeoutMs: number;
}

/** A call of the wrapped model. */
export interface HeldCall {
  model: ProviderModel;
  params: ProviderCall;
  isStreamed: boolean;
}

/** The run behind a call. It begins when its parts are asked for. */
export interface HeldRun {
  stream: ToldStream;
  heard: HeardModel;
  told: ToldParts;
}

/** Prepares the run of a call's thread. */
export async function holdRun<TOOLS extends ToolSet, RUNTIME_CONTEXT>(
  { options, unreadTimeoutMs }: Holding<TOOLS, RUNTIME_CONTEXT>,
  { model, params, isStreamed }: HeldCall,
): Promise<HeldRun> {
  const { threadId, answers: others, messageId: id, ...runOptions } = threadOptionsOf(params);
  const activeTools = narrowed(options.activeTools, activeToolsOf(params, options.tools ?? {}));
  const prompt = readPrompt(params.prompt);
  const { instructions } = prompt;
  const answers = [...others, ...prompt.saidAnswers.map(parseAnswer)];
  const newest = prompt.messages.at(-1);
  const messageId = newest && (id ?? messageIdOf(newest));
  const heard = new HeardModel(model, { params, isStreamed, isSilent: () => told.isSilent });
  const agent = createAgent<TOOLS, RUNTIME_CONTEXT>({
    ...options,
    ...settingsOf(params),
    ...(activeTools && { activeTools }),
    model: heard.model,
    ...(instructions.length > 0 && { instructions }),
  });
  const thread = await agent.thread(threadId);
  const told = new ToldParts({
    thread,
    callerTools: new Set(params.tools?.map(({ name }) => name)),
    ...broughtBy(prompt, thread, { answers, messageId }),
    rejected: new Set(prompt.answers.filter(isRejection).map(({ requestId }) => requestId)),
    shownCalls: isStreamed ? prompt.shownCalls : new Set(),
    takesRaw: params.includeRawChunks === true,
    answer: () => heard.answer,
    failure: (error) => heard.failureOf(error),
  });
  const input = inputOf(prompt, thread, { answers, messageId });
  const unread = new AbortController();
  const signal = AbortSignal.any([unread.signal, ...given(params.abortSignal)]);
  const run = agent.stream(input, thread, { ...runOptions, messageId, abortSignal: signal });
  const onUnread = (): void => unread.abort(unreadError(unreadTimeoutMs));
  const tell = tellerOf(told, params);
  return { heard, told, stream: new ToldStream(run, { tell, unreadTimeoutMs, onUnread }) };
}

/* With this choice the AI SDK takes an answer with calls for the model's fault; what ran before is in the thread. */
function tellerOf(
  told: ToldParts,
  { toolChoice }: ProviderCall,
): (event: AgentStreamEvent) => ProviderPart[] {
  if (toolChoice?.type !== 'none') return (event) => told.of(event);
  return (event) => told.of(event).filter(({ type }) => !type.startsWith('tool-'));
}

function given<VALUE>(value: VALUE | undefined): VALUE[] {
  return value === undefined ? [] : [value];
}

function unreadError(unreadTimeoutMs: number): DOMException {
  return new DOMException(`The stream was not read for ${unreadTimeoutMs} ms.`, 'TimeoutError');
}

/* What holdPoint was made with can't be widened by a call. */
function narrowed(
  kept: readonly string[] | undefined,
  ofCall: readonly string[] | undefined,
): string[] | undefined {
  return ofCall?.filter((name) => kept?.includes(name) ?? true);
}
