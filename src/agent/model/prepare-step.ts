import type { Instructions, LanguageModel, ModelMessage, ToolSet, PrepareStepResult } from 'ai';
import {
  listHistory,
  turnSteps,
  listNextMessages,
  type SentMessage,
  type FinishedStep,
} from '../../thread/finished-steps.ts';
import { freezeDeep } from '../../json/json-value.ts';
import type { PreparedRecord, SentPart } from '../../thread/events.ts';
import { listAssistantParts } from '../../thread/proposed-calls.ts';
import { toJson } from '../../json/tagged-json.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { readModelName } from './streaming-model.ts';

/** The settings of one step that `prepareStep` may return; all others are those of the agent and the run. */
export type PreparedStep<TOOLS extends ToolSet = ToolSet> = Omit<
  NonNullable<PrepareStepResult<TOOLS>>,
  'system' | 'toolsContext' | 'runtimeContext' | 'experimental_sandbox'
>;

/**
 * The AI SDK's `prepareStep`: called before each request to the model. `messages` are those that the step would send: those of the previous
 * step, plus those added to the thread since. Returned messages carry forward, also to later turns and other processes. `threadMessages` is
 * the whole thread. `steps` are those of the turn.
 */
export type PrepareStep<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> = {
  /* A method: an agent calls it with the tools and the context that its types promise. */
  prepareStep(
    options: PrepareStepOptions<TOOLS, RUNTIME_CONTEXT>,
  ): PreparedStep<TOOLS> | undefined | PromiseLike<PreparedStep<TOOLS> | undefined>;
}['prepareStep'];

interface PrepareStepOptions<TOOLS extends ToolSet, RUNTIME_CONTEXT> {
  /** The thread of the turn. */
  threadId: string;
  /** The finished steps of the turn, oldest first. */
  steps: FinishedStep[];
  /** The number of the step in its turn, from 0. */
  stepNumber: number;
  /** The model that the step would ask. */
  model: LanguageModel;
  /** The instructions that the step would send. */
  instructions: Instructions | undefined;
  /** The instructions of the agent. */
  initialInstructions: Instructions | undefined;
  /** The messages that the step would send. */
  messages: ModelMessage[];
  /** All messages of the thread. */
  threadMessages: ModelMessage[];
  /** The `toolsContext` of the run. */
  toolsContext: { readonly [NAME in keyof TOOLS]?: unknown };
  /** The `runtimeContext` of the run. */
  runtimeContext: RUNTIME_CONTEXT;
}

/** The model settings that a step can have for itself. */
export const stepSettingNames = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
  'providerOptions',
  'toolChoice',
  'activeTools',
  'toolOrder',
] as const;

const preparedNames = new Set<string>([...stepSettingNames, 'model', 'instructions', 'messages']);

/** The settings of a step that are recorded: those that differ from the agent's. */
export function recordSettings(
  { model, instructions, ...prepared }: PreparedStep,
  ofRun: Pick<PreparedStep, 'activeTools' | 'toolChoice'>,
): PreparedRecord {
  const { activeTools = ofRun.activeTools, toolChoice = ofRun.toolChoice } = prepared;
  return { instructions, model: model && readModelName(model).modelId, activeTools, toolChoice };
}

/** The inputs of `prepareStep` that the thread does not have. */
interface PrepareInput {
  prepareStep: PrepareStep<ToolSet, unknown>;
  model: LanguageModel;
  instructions: Instructions | undefined;
  toolsContext: Readonly<Record<string, unknown>>;
  runtimeContext: unknown;
}

/**
 * Calls `prepareStep`. Returns the settings and messages of the step, and the record of the messages. Throws a `TypeError` for
 * a setting that a step can't have, and for messages that providers would reject or that could make a provider run a call again.
 */
export async function prepare(
  { prepareStep, model, instructions, toolsContext, runtimeContext }: PrepareInput,
  state: Readonly<ThreadState>,
): Promise<{ prepared: PreparedStep; sent: PreparedRecord }> {
  const history = freezeDeep(state.messages.slice());
  const sent = listNextMessages(state);
  const steps = turnSteps(state);
  const prepared = await prepareStep({
    threadId: state.threadId,
    steps,
    stepNumber: steps.length,
    model,
    instructions,
    initialInstructions: instructions,
    toolsContext,
    runtimeContext,
    messages: sent.map(({ message }) => freezeDeep(message)),
    threadMessages: [...history],
  });
  refuseOtherSettings(prepared ?? {});
  const chosen = matchChosenMessages(prepared?.messages, sent, history);
  refuseCuts(chosen, history);
  return {
    prepared: { ...prepared, messages: chosen.map(({ message }) => message) },
    sent: recordSent(chosen, history.length),
  };
}

