import { wrapLanguageModel } from 'ai';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { type HeldModel, modelOf } from './held-world.ts';

type Params = Parameters<HeldModel['doGenerate']>[0];

/** A model that plays `script`, and what it was called with. */
export function recordedCalls(script: ScriptedStep[]): { inner: HeldModel; heard: Params[] } {
  const heard: Params[] = [];
  const inner = wrapLanguageModel({
    model: modelOf(scriptedModel(script)),
    middleware: {
      specificationVersion: 'v4',
      async transformParams({ params }) {
        heard.push(params);
        return params;
      },
    },
  });
  return { inner, heard };
}
