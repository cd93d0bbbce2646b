import { MockLanguageModelV4 } from 'ai/test';

type Generate = MockLanguageModelV4['doGenerate'];
/** A prompt as a provider gets it. */
export type Prompt = Parameters<Generate>[0]['prompt'];
/** What a model answers with. */
export type Generated = Awaited<ReturnType<Generate>>;

/** A call that the model makes: the tool, and the city it is about. */
export type PlannedCall = readonly [toolName: string, city: string];

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/**
 * A model whose answer depends on the prompt alone, so that a request repeated after a crash gets the same: to the nth
 * user message it makes the nth calls, and when it has their results it is done.
 */
export function statelessModel(
  plan: readonly (readonly PlannedCall[])[],
  reach: (prompt: Prompt, answer: () => Generated) => Promise<Generated>,
): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    provider: 'stateless',
    modelId: 'stateless',
    supportedUrls: { '*/*': [/.*/] },
    doGenerate: async ({ prompt }) => reach(prompt, () => answerTo(prompt, plan)),
  });
}

function answerTo(prompt: Prompt, plan: readonly (readonly PlannedCall[])[]): Generated {
  const turn = prompt.filter(({ role }) => role === 'user').length;
  const calls = prompt.at(-1)?.role === 'user' ? (plan[turn - 1] ?? []) : [];
  if (calls.length === 0) return answer('stop', [{ type: 'text', text: 'Done.' }]);
  return answer(
    'tool-calls',
    calls.flatMap((call, index) => partsOf(call, `c${turn}-${index}`)),
  );
}

/** A call; one whose name begins with `mcp.` is the provider's own, which asks whether it may run it. */
function partsOf([toolName, city]: PlannedCall, toolCallId: string): Generated['content'] {
  const input = JSON.stringify({ city });
  const call = { type: 'tool-call', toolCallId, toolName, input } as const;
  if (!toolName.startsWith('mcp.')) return [call];
  return [
    { ...call, providerExecuted: true, dynamic: true },
    { type: 'tool-approval-request', toolCallId, approvalId: `ask-${toolCallId}` },
  ];
}

function answer(unified: 'stop' | 'tool-calls', content: Generated['content']): Generated {
  return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
}
