import { isAppMessage } from './app-messages.ts';
import { listAssistantParts } from './proposed-calls.ts';
import type { StepMetadata } from './step-metadata.ts';
import type { ThreadEventOf } from './thread-event.ts';
import type { ThreadState } from './thread-state.ts';

/**
 * A step of the current turn, derived from the log: the fields of the AI SDK's `StepResult` that the log has. The tokens are those of the
 * model request; `toolResults` are the outputs of the calls that have succeeded.
 */
export interface FinishedStep extends StepMetadata {
  /** The number of the step in its turn, from 0. */
  stepNumber: number;
  text: string;
  toolCalls: readonly { toolCallId: string; toolName: string; input: unknown }[];
  toolResults: readonly {
    toolCallId: string;
    toolName: string;
    input: unknown;
    output: unknown;
  }[];
  finishReason: string;
  usage: NonNullable<ThreadEventOf<'step-finished'>['usage']>;
}

/** The steps since the last message of the app: the same in every process, and across approvals. */
export function turnSteps(state: Readonly<ThreadState>): FinishedStep[] {
  const { events, pastCalls, head } = state;
  const calls = [...pastCalls, ...head.calls];
  return events
    .slice(Math.max(0, turnBegin(events)))
    .filter((event) => event.type === 'step-finished')
    .map((event, stepNumber): FinishedStep => {
      const parts = listAssistantParts(event.message);
      return {
        ...event.metadata,
        stepNumber,
        text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
        toolCalls: parts.filter((part) => part.type === 'tool-call'),
        toolResults: calls.flatMap(({ step, toolCallId, toolName, input, outcome }) =>
          step === event.step && outcome?.status === 'succeeded'
            ? [{ toolCallId, toolName, input, output: outcome.output }]
            : [],
        ),
        finishReason: event.finishReason,
        usage: event.usage ?? {},
      };
    });
}

/** The index of the last message of the app that was not retracted. */
function turnBegin(events: ThreadState['events']): number {
  let retracted = 0;
  return events.findLastIndex((event) => {
    if (event.type === 'message-retracted') retracted += 1;
    return isAppMessage(event) && retracted-- <= 0;
  });
}
