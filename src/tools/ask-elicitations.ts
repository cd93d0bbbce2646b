import { type Agent, type AnswerReceiver, watchThread } from '../agent.ts';
import type { QuestionResponseContent } from '../content/question.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { SerialWork } from '../content/waiting.ts';
import { HoldpointError } from '../errors.ts';
import { ElicitationRefused, type ElicitationResult, readElicitation } from './elicitation.ts';

/** The part of an agent that elicitations need. */
export type ElicitingAgent = Pick<Agent, 'thread' | 'requestAnswer' | 'now'>;

/** An elicitation during a running call. */
export interface Elicitation {
  /** The call during which the server asks. */
  call: { threadId: string; toolCallId: string };
  /** The parameters of the server's `elicitation/create`. */
  params: unknown;
  /** The name of the server, for people. */
  server?: string | undefined;
  /** Aborts when the call has ended. */
  signal: AbortSignal;
}

/**
 * Passes the questions of MCP servers, during calls that run in this process, to people. `receiver` must be the answer receiver of the
 * tools whose calls ask.
 */
export class Elicitations {
  readonly #agent: () => ElicitingAgent;
  readonly #waiting = new Map<string, (response: QuestionResponseContent) => void>();
  /* A call has one open question at a time. */
  readonly #turns = new Map<string, SerialWork>();
  readonly receiver: AnswerReceiver = {
    outlivesProcess: false,
    deliver: async ({ request: { requestId }, response }) => {
      const answer = this.#waiting.get(requestId);
      if (answer === undefined) throw new Error('The call that asked no longer waits.');
      answer(response);
      return undefined;
    },
  };

  constructor(agent: () => ElicitingAgent) {
    this.#agent = agent;
  }

  /**
   * Asks, and resolves when the answer is recorded in the thread, or with `cancel` when the question was closed without one. Rejects with
   * `ElicitationRefused` for what can't be asked, and with the signal's reason when it aborts.
   */
  async ask({ call, params, server, signal }: Elicitation): Promise<ElicitationResult> {
    const asked = readElicitation(params, server);
    const key = JSON.stringify([call.threadId, call.toolCallId]);
    const turn = this.#turns.get(key) ?? new SerialWork();
    this.#turns.set(key, turn);
    const dropTurn = (): void => void this.#turns.delete(key);
    signal.addEventListener('abort', dropTurn, { once: true });
    return turn.run(async () => {
      signal.throwIfAborted();
      const agent = this.#agent();
      const thread = await agent.thread(call.threadId);
      const asking = agent.requestAnswer(thread, call.toolCallId, asked.question);
      const { requestId } = await asking.catch(refuseUnaskable);
      const response = await this.#awaitAnswer(agent, { thread, requestId, signal });
      return response === undefined ? { action: 'cancel' } : asked.toResult(response);
    });
  }

  /** The recorded answer to a question; `undefined` for one that was closed without an answer. */
  async #awaitAnswer(
    agent: ElicitingAgent,
    {
      thread,
      requestId,
      signal,
    }: {
      thread: Awaited<ReturnType<ElicitingAgent['thread']>>;
      requestId: string;
      signal: AbortSignal;
    },
  ): Promise<QuestionResponseContent | undefined> {
    const done = new AbortController();
    const ends = AbortSignal.any([signal, done.signal]);
    const delivered = new Promise<QuestionResponseContent>((resolve) => {
      this.#waiting.set(requestId, resolve);
    });
    const closed = (async (): Promise<QuestionResponseContent | undefined> => {
      for await (const { events } of watchThread(agent, thread, { signal: ends })) {
        const end = findEnd(events, requestId);
        if (end !== undefined) return end.response;
      }
      signal.throwIfAborted();
      return undefined;
    })();
    try {
      return await Promise.race([delivered, closed]);
    } finally {
      done.abort();
      this.#waiting.delete(requestId);
      closed.catch(() => {});
    }
  }
}

/** Refuses what no question can ask, such as a number whose minimum is above its maximum: the server's mistake. */
function refuseUnaskable(error: unknown): never {
  const isUnaskable = HoldpointError.isInstance(error) && error.code === 'invalid-input';
  throw isUnaskable ? new ElicitationRefused(error.message, { cause: error }) : error;
}

/** Finds the end of a question, if it has ended: an answer, or a closing without one. */
function findEnd(
  events: readonly ThreadEvent[],
  requestId: string,
): { response?: QuestionResponseContent } | undefined {
  for (const event of events) {
    if (event.type === 'request-closed' && event.requestId === requestId) return {};
    if (event.type !== 'request-answered' || event.response.requestId !== requestId) continue;
    if (event.response.type === 'question-response') return { response: event.response };
  }
  return undefined;
}
