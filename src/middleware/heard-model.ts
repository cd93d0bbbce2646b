import { type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import {
  CollectedAnswer,
  type ProviderAnswer,
  type ProviderPart,
  type ProviderStream,
} from '../agent/collected-answer.ts';
import { isForced, type ProviderCall, type ProviderModel } from './provider-call.ts';

/** The model that a middleware was given, as the run asks it: it always streams, and each of its answers is kept as it was. */
export class HeardModel {
  readonly model: ProviderModel;
  /** The latest whole answer. */
  answer: ProviderAnswer | undefined;

  constructor(
    model: ProviderModel,
    {
      params: { responseFormat, toolChoice },
      isStreamed,
    }: { params: Pick<ProviderCall, 'responseFormat' | 'toolChoice'>; isStreamed: boolean },
  ) {
    const wrapStream: NonNullable<LanguageModelMiddleware['wrapStream']> = isStreamed
      ? async ({ doStream }) => this.#hear(await doStream())
      : async ({ doGenerate }) => this.#speak(await doGenerate());
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

  #hear(streamed: ProviderStream): ProviderStream {
    const reader = streamed.stream.getReader();
    const answer = new CollectedAnswer();
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

  #speak(answer: ProviderAnswer): ProviderStream {
    this.answer = answer;
    const { request, response } = answer;
    return { stream: streamOf(partsOf(answer)), request, response };
  }
}

/** An answer as the parts of a stream, nothing lost. */
function* partsOf(answer: ProviderAnswer): Generator<ProviderPart, void, void> {
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
