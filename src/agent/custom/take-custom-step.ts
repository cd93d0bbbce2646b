import type { FlexibleSchema, ModelMessage } from 'ai';
import { readErrorText } from '../../content/app-errors.ts';
import type { RequestDecision } from '../../content/user-input.ts';
import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import { describeDecision } from '../../thread/agent-thread.ts';
import { freezeDeep } from '../../json/json-value.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isExpired, isUnusedApproval, type ThreadHead } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { traceStep } from '../../thread/tracing.ts';
import { readFirstMessages } from '../calls/decide-calls.ts';
import {
  makeRequest,
  refuseUnanswerable,
  repeatAsked,
  type RequestMaking,
} from '../calls/make-request.ts';
import { outdated } from '../calls/outdated-approval.ts';
import type { StepRequest, StepSource } from '../model/model-step.ts';
import type { DeltaReceiver } from '../model/streaming-model.ts';
import { checkStep, toModelStep, type CustomStep, parseProgress } from './custom-step.ts';

/** The input of a custom agent's function for a step. */
export interface CustomStepInput<
  PROGRESS = unknown,
  CALL extends ToolCall = ToolCall,
  RUNTIME_CONTEXT = Record<string, unknown>,
> {
  /** The thread that the step is taken for. */
  threadId: string;
  /** The number of the step in its thread, from 0. It is the same when the step is repeated after a failure or a crash. */
  stepNumber: number;
  /** The whole history of the thread. */
  messages: readonly ModelMessage[];
  /** The app's messages since the previous step, which `messages` has too. Empty when the step follows an answer or a result. */
  input: readonly ModelMessage[];
  /** The `progress` that the previous step returned; `undefined` if it returned none. */
  progress: PROGRESS | undefined;
  /** The decisions of the previous step's requests, by their keys. All of them have ended. */
  decisions: ReadonlyMap<string, RequestDecision>;
  /** The calls of the previous step, in order, each with its outcome. */
  toolCalls: readonly ToolCallRecord<CALL>[];
  /** The `runtimeContext` of `agent.run`; `{}` in a worker, and where a person other than the requesters continues the turn. */
  runtimeContext: RUNTIME_CONTEXT;
  /** Aborts when the run ends early. */
  abortSignal: AbortSignal;
  /** Streams a piece of the reply in `agent.stream`. Provisional: if the step returns a `text`, that is recorded instead. */
  write: (text: string) => void;
}

/** Takes one step of a custom agent. */
type TakeCustomStep = (input: CustomStepInput<unknown, ToolCall, unknown>) => Promise<CustomStep>;

/** The settings of a custom agent's steps. */
interface CustomSteps extends Omit<RequestMaking, 'threadId' | 'requestedBy'> {
  /** The agent's name, for tracing. */
  agentName: string | undefined;
  step: TakeCustomStep;
  progressSchema: FlexibleSchema<unknown> | undefined;
}

/** The steps that a function of the app makes. */
export function makeCustomSteps(custom: CustomSteps): StepSource {
  return async (request) => {
    const { state, tools } = request;
    const { threadId, head } = state;
    const returned = await takeStep(custom, request);
    const { requestedBy, requesters } = head;
    return toModelStep(returned, tools, { ...custom, threadId, requestedBy, requesters });
  };
}

/** Calls the function. The text of the step is the returned one, or else the written one. */
async function takeStep(
  { agentName, step, progressSchema }: CustomSteps,
  request: StepRequest,
): Promise<CustomStep> {
  const { state, receiver, signal } = request;
  const streamed = new StreamedStep(receiver, { step: state.head.steps, signal });
  try {
    const input = await makeStepInput(progressSchema, request, (text) => streamed.write(text));
    const facts = { threadId: input.threadId, agentName, step: input.stepNumber };
    const made = traceStep(facts, async () => step(input));
    const returned = await checkStep(await made, progressSchema);
    const { text = streamed.written } = returned;
    streamed.end(text);
    return { ...returned, text };
  } finally {
    streamed.close();
  }
}

/** Makes the function's input for a step. */
async function makeStepInput(
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
  const lastStep = events.findLastIndex(({ type }) => type === 'step-finished');
  for (const event of events.slice(lastStep + 1)) {
    if (event.type === 'message-retracted') input.pop();
    if (event.type === 'message-added' && event.place === undefined) input.push(event.message);
  }
  return input;
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

/** Maps the keys of the latest step's requests to their decisions. */
function mapDecisionsByKey({ decided }: Readonly<ThreadHead>): CustomStepInput['decisions'] {
  return new Map(
    decided.flatMap((ended): [string, RequestDecision][] => {
      const { key } = ended.request;
      return key === undefined ? [] : [[key, describeDecision(ended)]];
    }),
  );
}

/** The text that a custom agent's step writes. */
class StreamedStep {
  readonly #receiver: DeltaReceiver | undefined;
  readonly #signal: AbortSignal;
  readonly #id: string;
  #written = '';
  #isOver = false;

  /** Without a `receiver`, nothing is streamed. */
  constructor(
    receiver: DeltaReceiver | undefined,
    { step, signal }: { step: number; signal: AbortSignal },
  ) {
    this.#receiver = receiver;
    this.#signal = signal;
    this.#id = `step-${step}`;
  }

  /** The text so far. */
  get written(): string {
    return this.#written;
  }

  /** Does nothing once the step is over: the function may still run after an abort. */
  write(text: string): void {
    if (typeof text !== 'string') {
      throw new TypeError(`write takes a string; got ${typeof text}.`);
    }
    if (this.#isOver || this.#signal.aborted || text === '') return;
    if (this.#written === '') this.#receiver?.push({ type: 'text-start', id: this.#id });
    this.#written += text;
    this.#receiver?.push({ type: 'text-delta', id: this.#id, text });
  }

  /** Ends the step's text with the returned one. If it continues the written text, the rest is streamed. */
  end(text: string): void {
    if (text.startsWith(this.#written)) this.write(text.slice(this.#written.length));
    this.close();
  }

  /** Ends the step. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#written !== '') this.#receiver?.push({ type: 'text-end', id: this.#id });
  }
}

/** The events that ask again about the latest step's approvals that were given too long ago for the next step. */
export async function makeLateApprovalEvents(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  { threadId, head }: Readonly<ThreadState>,
): Promise<ThreadEvent[]> {
  const at = context.now();
  const late = head.decided.filter(
    (ended) => isUnusedApproval(ended) && isExpired({ expiresAt: ended.startBy }, at),
  );
  const events = await Promise.all(
    late.map(async ({ request, step }): Promise<ThreadEvent[]> => {
      if (request.type !== 'approval-request') return [];
      const { requestId, requestedBy, requesters, text } = request;
      const reason = outdated.late;
      const closed = {
        type: 'request-closed',
        at,
        requestId,
        cause: 'invalidated',
        reason,
      } as const;
      const making = { ...context, threadId, requestedBy, requesters };
      const asked = { ...repeatAsked(request), text, reason };
      const about = { setting: 'requests', toolCall: undefined };
      if (refuseUnanswerable(making, asked, about) !== undefined) return [closed];
      const next = await makeRequest(making, asked);
      return [closed, { type: 'request-opened', at: next.createdAt, step, request: next }];
    }),
  );
  return events.flat();
}
