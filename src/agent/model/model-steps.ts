import type { Instructions, ToolSet } from 'ai';
import { generateStep, type ModelStepInput, type StepSource } from './model-step.ts';
import { prepare } from './prepare-step.ts';
import { type PrepareStep, recordSettings } from './step-settings.ts';

/** What an agent's model steps have in common. */
interface FixedSettings extends Pick<ModelStepInput, 'model' | 'settings' | 'output'> {
  instructions: Instructions | undefined;
  prepareStep: PrepareStep<ToolSet, unknown> | undefined;
  toolsContext: Readonly<Record<string, unknown>>;
}

/** The steps that a language model makes. */
export function makeModelSteps({
  prepareStep: ofAgent,
  toolsContext,
  ...fixed
}: FixedSettings): StepSource {
  return async ({ state, own, onPrepared, ...request }) => {
    const { settings, prepareStep = ofAgent } = own ?? {};
    const context = { toolsContext, runtimeContext: request.runtimeContext };
    const { prepared, sent } =
      prepareStep === undefined ? {} : await prepare({ ...fixed, ...context, prepareStep }, state);
    if (prepared || settings) {
      onPrepared({ ...sent, ...recordSettings(prepared ?? {}, settings ?? {}) });
    }
    return generateStep({
      ...fixed,
      ...request,
      settings: settings === undefined ? fixed.settings : { ...fixed.settings, ...settings },
      place: { threadId: state.threadId, step: state.head.steps },
      messages: state.messages.slice(),
      prepared,
    });
  };
}
