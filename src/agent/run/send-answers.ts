import { z } from 'zod';
import { errorText } from '../../content/error-text.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { UnsentAnswer, ThreadHead, ThreadState } from '../../thread/thread-state.ts';
import { traceAnswerDelivery } from '../../thread/tracing/trace-operations.ts';
import type { CallFailure, SendOptions } from '../calls/answer-receiver.ts';
import { endEvents } from '../calls/close-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';

/** The result of sending an answer to its tool. */
export interface SentAnswer {
  answer: UnsentAnswer;
  /** The outcome with which the tool ended the call instead. */
  outcome?: CallFailure | undefined;
  /** Why the answer can't be sent. */
  error?: string;
}

const maximumErrorLength = 500;
/* Checked before it is written: an invalid outcome would make the log unreadable. */
const givenUpSchema = z.strictObject({ status: z.literal('failed'), error: z.string() }).optional();

/** The settings of `AnswerSending`. */
interface SendingSetting {
  tools: ToolDefinitions;
  /** Aborts when the run ends early. */
  signal: AbortSignal | undefined;
  /** Reads new events of the log. */
  pull: () => Promise<void>;
  /** Wakes the run. */
  wake: () => void;
}

/** The answers that one run is sending to the tools that asked. */
export class AnswerSending {
  readonly #setting: SendingSetting;
  readonly #underway = new Map<string, AbortController>();
  #sent: SentAnswer[] = [];

  constructor(setting: SendingSetting) {
    this.#setting = setting;
  }

  /** Whether an answer is being sent, or was sent and not yet recorded. */
  get pending(): boolean {
    return this.#underway.size > 0 || this.#sent.length > 0;
  }

  /** Starts sending new answers, and stops sending those that are no longer needed. */
  update(state: Readonly<ThreadState>): void {
    this.#stopUnneeded(state);
    for (const answer of state.head.unsentAnswers) {
      /* An agent that has the tool will send it. */
      if (!this.#setting.tools.has(answer.request.toolCall?.toolName ?? '')) continue;
      const { requestId } = answer.request;
      const isSent = this.#sent.some(({ answer: { request } }) => request.requestId === requestId);
      if (!isSent && !this.#underway.has(requestId)) void this.#send(state, answer);
    }
  }

  /** The answers sent since the last call. */
  take(): SentAnswer[] {
    const taken = this.#sent;
    this.#sent = [];
    return taken;
  }

  /** Stops sending: the next run sends what is not known to have arrived. */
  stop(): void {
    for (const underway of this.#underway.values()) underway.abort();
  }

  #stopUnneeded({ head }: Readonly<ThreadState>): void {
    const unsent = new Set(head.unsentAnswers.map(({ request }) => request.requestId));
    for (const [requestId, underway] of this.#underway) {
      if (unsent.has(requestId)) continue;
      underway.abort();
      /* A receiver that ignores the abort is not awaited. */
      this.#underway.delete(requestId);
    }
  }

  async #send(state: Readonly<ThreadState>, answer: UnsentAnswer): Promise<void> {
    const { tools, pull, wake } = this.#setting;
    const { requestId } = answer.request;
    const underway = new AbortController();
    this.#underway.set(requestId, underway);
    const signals = [underway.signal, this.#setting.signal].filter(
      (signal) => signal !== undefined,
    );
    const signal = AbortSignal.any(signals);
    const refresh = async (): Promise<void> => {
      await pull();
      this.#stopUnneeded(state);
    };
    const deliver = async () => sendAnswer(tools, answer, { signal, refresh });
    const sent = await resultOf(answer, traceAnswerDelivery(state, answer, deliver));
    if (this.#underway.get(requestId) === underway) this.#underway.delete(requestId);
    const isCutOff = signal.aborted && sent.error !== undefined;
    if (!isCutOff) this.#sent.push(sent);
    wake();
  }
}

async function resultOf(
  answer: UnsentAnswer,
  delivery: Promise<CallFailure | undefined>,
): Promise<SentAnswer> {
  try {
    return { answer, outcome: givenUpSchema.parse(await delivery) };
  } catch (error) {
    return { answer, error: errorText(error).slice(0, maximumErrorLength) };
  }
}

/** Sends an answer through its tool's receiver. */
async function sendAnswer(
  tools: ToolDefinitions,
  { request, response, replyTo }: UnsentAnswer,
  options: SendOptions,
): Promise<CallFailure | undefined> {
  const { toolCall } = request;
  const answering = tools.get(toolCall?.toolName ?? '')?.answering;
  if (answering === undefined || toolCall === undefined) {
    throw new Error(`The tool '${toolCall?.toolName}' can't receive answers.`);
  }
  const call = { ...toolCall, input: plainCopy(toolCall.input) };
  const copies = structuredClone({ request, response, replyTo });
  return answering.deliver({ ...copies, call }, options);
}

/** The events that record sent answers, except those that are no longer pending. */
export function sentEvents(
  head: ThreadHead,
  sent: readonly SentAnswer[],
  at: number,
): ThreadEvent[] {
  return sent.flatMap(({ answer: { request, beside }, outcome, error }): ThreadEvent[] => {
    const { requestId } = request;
    const isPending = head.unsentAnswers.some((other) => other.request.requestId === requestId);
    if (!isPending) return [];
    if (outcome !== undefined) {
      return endEvents(head, { type: 'call-ended', at, ...beside, outcome });
    }
    return [{ type: 'answer-delivered', at, requestId, ...(error === undefined ? {} : { error }) }];
  });
}
