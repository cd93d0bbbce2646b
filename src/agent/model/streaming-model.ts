import {
  gateway,
  type LanguageModel,
  RetryError,
  StreamProviderError,
  type TextStreamPart,
  type ToolSet,
  wrapLanguageModel,
  type AssistantModelMessage,
} from 'ai';
import { awaitUntilAborted } from '../../content/waiting.ts';

type ProviderModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** The response of a model that does not stream. */
export type ProviderResponse = Awaited<ReturnType<ProviderModel['doGenerate']>>;
/** The response of a model that streams. */
export type ProviderStream = Awaited<ReturnType<ProviderModel['doStream']>>;
/** A part of the stream. */
export type ProviderPart =
  ProviderStream['stream'] extends ReadableStream<infer PART> ? PART : never;

/**
 * A delta of the model's response, as in the AI SDK's streams. Provisional: it does not count before the step's `step-finished`, which
 * may never come.
 */
export type ModelDelta = Extract<
  TextStreamPart<ToolSet>,
  {
    type:
      | 'text-start'
      | 'text-delta'
      | 'text-end'
      | 'reasoning-start'
      | 'reasoning-delta'
      | 'reasoning-end'
      | 'tool-input-start'
      | 'tool-input-delta'
      | 'tool-input-end'
      | 'source';
  }
>;

/** Receives a model's deltas. */
export interface DeltaReceiver {
  /** Resolves when the receiver can take more, and is no promise if it can at once: the model is read no faster. */
  ready(): Promise<void> | undefined;
  push(delta: ModelDelta): void;
}

/**
 * Wraps a model so that it streams behind its non-streaming interface: `doGenerate` returns the complete response, while the receiver
 * gets the deltas.
 */
export function wrapStreaming(model: LanguageModel, receiver: DeltaReceiver): LanguageModel {
  return wrapLanguageModel({
    model: resolveModel(model),
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doStream, params: { abortSignal: signal } }) =>
        awaitUntilAborted(readAnswer({ doStream, receiver, signal }), signal),
    },
  });
}

/** The model, which may be given by its id. */
export function resolveModel(model: LanguageModel): Exclude<LanguageModel, string> {
  const provider = globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway;
  return typeof model === 'string' ? provider.languageModel(model) : model;
}

/** The name of a model as the app configured it; `provider` is `undefined` for a model that is given by its id. */
export function readModelName(model: LanguageModel): {
  provider: string | undefined;
  modelId: string;
} {
  if (typeof model === 'string') return { provider: undefined, modelId: model };
  const { provider, modelId } = model;
  return { provider, modelId };
}

/** The provider's own error behind `error`. */
export function unwrapProviderError(error: unknown): unknown {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return last instanceof BrokenOff ? last.cause : error;
}

/* Never retried, even if the cause is retryable: the receiver already has the beginning of the response. */
class BrokenOff extends Error {
  constructor(cause: unknown) {
    super('The response broke off.', { cause });
    /* Telemetry, the AI SDK's included, classifies errors by name. */
    if (cause instanceof Error) this.name = cause.name;
  }
}

interface Reading {
  doStream: () => PromiseLike<ProviderStream>;
  receiver: DeltaReceiver;
  signal: AbortSignal | undefined;
}

async function readAnswer({ doStream, receiver, signal }: Reading): Promise<ProviderResponse> {
  await receiver.ready();
  signal?.throwIfAborted();
  const streamed = await doStream();
  const reader = streamed.stream.getReader();
  const cancel = (): void => void reader.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', cancel, { once: true });
  const answer = new CollectedResponse();
  let isStreamed = false;
  try {
    for (;;) {
      const waiting = receiver.ready();
      if (waiting !== undefined) await waiting;
      if (signal?.aborted === true) throw signal.reason;
      const { done, value: part } = await reader.read();
      if (done) return answer.whole(streamed);
      if (part.type === 'error') throw toProviderError(part.error);
      answer.add(part);
      const delta = toModelDelta(part);
      if (delta === undefined) continue;
      isStreamed = true;
      receiver.push(delta);
    }
  } catch (error) {
    throw isStreamed ? new BrokenOff(error) : error;
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

function toModelDelta(part: ProviderPart): ModelDelta | undefined {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta': {
      const { type, id, delta: text, providerMetadata } = part;
      return { type, id, text, providerMetadata };
    }
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
    case 'tool-input-start':
    case 'tool-input-delta':
    case 'tool-input-end':
    case 'source':
      return part;
    default:
      return undefined;
  }
}

