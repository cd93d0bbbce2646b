import type { JSONValue, LanguageModel } from 'ai';

/** A tool call of a scripted model. `input` is JSON, or the raw text a model wrote. */
export interface ScriptedCall {
  id: string;
  name: string;
  input: object | string;
  /** The provider runs the call: it asks by this id whether it may, or has run it, with this output. */
  atProvider?: { approvalId: string } | { output: JSONValue };
}

/** What a scripted model answers to one request. */
export interface ScriptedStep {
  /** What the model thinks before all else. */
  reasoning?: string;
  text?: string;
  calls?: ScriptedCall[];
  /** Default: `tool-calls` where there are calls that are ours to run, else `stop`. */
  finish?: 'stop' | 'tool-calls' | 'length' | 'content-filter';
  /** The request fails instead, with this message. */
  fail?: string;
}

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type Generated = Awaited<ReturnType<Model['doGenerate']>>;
type Streamed = Awaited<ReturnType<Model['doStream']>>;
type Content = Generated['content'][number];
type StreamPart = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never;
type Prompt = Parameters<Model['doGenerate']>[0]['prompt'];

/** A model that plays a script, and what it was asked. */
export interface ScriptedModel {
  /** A language model of the AI SDK's current specification, for `createAgent`, `generateText` and `wrapLanguageModel`. */
  model: Model;
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
 * A model for tests that answers with the steps of a script, one a request, streamed (a word at a time) or not. A request past the end fails, or gets the
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
  const nextStep = (prompt: Prompt): ScriptedStep => {
    prompts.push(prompt);
    const step = script[prompts.length - 1] ?? (repeat ? script.at(-1) : undefined);
    if (step === undefined) throw new Error(`The script has no step ${prompts.length}.`);
    if (step.fail !== undefined) throw new Error(step.fail);
    return step;
  };
  const model: Model = {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: { '*/*': [/.*/] },
    async doGenerate({ prompt }) {
      return generated(nextStep(prompt));
    },
    async doStream({ prompt }) {
      return { stream: streamOf(partsOf(nextStep(prompt))) };
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
  const isForUs = calls.some(({ atProvider }) => atProvider === undefined);
  return {
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...calls.flatMap(partsOfCall),
    ],
    finishReason: { unified: finish ?? (isForUs ? 'tool-calls' : 'stop'), raw: undefined },
    usage,
    warnings: [],
  };
}

function partsOfCall({
  id: toolCallId,
  name: toolName,
  input,
  atProvider,
}: ScriptedCall): Content[] {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const call = { type: 'tool-call', toolCallId, toolName, input: text } as const;
  if (atProvider === undefined) return [call];
  const foreign = { ...call, providerExecuted: true, dynamic: true };
  if ('approvalId' in atProvider) {
    const { approvalId } = atProvider;
    return [foreign, { type: 'tool-approval-request', approvalId, toolCallId }];
  }
  const result = atProvider.output ?? {};
  return [foreign, { type: 'tool-result', toolCallId, toolName, result, dynamic: true }];
}

function* partsOf(step: ScriptedStep): Generator<StreamPart, void, void> {
  const { content, finishReason, warnings } = generated(step);
  yield { type: 'stream-start', warnings };
  for (const [index, part] of content.entries()) {
    if (part.type === 'text' || part.type === 'reasoning') {
      const { type } = part;
      const id = String(index);
      yield { type: `${type}-start`, id };
      for (const delta of part.text.split(/(?<=\s)/)) yield { type: `${type}-delta`, id, delta };
      yield { type: `${type}-end`, id };
      continue;
    }
    if (part.type === 'tool-call' && part.providerExecuted !== true) {
      yield { type: 'tool-input-start', id: part.toolCallId, toolName: part.toolName };
      yield { type: 'tool-input-delta', id: part.toolCallId, delta: part.input };
      yield { type: 'tool-input-end', id: part.toolCallId };
    }
    yield part;
  }
  yield { type: 'finish', finishReason, usage };
}

/** A stream that makes a part when it is asked for one. */
function streamOf(parts: Iterator<StreamPart, void>): Streamed['stream'] {
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = parts.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}
