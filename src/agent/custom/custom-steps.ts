import type { FlexibleSchema } from 'ai';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isExpired } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { traceStep } from '../../thread/tracing.ts';
import { listUnusedApprovals } from '../calls/close-requests.ts';
import type { RequestMaking } from '../calls/make-request.ts';
import type { StepRequest, StepSource } from '../model/model-step.ts';
import type { DeltaReceiver } from '../model/streaming-model.ts';
import { checkStep } from './checked-step.ts';
import type { CustomStep, TakeCustomStep } from './custom-step.ts';
import { toModelStep } from './model-step-of.ts';
import { makeStepInput } from './step-input.ts';

/** What a custom agent's steps are made with. */
interface CustomSteps extends Omit<RequestMaking, 'threadId' | 'requestedBy'> {
  /** For tracing. */
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

/** Calls the function. The text of the step is what it returned, or else what it has written. */
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

/** The events that close the latest step's approvals that have expired since they were given: they no longer count. */
export function makeExpiredApprovalEvents(
  { head }: Readonly<ThreadState>,
  at: number,
): ThreadEvent[] {
  const reason = 'The approval expired before the next step.';
  return listUnusedApprovals(head)
    .filter(({ request }) => isExpired(request, at))
    .map(({ request }) => ({
      type: 'request-closed',
      at,
      requestId: request.requestId,
      cause: 'expired',
      reason,
    }));
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

  /** The step has returned this text. If it continues what was written, the rest is streamed. */
  end(text: string): void {
    if (text.startsWith(this.#written)) this.write(text.slice(this.#written.length));
    this.close();
  }

  /** The step is over. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#written !== '') this.#receiver?.push({ type: 'text-end', id: this.#id });
  }
}
