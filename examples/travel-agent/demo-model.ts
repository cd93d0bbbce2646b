import { decideTurn, type Turn } from './demo-model/decide-turn.ts';
import { type DemoModel, type Prompt, readConversation } from './demo-model/read-conversation.ts';

type Generated = Awaited<ReturnType<DemoModel['doGenerate']>>;
type Streamed = Awaited<ReturnType<DemoModel['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never;

const unknown = undefined;
const usage: Generated['usage'] = {
  inputTokens: { total: unknown, noCache: unknown, cacheRead: unknown, cacheWrite: unknown },
  outputTokens: { total: unknown, text: unknown, reasoning: unknown },
};

/**
 * A small language model of the AI SDK's own kind, for a demo without an API key or a network: it reads what was
 * typed with regular expressions, and books flights. It is as stateless as a real one.
 */
export function demoModel(today: () => string): DemoModel {
  const answer = (prompt: Prompt): Generated => {
    const day = today();
    return generated(decideTurn(readConversation(prompt, day), day), prompt.length);
  };
  return {
    specificationVersion: 'v4',
    provider: 'holdpoint-example',
    modelId: 'demo-model',
    supportedUrls: {},
    doGenerate: async ({ prompt }) => answer(prompt),
    doStream: async ({ prompt }) => ({ stream: ReadableStream.from(streamParts(answer(prompt))) }),
  };
}

function generated({ text, call }: Turn, messages: number): Generated {
  const content: Generated['content'] = [];
  if (text !== undefined) content.push({ type: 'text', text });
  if (call !== undefined) {
    const { toolName, input } = call;
    const toolCallId = `call-${messages}`;
    content.push({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) });
  }
  const unified = call === undefined ? 'stop' : 'tool-calls';
  return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
}

function* streamParts({ content, finishReason, warnings }: Generated): Generator<StreamPart> {
  yield { type: 'stream-start', warnings };
  for (const part of content) {
    if (part.type === 'tool-call') yield part;
    if (part.type !== 'text') continue;
    yield { type: 'text-start', id: 'text' };
    for (const delta of part.text.match(/\S+\s*/g) ?? []) {
      yield { type: 'text-delta', id: 'text', delta };
    }
    yield { type: 'text-end', id: 'text' };
  }
  yield { type: 'finish', finishReason, usage };
}
