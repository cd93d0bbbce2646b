import type { ModelMessage } from 'ai';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from './agent-thread.ts';
import { isAppMessage } from './app-messages.ts';
import { replayEvents } from './apply-events.ts';
import { listAssistantParts } from './proposed-calls.ts';
import type { StepMetadata, SentPart } from './events/steps.ts';
import type { ThreadEventOf } from './thread-event.ts';
import type { ThreadState, EventSearch } from './thread-state.ts';

/* The finished steps of a thread, derived from its log: the response of each, and the messages that it was sent. */

/**
 * A step of the current turn, derived from the log: the fields of the AI SDK's `StepResult` that the log has. The tokens are those of the
 * model request; `toolResults` are the outputs of the calls that have succeeded.
 */
export interface FinishedStep extends StepMetadata {
  /** The number of the step in its turn, from 0. */
  stepNumber: number;
  /** The text of the response. */
  text: string;
  /** The calls that the model made. */
  toolCalls: readonly { toolCallId: string; toolName: string; input: unknown }[];
  /** The outputs of the calls that have succeeded. */
  toolResults: readonly {
    toolCallId: string;
    toolName: string;
    input: unknown;
    output: unknown;
  }[];
  /** Why the model ended its response, in the AI SDK's words. */
  finishReason: string;
  /** The tokens of the request to the model. */
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

/**
 * The messages that the model was sent for a step of a thread, derived from its log: the history as it was before the step, or those that
 * `prepareStep` chose. `step` is the number in the step's `step-finished`. Instructions are not among them. Throws `invalid-input` if the
 * thread has no such step.
 *
 * @example
 * const [lastStep] = thread.events.filter((event) => event.type === 'step-finished').toReversed();
 * console.log(sentMessages(thread, lastStep.step));
 */
export function sentMessages(
  thread: Pick<AgentThread, 'events' | 'messages'>,
  step: number,
): readonly ModelMessage[] {
  const { events, messages } = thread;
  const event = findStep({ events, messages }, step);
  if (event === undefined) {
    throw new HoldpointError('invalid-input', `The thread has no step ${step}; the first is 0.`);
  }
  const prepared = listPreparedMessages({ events, messages }, event);
  if (prepared !== undefined) return prepared.map(({ message }) => message);
  return replayEvents(events.slice(0, events.indexOf(event))).newlyPast.messages;
}

/** A message that a step sent, and the place where it is recorded. */
export interface SentMessage {
  message: ModelMessage;
  part: SentPart;
}

/** Lists the messages that the next step sends by default: those of the previous step, and those added to the thread since. */
export function listNextMessages(log: Log): SentMessage[] {
  const last = log.events.findLast((event) => event.type === 'step-finished');
  const kept = last && listPreparedMessages(log, last);
  const history = listHistory(log);
  return kept ? [...kept, ...history.slice(last?.prepared?.messageCount)] : history;
}

/** The part of a thread from which sent messages are derived. */
interface Log {
  readonly events: EventSearch;
  readonly messages: readonly ModelMessage[];
}

/** The messages that a step sent, if they were prepared. */
function listPreparedMessages(
  log: Log,
  { step, prepared }: ThreadEventOf<'step-finished'>,
): SentMessage[] | undefined {
  const history = listHistory(log);
  return prepared?.messages?.flatMap((part, index) => {
    if ('from' in part) return history.slice(part.from, part.to);
    if ('message' in part) return [{ message: part.message, part: { step, index } }];
    const origin = findStep(log, part.step)?.prepared?.messages?.[part.index];
    return origin && 'message' in origin ? [{ message: origin.message, part }] : [];
  });
}

/** The messages of the thread. */
export function listHistory({ messages }: Pick<Log, 'messages'>): SentMessage[] {
  return messages.map((message, from) => ({ message, part: { from, to: from + 1 } }));
}

/** The event of a step. */
function findStep({ events }: Log, step: number): ThreadEventOf<'step-finished'> | undefined {
  return events.findLast(
    (event): event is ThreadEventOf<'step-finished'> =>
      event.type === 'step-finished' && event.step === step,
  );
}
