import type { ToolSet } from 'ai';
import type { AgentOptions } from '../agent/agent-options.ts';
import type { AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderPart } from '../agent/collected-answer.ts';
import { createAgent } from '../agent/create-agent.ts';
import { HeardModel } from './heard-model.ts';
import {
  type BroughtOption,
  type ProviderCall,
  type ProviderModel,
  activeToolsOf,
  settingsOf,
  threadOptionsOf,
} from './provider-call.ts';
import { inputOf, isRejection, readPrompt } from './read-prompt.ts';
import { ToldParts } from './told-parts.ts';
import { toldStream } from './told-stream.ts';

/** What `holdPoint` is made of: the options of `createAgent`, but for what each call of the model brings itself. */
export type HoldPointOptions<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> = Omit<AgentOptions<TOOLS, RUNTIME_CONTEXT>, 'model' | 'instructions' | BroughtOption>;

/** A call of the wrapped model. */
export interface HeldCall {
  model: ProviderModel;
  params: ProviderCall;
  isStreamed: boolean;
}

/** The run behind a call. */
export interface HeldRun {
  /** Reading it is what runs the thread; to cancel it ends the run as an aborted signal does. */
  parts: ReadableStream<ProviderPart>;
  heard: HeardModel;
  told: ToldParts;
}

/** Prepares the run of a call's thread. It begins when the parts are read. */
export async function holdRun<TOOLS extends ToolSet, RUNTIME_CONTEXT>(
  options: HoldPointOptions<TOOLS, RUNTIME_CONTEXT>,
  { model, params, isStreamed }: HeldCall,
): Promise<HeldRun> {
  const { threadId, answers, messageId: id, ...runOptions } = threadOptionsOf(params);
  const activeTools = narrowed(options.activeTools, activeToolsOf(params, options.tools ?? {}));
  const prompt = readPrompt(params.prompt);
  const { instructions } = prompt;
  const messageId = prompt.messages.length === 0 ? undefined : id;
  const { abortSignal: signal } = params;
  const heard = new HeardModel(model, { params, isStreamed });
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
    answered: new Set([...prompt.answers, ...answers].map(({ requestId }) => requestId)),
    rejected: new Set(prompt.answers.filter(isRejection).map(({ requestId }) => requestId)),
    shownCalls: isStreamed ? prompt.shownCalls : new Set(),
    messageId,
    answer: () => heard.answer,
  });
  /* With this choice the AI SDK takes an answer with calls for the model's fault; what ran before is in the thread. */
  const hidesCalls = params.toolChoice?.type === 'none';
  const tell = (event: AgentStreamEvent): ProviderPart[] =>
    told.of(event).filter(({ type }) => !hidesCalls || !type.startsWith('tool-'));
  const input = inputOf(prompt, thread, { answers, messageId });
  const run = agent.stream(input, thread, { ...runOptions, messageId, signal });
  return { heard, told, parts: toldStream(run, tell) };
}

/* What holdPoint was made with can't be widened by a call. */
function narrowed(
  kept: readonly string[] | undefined,
  ofCall: readonly string[] | undefined,
): string[] | undefined {
  return ofCall?.filter((name) => kept?.includes(name) ?? true);
}
