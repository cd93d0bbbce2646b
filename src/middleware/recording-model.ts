import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import {
  carriesApproval,
  CollectedResponse,
  type ProviderPart,
  type ProviderResponse,
  type ProviderStream,
} from '../agent.ts';
import type { ModelCallOptions, ProviderModel } from './model-call.ts';

/** The model call whose run makes the requests. */
interface RecordingOptions {
  params: Pick<ModelCallOptions, 'responseFormat' | 'toolChoice'>;
  isStreamed: boolean;
  /** Checks whether the caller has received any part of the run. */
  hasParts: () => boolean;
}

/** The error of a model request, and the error that the run got in its place. */
interface FailedRequest {
  error: Error;
  thrown: unknown;
}

/** The wrapped model as the run uses it: it always streams, and it records each response unchanged. */
export class RecordingModel {
  readonly model: ProviderModel;
  /** The latest complete response. */
  response: ProviderResponse | undefined;
  #failed: FailedRequest | undefined;

  constructor(
    model: ProviderModel,
    { params: { responseFormat, toolChoice }, isStreamed, hasParts }: RecordingOptions,
  ) {
    const request: NonNullable<LanguageModelMiddleware['wrapStream']> = isStreamed
      ? async ({ doStream }) => this.#recordStream(await doStream())
      : async ({ doGenerate }) => this.#streamResponse(await doGenerate());
    const wrapStream: typeof request = async (call) => {
      try {
        return await request(call);
      } catch (error) {
        /* A request with an approval may have reached the provider: it is not repeated. */
        throw hasParts() || carriesApproval(call.params.prompt)
          ? error
          : this.#leaveToCaller(error);
      }
    };
    this.model = wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: 'v4',
        transformParams: async ({ params }) => ({
          ...params,
          responseFormat,
          /* Only for the first step: a tool call forced at every step would repeat until `maxSteps`. */
          ...(isForced(toolChoice) && this.response === undefined && { toolChoice }),
        }),
        wrapStream,
      },
    });
  }

  /**
   * Converts an error of the run to the one that the caller gets. If the caller has no part of the run yet, the error of a model request
   * stays retryable, so that the AI SDK retries up to the call's `maxRetries`; otherwise the run has already retried.
   */
  failureOf(error: unknown): unknown {
    const failed = this.#failed;
    return failed !== undefined && failed.thrown === error ? failed.error : markNotRetryable(error);
  }

  /* The run must not retry requests that the caller retries. */
  #leaveToCaller(error: unknown): unknown {
    if (!isRetryable(error)) return error;
    const thrown: unknown = Object.create(error, { isRetryable: { value: false } });
    this.#failed = { thrown, error };
    return thrown;
  }

  #recordStream(streamed: ProviderStream): ProviderStream {
    const reader = streamed.stream.getReader();
    const response = new CollectedResponse();
    const stream = new ReadableStream<ProviderPart>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          response.add(value);
          if (value.type === 'finish') this.response = response.whole(streamed);
          controller.enqueue(value);
        },
        cancel: async (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    return { ...streamed, stream };
  }

  #streamResponse(whole: ProviderResponse): ProviderStream {
    this.response = whole;
    const { request, response } = whole;
    return { stream: streamParts(streamResponseParts(whole)), request, response };
  }
}

/** Checks whether the model must make a tool call. */
function isForced(choice: ModelCallOptions['toolChoice']): boolean {
  return choice?.type === 'required' || choice?.type === 'tool';
}

function isRetryable(error: unknown): error is Error {
  return error instanceof Error && Reflect.get(error, 'isRetryable') === true;
}

/**
 * Marks a provider's error so that the AI SDK does not retry the call. An error that can't be changed becomes the prototype of a marked
 * one.
 */
function markNotRetryable(error: unknown): unknown {
  if (!isRetryable(error)) return error;
  const mark = { value: false, enumerable: true };
  if (Reflect.defineProperty(error, 'isRetryable', mark)) return error;
  const marked: unknown = Object.create(error, { isRetryable: mark });
  return marked;
}

/** Converts a response to stream parts without loss. */
function* streamResponseParts(whole: ProviderResponse): Generator<ProviderPart, void, void> {
  const { content, warnings, response, finishReason, usage, providerMetadata } = whole;
  yield { type: 'stream-start', warnings };
  yield { type: 'response-metadata', ...response };
  for (const [index, part] of content.entries()) {
    if (part.type !== 'text' && part.type !== 'reasoning') {
      yield part;
      continue;
    }
    const { type, text, ...more } = part;
    const id = String(index);
    yield { type: `${type}-start`, id, providerMetadata: part.providerMetadata };
    yield { type: `${type}-delta`, id, delta: text };
    yield { type: `${type}-end`, id, ...more };
  }
  yield { type: 'finish', finishReason, usage, providerMetadata };
}

function streamParts(parts: Iterator<ProviderPart, void>): ProviderStream['stream'] {
  return new ReadableStream({
    pull(controller) {
      const { done, value } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
