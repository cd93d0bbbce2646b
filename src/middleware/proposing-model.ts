import type { ToolCall } from '../content/tool-call.ts';
import type { ProviderModel } from './provider-call.ts';

type Answer = Awaited<ReturnType<ProviderModel['doGenerate']>>;

const nothing = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };

/**
 * A model that proposes one call and is then silent. It goes by what the history says, so that no number of processes, one after
 * another or at once, can have the call proposed twice.
 */
export function proposingModel({ toolCallId, toolName, input }: ToolCall): ProviderModel {
  return {
    specificationVersion: 'v4',
    provider: 'holdpoint',
    modelId: 'guard',
    supportedUrls: {},
    async doGenerate({ prompt }): Promise<Answer> {
      const isProposed = prompt.some(({ role }) => role === 'assistant');
      return {
        content: isProposed
          ? []
          : [{ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }],
        finishReason: { unified: isProposed ? 'stop' : 'tool-calls', raw: undefined },
        usage: { inputTokens: nothing, outputTokens: nothing },
        warnings: [],
      };
    },
    async doStream() {
      throw new TypeError('This model does not stream.');
    },
  };
}
