import { z } from 'zod';
import { readErrorText } from '../../content/app-errors.ts';
import { pickToolCall, type ToolCallRecord } from '../../content/tool-call.ts';
import { callAt, type ThreadHead, type UnsentAnswer } from '../../thread/thread-head.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { traceAnswerDelivery } from '../../thread/tracing.ts';
import type { CallFailure, SendOptions } from '../calls/answer-receiver.ts';
import { endEvents } from '../calls/close-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';

/** The result of sending an answer to its tool. See ADR 16. */
export interface SentAnswer {
  answer: UnsentAnswer;
  /** The outcome with which the tool ended the call instead. */
  outcome?: CallFailure | undefined;
  /** The reason why the answer can't be sent. */
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
  log: ThreadLog;
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

  /** True if an answer is being sent, or was sent and not yet recorded. */
  get pending(): boolean {
    return this.#underway.size > 0 || this.#sent.length > 0;
  }

  /** Starts sending new answers, and stops sending those that are no longer needed. */
  update(state: Readonly<ThreadState>): void {
    if (state.head.unsentAnswers.length + this.#underway.size === 0) return;
    this.#stopUnneeded(state);
    for (const answer of state.head.unsentAnswers) {
      /* An agent that has the tool will send it. */
      const call = callAt(state.head, answer.beside);
      if (call === undefined || !this.#setting.tools.has(call.toolName)) continue;
      const { requestId } = answer.request;
      const isSent = this.#sent.some(({ answer: { request } }) => request.requestId === requestId);
      if (!isSent && !this.#underway.has(requestId)) void this.#send(state, answer, call);
    }
  }

  /** The answers sent since the last call. */
  take(): SentAnswer[] {
    const taken = this.#sent;
    this.#sent = [];
    return taken;
  }

  /** Stops sending: the next run sends the answers that are not known to have arrived. */
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

  async #send(
    state: Readonly<ThreadState>,
    answer: UnsentAnswer,
    call: ToolCallRecord,
  ): Promise<void> {
    const { tools, log, wake } = this.#setting;
    const { requestId } = answer.request;
    const underway = new AbortController();
    this.#underway.set(requestId, underway);
    const signals = [underway.signal, this.#setting.signal].filter(
      (signal) => signal !== undefined,
    );
    const signal = AbortSignal.any(signals);
    const refresh = async (): Promise<void> => {
      await log.pull();
      this.#stopUnneeded(state);
    };
    const deliver = async () => sendAnswer(tools, { answer, call }, { signal, refresh });
    const sent = await settleDelivery(answer, traceAnswerDelivery(state, answer, deliver));
    if (this.#underway.get(requestId) === underway) this.#underway.delete(requestId);
    const isCutOff = signal.aborted && sent.error !== undefined;
    if (!isCutOff) this.#sent.push(sent);
    wake();
  }
}

async function settleDelivery(
  answer: UnsentAnswer,
  delivery: Promise<CallFailure | undefined>,
): Promise<SentAnswer> {
  try {
    return { answer, outcome: givenUpSchema.parse(await delivery) };
  } catch (error) {
    return { answer, error: readErrorText(error).slice(0, maximumErrorLength) };
  }
}

/** Sends an answer to the place where the call is executed. */
async function sendAnswer(
  tools: ToolDefinitions,
  { answer, call }: { answer: UnsentAnswer; call: ToolCallRecord },
  options: SendOptions,
): Promise<CallFailure | undefined> {
  const { answering } = tools.get(call.toolName) ?? {};
  const { request, response, replyTo } = structuredClone(answer);
  const isQuestion = request.type === 'question-request' && response.type === 'question-response';
  if (answering === undefined || !isQuestion) {
    throw new Error(`The tool '${call.toolName}' can't receive answers.`);
  }
  return answering.deliver(
    { request, response, replyTo, call: structuredClone(pickToolCall(call)) },
    options,
  );
}

/** The events that record sent answers, except those that are no longer pending. */
export function makeSentEvents(
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
