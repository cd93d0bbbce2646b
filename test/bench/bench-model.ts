import type { LanguageModel } from 'ai';

/** A model of the AI SDK's current specification. */
export type BenchModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type Generated = Awaited<ReturnType<BenchModel['doGenerate']>>;

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/** What the model says when it has been given the results. */
export const finalText = 'The transfers are made.';

/**
 * A model that costs next to nothing, whatever the history: it reads only the last message. To a user it
 * proposes `batch` transfers, to tool results it says its final text.
 */
export function benchModel(batch: number): BenchModel {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'bench',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      return prompt.at(-1)?.role === 'user' ? transfers(batch) : spoken();
    },
    async doStream() {
      throw new Error('The bench does not stream.');
    },
  };
}

function transfers(batch: number): Generated {
  const content: Generated['content'] = [];
  for (let index = 0; index < batch; index += 1) {
    content.push({
      type: 'tool-call',
      toolCallId: `call-${index}`,
      toolName: 'transfer',
      input: `{"from":"savings","to":"account-${index}","amount":250}`,
    });
  }
  return {
    content,
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  };
}

function spoken(): Generated {
  return {
    content: [{ type: 'text', text: finalText }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
  };
}
