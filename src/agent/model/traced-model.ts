import { type LanguageModel, wrapLanguageModel } from 'ai';
import { type ModelAnswer, modelNameOf } from '../../thread/tracing/trace-message.ts';
import { traceModel, tracesModel } from '../../thread/tracing/trace-operations.ts';
import type { ProviderResponse } from './collected-response.ts';
import { modelOf } from './streaming-model.ts';

/** The step and thread that a model request is for. */
export interface ModelPlace {
  threadId: string;
  step: number;
}

/** The model with its requests traced; without a subscriber, the model itself. */
export function tracedModel(model: LanguageModel, place: ModelPlace): LanguageModel {
  if (!tracesModel(place.threadId)) return model;
  return wrapLanguageModel({
    model: modelOf(model),
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doGenerate, model: asked }) =>
        traceModel({ ...place, ...modelNameOf(asked) }, doGenerate, answerOf),
    },
  });
}

function answerOf({ response, finishReason, usage }: ProviderResponse): ModelAnswer {
  return {
    id: response?.id,
    modelId: response?.modelId,
    finishReason: finishReason.unified,
    usage: { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total },
  };
}
