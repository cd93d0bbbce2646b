import {
  gateway,
  type LanguageModel,
  RetryError,
  StreamProviderError,
  type TextStreamPart,
  type ToolSet,
  wrapLanguageModel,
} from 'ai';
import { awaitUntilAborted } from '../../content/until-aborted.ts';
import {
  CollectedResponse,
  type ProviderResponse,
  type ProviderPart,
  type ProviderStream,
} from './collected-response.ts';

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
  /** Resolves when the receiver can take more: the model is read no faster. */
  ready(): Promise<void>;
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

/** The provider's own error behind `error`. */
export function unwrapProviderError(error: unknown): unknown {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return last instanceof BrokenOff ? last.cause : error;
}

/* Never retried, whatever the cause says: the receiver already has the beginning of the response. */
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
      await receiver.ready();
      signal?.throwIfAborted();
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
