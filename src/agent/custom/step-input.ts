import type { FlexibleSchema, ModelMessage } from 'ai';
import { readErrorText } from '../../content/error-text.ts';
import type { RequestDecision } from '../../content/request-decision.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { describeDecision } from '../../thread/agent-thread.ts';
import { freezeDeep } from '../../thread/deep-freeze.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadHead } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { readFirstMessages } from '../calls/decide-calls.ts';
import type { StepRequest } from '../model/model-step.ts';
import { parseProgress } from './checked-step.ts';
import type { CustomStepInput } from './custom-step.ts';

/** What the function gets for a step. */
export async function makeStepInput(
  progressSchema: FlexibleSchema<unknown> | undefined,
  { state, runtimeContext, signal }: StepRequest,
  write: (text: string) => void,
): Promise<CustomStepInput<unknown, ToolCall, unknown>> {
  const { threadId, head, messages, pastCalls } = state;
  return {
    threadId,
    stepNumber: head.steps,
    messages: readFirstMessages(state, messages.length)(),
    input: freezeDeep(listMessagesSinceStep(state)),
    progress: await readSavedProgress(state, progressSchema),
    decisions: mapDecisionsByKey(head),
    toolCalls: freezeDeep(pastCalls.filter(({ step }) => step === head.steps - 1)),
    runtimeContext,
    abortSignal: signal,
    write,
  };
}

/** The messages from the app since the latest step, without those that were retracted. */
function listMessagesSinceStep({ events }: Readonly<ThreadState>): ModelMessage[] {
  const input: ModelMessage[] = [];
  for (const event of events.slice(events.findLastIndex(isStep) + 1)) {
    if (event.type === 'message-retracted') input.pop();
    if (event.type === 'message-added' && event.place === undefined) input.push(event.message);
  }
  return input;
}

function isStep({ type }: ThreadEvent): boolean {
  return type === 'step-finished';
}

/** The progress that the previous step saved. */
async function readSavedProgress(
  { threadId, head }: Readonly<ThreadState>,
  schema: FlexibleSchema<unknown> | undefined,
): Promise<unknown> {
  if (head.progress === undefined) return undefined;
  const { value, error } = await parseProgress(head.progress, schema);
  if (error === undefined) return value;
  throw new TypeError(
    `The progress saved in thread ${threadId} does not match progressSchema: ${readErrorText(error)} ` +
      'Make the schema accept what an older version of the app saved.',
    { cause: error },
  );
}

/** How the requests of the latest step were decided, by key. */
function mapDecisionsByKey({ decided }: Readonly<ThreadHead>): CustomStepInput['decisions'] {
  return new Map(
    decided.flatMap((ended): [string, RequestDecision][] => {
      const { key } = ended.request;
      return key === undefined ? [] : [[key, describeDecision(ended)]];
    }),
  );
}
