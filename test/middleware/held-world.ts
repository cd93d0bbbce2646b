import {
  type ContentPart,
  generateText,
  type ModelMessage,
  type ProviderMetadata,
  streamText,
  type ToolApprovalResponse,
  ToolLoopAgent,
  type ToolSet,
  wrapLanguageModel,
} from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { holdPoint } from 'holdpoint/middleware';
import type { PlayedModel, ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { type Ran, travelTools } from '../support/travel-world.ts';

type HoldPointOptions = Parameters<typeof holdPoint<ToolSet>>[0];

type Wrappable = Parameters<typeof wrapLanguageModel>[0]['model'];
/** A model behind `holdPoint`. */
export type HeldModel = ReturnType<typeof wrapLanguageModel>;

/** The model itself, which a kit may not give as the name of one. */
export function modelOf({ model }: Pick<PlayedModel, 'model'>): Wrappable {
  if (typeof model === 'string') throw new Error('A model was expected.');
  return model;
}

/** A played model behind `holdPoint`, with the tools of the travel world and what they did. */
export function heldWorld(
  played: Pick<PlayedModel, 'model'>,
  options: Partial<HoldPointOptions> = {},
) {
  const inner = modelOf(played);
  const ran: Ran[] = [];
  const tools: ToolSet = options.tools ?? travelTools(ran);
  const { store = memoryStore() } = options;
  const kept = {
    toolApproval: { book: 'user-approval' as const },
    maxRetries: 0,
    ...options,
    tools,
    store,
  };
  const held = wrapLanguageModel({ model: inner, middleware: holdPoint(kept) });
  const { unreadTimeoutMs: _held, history: _history, ...shared } = kept;
  /* For an inbox or a worker that shares the thread with the wrapped model. */
  const agent = createAgent({ ...shared, model: inner });
  return { model: held, tools, store, ran, agent };
}

/** A held model that plays `script`. */
export function scriptedWorld(script: ScriptedStep[], options: Partial<HoldPointOptions> = {}) {
  const played = scriptedModel(script);
  return { ...heldWorld(played, options), played };
}

/** What a call brings. */
export interface Asked {
  model: HeldModel;
  messages: ModelMessage[];
  tools?: ToolSet;
  instructions?: string;
  temperature?: number;
  toolChoice?: 'none' | 'required' | { type: 'tool'; toolName: string };
  headers?: Record<string, string>;
  providerOptions?: Parameters<typeof generateText>[0]['providerOptions'];
  abortSignal?: AbortSignal;
  maxRetries?: number;
}

/** The result of a call, in any of the ways. */
export interface Got {
  content: ContentPart<ToolSet>[];
  text: string;
  finishReason: string;
  usage: { inputTokens: number | undefined; outputTokens: number | undefined };
  providerMetadata: ProviderMetadata | undefined;
  responseMessages: ModelMessage[];
}

/** A way in which an app may call the model. */
export interface Way {
  name: string;
  ask(asked: Asked): Promise<Got>;
}

async function streamed({ model, ...asked }: Asked): Promise<Got> {
  const result = streamText({ model, ...asked, onError() {} });
  for await (const part of result.stream) if (part.type === 'error') throw part.error;
  return {
    content: await result.content,
    text: await result.text,
    finishReason: await result.finishReason,
    usage: await result.usage,
    providerMetadata: await result.providerMetadata,
    responseMessages: await result.responseMessages,
  };
}

/** Every way the tests call it; without retries, unless they say so. */
export const ways: Way[] = [
  { name: 'generateText', ask: async (asked) => generateText({ maxRetries: 0, ...asked }) },
  { name: 'streamText', ask: async (asked) => streamed({ maxRetries: 0, ...asked }) },
  {
    name: 'ToolLoopAgent',
    async ask({ messages, abortSignal, ...settings }) {
      return new ToolLoopAgent({ maxRetries: 0, ...settings }).generate({
        messages,
        ...(abortSignal && { abortSignal }),
      });
    },
  },
];

/** The options of a call that belongs to a thread. */
export function ofThread(threadId = 't', more: object = {}): Pick<Asked, 'providerOptions'> {
  return { providerOptions: { holdpoint: { threadId, ...more } } };
}

/** The ids of the requests among the parts of a result. */
export function requestsIn(content: readonly ContentPart<ToolSet>[]): string[] {
  return content.flatMap((part) =>
    part.type === 'tool-approval-request' ? [part.approvalId] : [],
  );
}

/** The message that answers requests, as the AI SDK has it for calls that ran at the provider. */
export function answering(
  requestIds: readonly string[],
  decision: Partial<ToolApprovalResponse> = {},
): ModelMessage {
  return {
    role: 'tool',
    content: requestIds.map((approvalId) => ({
      type: 'tool-approval-response',
      approvalId,
      approved: true,
      providerExecuted: true,
      ...decision,
    })),
  };
}

/** A conversation whose history the app keeps, as the AI SDK's documentation has it. */
export function conversation({ ask }: Way, asked: Omit<Asked, 'messages'>) {
  const messages: ModelMessage[] = [];
  const go = async (message?: ModelMessage): Promise<Got> => {
    if (message !== undefined) messages.push(message);
    const got = await ask({ ...ofThread(), ...asked, messages });
    messages.push(...got.responseMessages);
    return got;
  };
  return {
    messages,
    go,
    say: async (text: string) => go({ role: 'user', content: text }),
  };
}
