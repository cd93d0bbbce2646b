import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import {
  CollectedResponse,
  type ProviderResponse,
  type ProviderPart,
  type ProviderStream,
} from '../agent/model/collected-response.ts';
import { carriesApproval } from '../agent/model/provider-requests.ts';
import { isForced, type ProviderCall, type ProviderModel } from './provider-call.ts';
import { unretried } from './unretried.ts';

/** What a model is heard with. */
interface Hearing {
  params: Pick<ProviderCall, 'responseFormat' | 'toolChoice'>;
  isStreamed: boolean;
  /** Whether the caller has had nothing of the run yet. */
  isSilent: () => boolean;
}

/** A request that failed, and what the run was given for its error. */
interface Unanswered {
  error: Error;
  kept: unknown;
}

/** The model that a middleware was given, as the run asks it: it always streams, and each of its answers is kept as it was. */
export class HeardModel {
  readonly model: ProviderModel;
  /** The latest whole answer. */
  answer: ProviderResponse | undefined;
  #unanswered: Unanswered | undefined;

  constructor(
    model: ProviderModel,
    { params: { responseFormat, toolChoice }, isStreamed, isSilent }: Hearing,
  ) {
    const request: NonNullable<LanguageModelMiddleware['wrapStream']> = isStreamed
      ? async ({ doStream }) => this.#hear(await doStream())
      : async ({ doGenerate }) => this.#speak(await doGenerate());
    const wrapStream: typeof request = async (call) => {
      try {
        return await request(call);
      } catch (error) {
        /* A yes that has reached the provider is not said again. */
        throw isSilent() && !carriesApproval(call.params.prompt) ? this.#keep(error) : error;
      }
    };
    this.model = wrapLanguageModel({
      model,
      middleware: {
        specificationVersion: 'v4',
        transformParams: async ({ params }) => ({
          ...params,
          responseFormat,
          /* A call is forced once, as in the one step that the caller sees: at every step, it would be made until the last. */
          ...(isForced(toolChoice) && this.answer === undefined && { toolChoice }),
        }),
        wrapStream,
      },
    });
  }

  /**
   * An error of the run, as the caller gets it. While they have had nothing of the run, a request that failed is theirs to make again,
   * as often as the call's `maxRetries` says; after that it was the run's.
   */
  failureOf(error: unknown): unknown {
    const unanswered = this.#unanswered;
    if (unanswered !== undefined && unanswered.kept === error) return unanswered.error;
    return unretried(error);
  }

  /* Not to be tried again here, and else as it was. */
  #keep(error: unknown): unknown {
    if (!(error instanceof Error) || Reflect.get(error, 'isRetryable') !== true) return error;
    const kept: unknown = Object.create(error, { isRetryable: { value: false } });
    this.#unanswered = { kept, error };
    return kept;
  }

  #hear(streamed: ProviderStream): ProviderStream {
    const reader = streamed.stream.getReader();
    const answer = new CollectedResponse();
    const stream = new ReadableStream<ProviderPart>(
      {
        pull: async (controller) => {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          answer.add(value);
          if (value.type === 'finish') this.answer = answer.whole(streamed);
          controller.enqueue(value);
        },
        cancel: async (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    return { ...streamed, stream };
  }

  #speak(answer: ProviderResponse): ProviderStream {
    this.answer = answer;
    const { request, response } = answer;
    return { stream: streamOf(partsOf(answer)), request, response };
  }
}

/** An answer as the parts of a stream, nothing lost. */
function* partsOf(answer: ProviderResponse): Generator<ProviderPart, void, void> {
  const { content, warnings, response, finishReason, usage, providerMetadata } = answer;
  yield { type: 'stream-start', warnings };
  yield { type: 'response-metadata', ...response };
  for (const [index, part] of content.entries()) {
    if (part.type !== 'text' && part.type !== 'reasoning') {
      yield part;
      continue;
    }
    const { type, text, ...said } = part;
    const id = String(index);
    yield { type: `${type}-start`, id, providerMetadata: part.providerMetadata };
    yield { type: `${type}-delta`, id, delta: text };
    yield { type: `${type}-end`, id, ...said };
  }
  yield { type: 'finish', finishReason, usage, providerMetadata };
}

function streamOf(parts: Iterator<ProviderPart, void>): ProviderStream['stream'] {
  return new ReadableStream({
    pull(controller) {
      const { done, value } = parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
