import type { ToolSet } from 'ai';
import { inertTools } from './inert-tools.ts';

/** Settings that act on steps and tools, which run behind the model, with the remedies. See ADR 78. */
const remedies = {
  toolApproval: 'Move it from the call to holdPoint({ toolApproval }).',
  stopWhen: 'Move it from the call to holdPoint({ stopWhen }).',
  prepareStep: 'Move it from the call to holdPoint({ prepareStep }).',
  onStepEnd: 'Move it from the call to holdPoint({ onStepEnd }).',
  onStepFinish: 'Move it from the call to holdPoint({ onStepEnd }).',
  repairToolCall: 'Move it from the call to holdPoint({ repairToolCall }).',
  toolCallConcurrency: 'Move it from the call to holdPoint({ toolCallConcurrency }).',
  experimental_refineToolInput: 'Transform the input in the schema of the tool.',
} as const;

/** The type of such a setting: the compiler's error quotes it. */
type Remedy<NAME extends keyof typeof remedies> = (typeof remedies)[NAME] | undefined;

/** The settings of a call that are checked. */
interface CheckedCall {
  /** The tools that the model may use in the call. */
  tools?: ToolSet | undefined;
  /** An option of `holdPoint`. In the call it decides nothing, and the AI SDK may ask about the same call a second time. */
  toolApproval?: Remedy<'toolApproval'>;
  /** An option of `holdPoint`. In the call it is asked after all steps. */
  stopWhen?: Remedy<'stopWhen'>;
  /** An option of `holdPoint`. In the call it is called once, before all steps. */
  prepareStep?: Remedy<'prepareStep'>;
  /** An option of `holdPoint`. In the call it is called once, after all steps. */
  onStepEnd?: Remedy<'onStepEnd'>;
  /** The AI SDK's deprecated name of `onStepEnd`. */
  onStepFinish?: Remedy<'onStepFinish'>;
  /** An option of `holdPoint`. In the call it is never called. */
  repairToolCall?: Remedy<'repairToolCall'>;
  /** An option of `holdPoint`. In the call it has no effect. */
  toolCallConcurrency?: Remedy<'toolCallConcurrency'>;
  /** Not for a held call: the result, and its approval requests, would show another input than the one that runs. */
  experimental_refineToolInput?: Remedy<'experimental_refineToolInput'>;
}

/**
 * Checks the settings of a call whose model is wrapped with `holdPoint`: those that act on steps and tools are type errors here, and a
 * `TypeError` in JavaScript. They belong to `holdPoint`, and a middleware can't see that they were left in the call. The `tools` become
 * those of `inertTools`. For `generateText`, `streamText` and `ToolLoopAgent`.
 *
 * @example
 * const result = await generateText(heldCall({ model: held, tools, messages, providerOptions: { holdpoint: { threadId } } }));
 */
export function heldCall<CALL extends object>(call: CALL & CheckedCall): CALL {
  for (const [name, remedy] of Object.entries(remedies)) {
    if (Reflect.get(call, name) === undefined) continue;
    throw new TypeError(
      `The call has ${name}, but its steps and tools run behind the model. ${remedy}`,
    );
  }
  return call.tools === undefined ? call : { ...call, tools: inertTools(call.tools) };
}
