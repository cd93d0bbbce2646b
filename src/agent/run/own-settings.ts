import { callGuarded } from '../../content/app-errors.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { turnSteps } from '../../thread/finished-steps.ts';
import { pickModelSettings } from '../model/model-step.ts';
import type { AgentContext } from './agent-context.ts';
import type { RunOverrides } from './run-settings.ts';
import { checkTimeout } from './time-limits.ts';

/** The agent's context with the settings of one run. */
export function withRunSettings(
  context: AgentContext,
  options: RunOverrides<unknown>,
): AgentContext {
  const { timeout, prepareStep, stopWhen = context.stopWhen } = options;
  const { onStepEnd = context.onStepEnd } = options;
  const settings = pickModelSettings(options);
  if (!context.hasModel && (prepareStep || Object.keys(settings).length > 0)) {
    throw new TypeError(
      'A custom agent has no model, so its runs take no model settings and no prepareStep.',
    );
  }
  const limits = timeout === undefined ? context.limits : checkTimeout(timeout, context.tools);
  return { ...context, limits, stopWhen, onStepEnd, ownSteps: { settings, prepareStep } };
}

/** Calls `onStepEnd` if the events, which have just been appended, complete a step. */
export function notifyStepEnd(
  onStepEnd: AgentContext['onStepEnd'],
  state: Readonly<ThreadState>,
  events: readonly ThreadEvent[],
): void {
  const isEnd = events.some(({ type }) => type === 'step-finished' || type === 'call-ended');
  if (!isEnd || state.head.calls.length > 0) return;
  const step = turnSteps(state).at(-1);
  if (step) void callGuarded(onStepEnd, { ...step, threadId: state.threadId });
}
