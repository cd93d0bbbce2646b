import type { JSONValue, LanguageModel } from 'ai';

/** A tool call of a scripted model. */
interface ScriptedCall {
  /** The model's id of the call. Models choose it, and may repeat it in another thread. */
  id: string;
  /** The name of the tool. */
  name: string;
  /** JSON, or the raw text that the model writes. */
  input: object | string;
  /** For a call that the provider runs: the id of the approval that the provider requests, or the output of a finished call. */
  atProvider?: { approvalId: string } | { output: JSONValue };
}

/** The response of a scripted model to one request. */
export interface ScriptedStep {
  /** Reasoning at the start of the response. */
  reasoning?: string;
  /** The text of the response. */
  text?: string;
  /** The tool calls, in the model's order. */
  calls?: ScriptedCall[];
  /** The finish reason. Default: `tool-calls` if there are calls that the provider doesn't run, otherwise `stop`. */
  finish?: 'stop' | 'tool-calls' | 'length' | 'content-filter';
  /** Makes the request fail with this message. */
  fail?: string;
}

type Model = Extract<LanguageModel, { specificationVersion: 'v4' }>;
type Generated = Awaited<ReturnType<Model['doGenerate']>>;
type Streamed = Awaited<ReturnType<Model['doStream']>>;
type StreamPart = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never;
type Prompt = Parameters<Model['doGenerate']>[0]['prompt'];

/** A scripted model and the requests that it received. */
export interface ScriptedModel {
  /** A language model of the AI SDK's current specification, for `createAgent`, `generateText` and `wrapLanguageModel`. */
  model: Model;
  /** The prompts that it received, oldest first. */
  prompts: Prompt[];
  /** The number of requests that it received. */
  readonly requests: number;
}

const usage: Generated['usage'] = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
};

/**
 * A model for tests that responds with the steps of a script, one per request, with or without streaming (word by word). After the last
 * step, requests fail; with `repeat` they get the last step again. The steps are shared by all threads, so for several threads, servers
 * and demos, pass a function that makes each step from the messages of its request, oldest first; it may be async.
 *
 * @example
 * const { model } = scriptedModel([
 *   { calls: [{ id: 'c1', name: 'bookFlight', input: { city: 'Paris' } }] },
 *   { text: 'Booked.' },
 * ]);
 * const { model: echo } = scriptedModel((messages) => ({ text: `You wrote ${messages.length} messages.` }));
 */
export function scriptedModel(
  script:
    | readonly ScriptedStep[]
    | ((messages: Prompt) => ScriptedStep | PromiseLike<ScriptedStep>),
  { repeat = false } = {},
): ScriptedModel {
  const prompts: Prompt[] = [];
  const nextStep = async (prompt: Prompt): Promise<ScriptedStep> => {
    prompts.push(prompt);
    const step =
      typeof script === 'function'
        ? await script(prompt)
        : (script[prompts.length - 1] ?? (repeat ? script.at(-1) : undefined));
    if (step === undefined)
      throw new Error(
        typeof script === 'function'
          ? 'The function of scriptedModel returned no step.'
          : `The script has no step ${prompts.length}: add one, or pass { repeat: true }.`,
      );
    if (step.fail !== undefined) throw new Error(step.fail);
    return step;
  };
  const model: Model = {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: { '*/*': [/.*/] },
    async doGenerate({ prompt }) {
      return generateStep(await nextStep(prompt));
    },
    async doStream({ prompt }) {
      return { stream: streamLazily(streamStepParts(await nextStep(prompt))) };
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

function generateStep({ reasoning, text, calls = [], finish }: ScriptedStep): Generated {
  const hasOwnCalls = calls.some(({ atProvider }) => atProvider === undefined);
  return {
    content: [
      ...(reasoning === undefined ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
      ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
      ...calls.flatMap(makeCallParts),
    ],
    finishReason: { unified: finish ?? (hasOwnCalls ? 'tool-calls' : 'stop'), raw: undefined },
    usage,
    warnings: [],
  };
}

function makeCallParts({
  id: toolCallId,
  name: toolName,
  input,
  atProvider,
}: ScriptedCall): Generated['content'] {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const call = { type: 'tool-call', toolCallId, toolName, input: text } as const;
  if (atProvider === undefined) return [call];
  const providerCall = { ...call, providerExecuted: true, dynamic: true };
  if ('approvalId' in atProvider) {
    const { approvalId } = atProvider;
    return [providerCall, { type: 'tool-approval-request', approvalId, toolCallId }];
  }
  const result = atProvider.output ?? {};
  return [providerCall, { type: 'tool-result', toolCallId, toolName, result, dynamic: true }];
}

function* streamStepParts(step: ScriptedStep): Generator<StreamPart, void, void> {
  const { content, finishReason, warnings } = generateStep(step);
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

/** A stream that creates each part when it is read. */
function streamLazily(parts: Iterator<StreamPart, void>): Streamed['stream'] {
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