/** A streamed error may be the plain JSON of the provider's API. */
function toProviderError(error: unknown): Error {
  if (error instanceof Error) return error;
  const message: unknown = Reflect.get(Object(error), 'message');
  return new StreamProviderError({
    message: typeof message === 'string' ? message : 'The provider streamed an error.',
    data: error,
  });
}

type Part<TYPE extends ProviderPart['type']> = Extract<ProviderPart, { type: TYPE }>;
type Block = Extract<ProviderResponse['content'][number], { type: 'text' | 'reasoning' }>;
type BlockPart = Part<
  'text-start' | 'text-delta' | 'text-end' | 'reasoning-start' | 'reasoning-delta' | 'reasoning-end'
>;

/** Collects the parts of a stream into the response that the model would have returned without streaming. */
export class CollectedResponse {
  readonly #content: ProviderResponse['content'] = [];
  readonly #texts = new Map<string, Block>();
  readonly #reasonings = new Map<string, Block>();
  #warnings: ProviderResponse['warnings'] = [];
  #response: Part<'response-metadata'> | undefined;
  #finish: Part<'finish'> | undefined;

  add(part: ProviderPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.#addToBlock(this.#texts, 'text', part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#addToBlock(this.#reasonings, 'reasoning', part);
        break;
      case 'tool-result':
        /* A preview: the final result follows. */
        if (part.preliminary !== true) this.#content.push(part);
        break;
      case 'tool-call':
      case 'tool-approval-request':
      case 'file':
      case 'reasoning-file':
      case 'source':
        this.#content.push(part);
        break;
      case 'custom':
        /* Anthropic's package marks the start of its stream with this part, which a complete response does not have. */
        if (part.kind !== 'anthropic.message_start') this.#content.push(part);
        break;
      case 'stream-start':
        this.#warnings = part.warnings;
        break;
      case 'response-metadata':
        this.#response = part;
        break;
      case 'finish':
        this.#finish = part;
        break;
      default:
    }
  }

  /** Returns the complete response. Throws if the stream ended without a finish part: the connection was lost. */
  whole({ request, response }: ProviderStream): ProviderResponse {
    const finish = this.#finish;
    if (finish === undefined || finish.finishReason.unified === 'interrupted') {
      throw new Error("The model's stream ended without a finish part.");
    }
    const { id, timestamp, modelId } = this.#response ?? {};
    return {
      content: this.#content,
      finishReason: finish.finishReason,
      usage: finish.usage,
      providerMetadata: finish.providerMetadata,
      request,
      response: { ...response, id, timestamp, modelId },
      warnings: this.#warnings,
    };
  }

  /** Adds metadata to a block. A provider may send it at the block's start, in the middle, or at its end; the last one counts. */
  #addToBlock(open: Map<string, Block>, type: Block['type'], part: BlockPart): void {
    const block = open.get(part.id) ?? this.#openBlock(open, type, part.id);
    if ('delta' in part) block.text += part.delta;
    if (part.providerMetadata !== undefined) block.providerMetadata = part.providerMetadata;
    if (part.type === 'text-end' && block.type === 'text') block.citations = part.citations;
    if (part.type === 'text-end' || part.type === 'reasoning-end') open.delete(part.id);
  }

  #openBlock(open: Map<string, Block>, type: Block['type'], id: string): Block {
    const block: Block = { type, text: '' };
    this.#content.push(block);
    open.set(id, block);
    return block;
  }
}

/** Keeps the text that a model streams, for a step that a person stops. */
export class PartialText implements DeltaReceiver {
  readonly #receiver: DeltaReceiver;
  readonly #texts = new Map<string, string>();

  constructor(receiver: DeltaReceiver) {
    this.#receiver = receiver;
  }

  ready(): Promise<void> | undefined {
    return this.#receiver.ready();
  }

  push(delta: ModelDelta): void {
    if (delta.type === 'text-delta') {
      this.#texts.set(delta.id, (this.#texts.get(delta.id) ?? '') + delta.text);
    }
    this.#receiver.push(delta);
  }

  /**
   * The text as a message; `undefined` without text. Reasoning and calls are left out: providers reject reasoning without its end, and a
   * call that was cut off is incomplete.
   */
  get message(): AssistantModelMessage | undefined {
    const texts = [...this.#texts.values()].filter((text) => text.trim() !== '');
    if (texts.length === 0) return undefined;
    const content = texts.map((text) => ({ type: 'text' as const, text: text.toWellFormed() }));
    return { role: 'assistant', content };
  }
}
