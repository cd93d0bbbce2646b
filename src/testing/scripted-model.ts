import type { LanguageModel } from 'ai';

/** A tool call of a scripted model. `input` is JSON, or the raw text a model wrote. */
export interface ScriptedCall {
  id: string;
  name: string;
  input: object | string;
}

/** What a scripted model answers to one request. */
export interface ScriptedStep {
  /** What the model thinks before all else. */
  reasoning?: string;
  text?: string;
  calls?: ScriptedCall[];
  /** Default: `tool-calls` where there are calls, else `stop`. */
  finish?: 'stop' | 'tool-calls' | 'length' | 'content-filter';
  /** The request fails instead, with this message. */
  fail?: string;
}

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type Generated = Awaited<ReturnType<Model['doGenerate']>>;
type Prompt = Parameters<Model['doGenerate']>[0]['prompt'];

/** A model that plays a script, and what it was asked. */
export interface ScriptedModel {
  model: LanguageModel;
  /** The prompts it was given, oldest first. */
  prompts: Prompt[];
  /** How many requests it has got. */
  readonly requests: number;
}

const usage: Generated['usage'] = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/**
 * A model for tests that answers with the steps of a script, one a request. A request past the end fails, or gets the
 * last step again with `repeat`.
 *
 * @example
 * const { model } = scriptedModel([
 *   { calls: [{ id: 'c1', name: 'bookFlight', input: { city: 'Paris' } }] },
 *   { text: 'Booked.' },
 * ]);
 */
export function scriptedModel(
  script: readonly ScriptedStep[],
  { repeat = false } = {},
): ScriptedModel {
  const prompts: Prompt[] = [];
  const model: Model = {
    specificationVersion: 'v4',
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
    async doStream() {
      throw new Error('A scripted model does not stream.');
    },
  };
  return {
    model,
    prompts,
    get requests() {
      return prompts.length;
    },
  };
}

function generated({ reasoning, text, calls = [], finish }: ScriptedStep): Generated {
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
