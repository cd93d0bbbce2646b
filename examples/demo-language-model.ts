import { setTimeout } from 'node:timers/promises';
import type { LanguageModel } from 'ai';

/** A model object of the AI SDK. */
export type DemoModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** The messages that a model receives at each step: it knows nothing else. */
export type Prompt = Parameters<DemoModel['doGenerate']>[0]['prompt'];

/** One step of the model: text, tool calls, or both. */
export interface ModelStep {
  text?: string;
  calls?: readonly { toolName: string; input: object }[];
}

type Generated = Awaited<ReturnType<DemoModel['doGenerate']>>;
type Streamed = Awaited<ReturnType<DemoModel['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never;

const unknown = undefined;
const usage: Generated['usage'] = {
  inputTokens: { total: unknown, noCache: unknown, cacheRead: unknown, cacheWrite: unknown },
  outputTokens: { total: unknown, text: unknown, reasoning: unknown },
};

/**
 * A language model for the AI SDK that needs no API key and no network, for demos: `decide` returns each step. It is stateless, as a
 * real model is. `wordMs`: the time per word in a stream, in milliseconds; default 0.
 */
export function demoLanguageModel(decide: (prompt: Prompt) => ModelStep, wordMs = 0): DemoModel {
  const answer = (prompt: Prompt): Generated => generated(decide(prompt), prompt.length);
  return {
    specificationVersion: 'v4',
    provider: 'holdpoint-example',
    modelId: 'demo-model',
    supportedUrls: {},
    doGenerate: async ({ prompt }) => answer(prompt),
    doStream: async ({ prompt }) => ({
      stream: ReadableStream.from(streamParts(answer(prompt), wordMs)),
    }),
  };
}

function generated({ text, calls = [] }: ModelStep, messages: number): Generated {
  const content: Generated['content'] = [];
  if (text !== undefined) content.push({ type: 'text', text });
  for (const [index, { toolName, input }] of calls.entries()) {
    const toolCallId = `call-${messages}-${index}`;
    content.push({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) });
  }
  const unified = calls.length === 0 ? 'stop' : 'tool-calls';
  return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
}

async function* streamParts(
  { content, finishReason, warnings }: Generated,
  wordMs: number,
): AsyncGenerator<StreamPart> {
  yield { type: 'stream-start', warnings };
  for (const part of content) {
    if (part.type === 'tool-call') yield part;
    if (part.type !== 'text') continue;
    yield { type: 'text-start', id: 'text' };
    for (const delta of part.text.match(/\S+\s*/g) ?? []) {
      yield { type: 'text-delta', id: 'text', delta };
      if (wordMs > 0) await setTimeout(wordMs);
    }
    yield { type: 'text-end', id: 'text' };
  }
  yield { type: 'finish', finishReason, usage };
}
