import type { LanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { ModelKit, ScriptedStep } from './script.ts';

type Generate = MockLanguageModelV4['doGenerate'];
type Prompt = Parameters<Generate>[0]['prompt'];

/** A model in memory that plays a script, and keeps the prompts it was given. */
export interface ScriptedModel {
  model: LanguageModel;
  prompts: Prompt[];
  readonly requests: number;
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/** Plays `script`, one step a request; the last step again when the script is over and `repeat` is set. */
export function scriptedModel(script: ScriptedStep[], { repeat = false } = {}): ScriptedModel {
  const prompts: Prompt[] = [];
  const model = new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: { '*/*': [/.*/] },
    async doGenerate({ prompt }) {
      prompts.push(prompt);
      const step = script[prompts.length - 1] ?? (repeat ? script.at(-1) : undefined);
      if (step === undefined) throw new Error(`The script has no step ${prompts.length}.`);
      if (step.fail !== undefined) throw new Error(step.fail);
      return generated(step);
    },
  });
  return {
    model,
    prompts,
    get requests() {
      return prompts.length;
    },
  };
}

function generated({
  reasoning,
  text,
  calls = [],
  finish,
}: ScriptedStep): Awaited<ReturnType<Generate>> {
  return {
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...calls.map(({ id, name, input }) => ({
        type: 'tool-call' as const,
        toolCallId: id,
        toolName: name,
        input: typeof input === 'string' ? input : JSON.stringify(input),
      })),
    ],
    finishReason: { unified: finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'), raw: undefined },
    usage,
    warnings: [],
  };
}

/** The scripted model as a kit. */
export const inMemoryKit: ModelKit = {
  name: 'scripted model',
  async play(script) {
    const played = scriptedModel(script);
    return {
      model: played.model,
      get requests() {
        return played.requests;
      },
      async [Symbol.asyncDispose]() {},
    };
  },
};