function refuseOtherSettings(prepared: object): void {
  for (const [name, value] of Object.entries(prepared)) {
    if (value === undefined || preparedNames.has(name)) continue;
    throw new TypeError(`prepareStep returned '${name}', which a step can't change.`);
  }
}

/** Finds the place where each returned message is recorded. An equal copy of a message counts as that message. */
function matchChosenMessages(
  messages: readonly ModelMessage[] | undefined,
  sent: SentMessage[],
  history: readonly ModelMessage[],
): SentMessage[] {
  if (messages === undefined) return sent;
  const known = [...sent, ...listHistory({ messages: history })];
  const byObject = new Map<ModelMessage, SentPart>(
    known.map(({ message, part }) => [message, part]),
  );
  let byText: Map<string, SentPart> | undefined;
  return messages.map((message) => {
    const same = byObject.get(message);
    if (same !== undefined) return { message, part: same };
    byText ??= new Map(known.map((each) => [writeMessage(each.message), each.part]));
    return { message, part: byText.get(writeMessage(message)) ?? { message } };
  });
}

function writeMessage(message: ModelMessage): string {
  return JSON.stringify(toJson(message));
}

/** The record of the messages; empty for those of the thread. */
function recordSent(chosen: readonly SentMessage[], messageCount: number): PreparedRecord {
  const messages = joinRanges(chosen);
  const [first] = messages;
  const isWhole = first !== undefined && 'from' in first && first.to - first.from === messageCount;
  return isWhole && messages.length === 1 ? {} : { messages, messageCount };
}

/** The list in which messages that are consecutive in the thread form one range. */
function joinRanges(chosen: readonly SentMessage[]): SentPart[] {
  const parts: SentPart[] = [];
  for (const { part } of chosen) {
    const last = parts.at(-1);
    if (last && 'from' in last && 'from' in part && last.to === part.from) {
      parts.splice(-1, 1, { from: last.from, to: part.to });
    } else parts.push(part);
  }
  return parts;
}

/**
 * Throws a `TypeError` for a tool result without its call, which providers reject. And unless each message that answers a provider's
 * request is sent as recorded, once, after the request and followed by the next reply; and in any case if there is no reply yet. A provider
 * that gets an answer again, without what followed, could run the call again.
 */
function refuseCuts(chosen: readonly SentMessage[], history: readonly ModelMessage[]): void {
  const lastReply = history.findLastIndex(({ role }) => role === 'assistant');
  const pending = history.findIndex((each, at) => at > lastReply && answersProvider(each));
  const places = chosen.map(({ part }) => ('from' in part ? part.from : -2));
  const calls = new Set<string>();
  let isRight = pending === -1 || places.includes(pending);
  for (const [place, { message }] of chosen.entries()) {
    for (const part of listAssistantParts(message))
      if (part.type === 'tool-call') calls.add(part.toolCallId);
    if (message.role !== 'tool') continue;
    isRight &&= message.content.every(
      (part) => part.type !== 'tool-result' || calls.has(part.toolCallId),
    );
    if (!answersProvider(message)) continue;
    const at = places[place] ?? -2;
    const reply = history.findIndex(({ role }, index) => index > at && role === 'assistant');
    const end = reply === -1 ? history.length : reply + 1;
    const around = String([...history.keys()].slice(at - 1, end));
    const last = reply === -1 ? undefined : place + end - at;
    isRight &&= places.indexOf(at) === place && String(places.slice(place - 1, last)) === around;
  }
  if (isRight) return;
  throw new TypeError(
    "prepareStep cut off a tool result from its call, or an answer to a provider's request from the messages next to it.",
  );
}

function answersProvider(message: ModelMessage): boolean {
  return (
    message.role === 'tool' && message.content.some(({ type }) => type === 'tool-approval-response')
  );
}
