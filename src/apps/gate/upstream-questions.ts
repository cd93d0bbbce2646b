import { z } from 'zod';
import { awaitUntilAborted, startTimeLimit } from '../../content/waiting.ts';
import { ElicitationRefused, type ElicitationResult } from '../../tools/elicitation.ts';

/**
 * Passes a server's questions during one call to people. Rejects with `ElicitationRefused` for a question that can't be asked; `signal`
 * aborts when the server no longer waits.
 */
export type AskPeople = (params: unknown, signal: AbortSignal) => Promise<ElicitationResult>;

/** A call at its server, until `end`. */
export interface ServerCall {
  readonly ask: AskPeople;
  /** Aborts when it ends. */
  readonly ended: AbortSignal;
  /** True if the server has asked something meanwhile, which it does only for a call that has begun. */
  hasAsked: boolean;
  /** `mayAsk`: the server has not answered it, and may still ask. */
  end: (mayAsk: boolean) => void;
}

/* The time, in milliseconds, that a question waits until only one call is left that may have asked it. */
const attributionMs = 20_000;

/**
 * The running calls on a connection to a server of a protocol before 2026-07-28, which does not say which call asks. From its first
 * question on, the server gets one call at a time. That question belongs to the last call left when all others have ended.
 */
export class ServerCalls {
  readonly #wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  readonly #running = new Set<ServerCall>();
  #hasAsked = false;
  #wasGivenUp = false;
  #change = Promise.withResolvers<void>();

  constructor(wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>) {
    this.#wait = wait;
  }

  /** Begins a call, once the server may get it. Rejects with the signal's reason if that takes too long. */
  async begin(ask: AskPeople, signal: AbortSignal): Promise<ServerCall> {
    while (this.#hasAsked && this.#running.size > 0)
      await awaitUntilAborted(this.#change.promise, signal);
    const ended = new AbortController();
    const call: ServerCall = {
      ask,
      ended: ended.signal,
      hasAsked: false,
      end: (mayAsk) => {
        this.#wasGivenUp ||= mayAsk;
        this.#running.delete(call);
        ended.abort(new Error('The call has ended.'));
        this.#change.resolve();
        this.#change = Promise.withResolvers();
      },
    };
    this.#running.add(call);
    return call;
  }

  /** Notes that the server has asked something in one of the running calls. */
  noteAsked(): void {
    for (const call of this.#running) call.hasAsked = true;
  }

  /** Asks people in the name of the running call. Rejects with `ElicitationRefused` if it is unknown which call asks. */
  async ask(params: unknown, signal: AbortSignal): Promise<ElicitationResult> {
    this.#hasAsked = true;
    this.noteAsked();
    const call = await this.#findAsking(signal);
    return call.ask(params, AbortSignal.any([signal, call.ended]));
  }

  async #findAsking(signal: AbortSignal): Promise<ServerCall> {
    const limit = startTimeLimit(attributionMs, this.#wait);
    const until = AbortSignal.any([signal, limit.signal]);
    while (this.#running.size > 1 && !until.aborted)
      await awaitUntilAborted(this.#change.promise, until).catch(() => {});
    limit.stop();
    const [call, ...others] = this.#running;
    if (call === undefined) throw new ElicitationRefused('No call is running that could ask.');
    if (this.#wasGivenUp) {
      throw new ElicitationRefused('An earlier call was given up, and may be the one that asks.');
    }
    if (others.length > 0) {
      throw new ElicitationRefused(
        'Several calls are running, and nobody knows which one asks. Call again: from now on, this server gets one call at a time.',
      );
    }
    return call;
  }
}

/* The maximum number of questions in one result of a server. */
const mostAtOnce = 10;

const inputRequestsSchema = z
  .record(z.string(), z.object({ method: z.string(), params: z.unknown() }))
  .default({});

/**
 * Answers the questions that a server of protocol 2026-07-28 asks instead of a result. Rejects with `ElicitationRefused` for one that can't
 * be asked.
 */
export async function answerInputRequests(
  requests: unknown,
  ask: (params: unknown) => Promise<ElicitationResult>,
): Promise<Record<string, ElicitationResult>> {
  const { data, error } = inputRequestsSchema.safeParse(requests);
  if (error !== undefined) throw new ElicitationRefused('What it asks is not valid.');
  const entries = Object.entries(data);
  if (entries.length > mostAtOnce) {
    throw new ElicitationRefused(`It asks more than ${mostAtOnce} questions at once.`);
  }
  const other = entries.find(([, { method }]) => method !== 'elicitation/create');
  if (other !== undefined) {
    const [, { method }] = other;
    throw new ElicitationRefused(
      `It asks for ${JSON.stringify(method.slice(0, 100))}, which the gate can't answer.`,
    );
  }
  const answers: [string, ElicitationResult][] = [];
  for (const [key, { params }] of entries) answers.push([key, await ask(params)]);
  return Object.fromEntries(answers);
}

/** Checks whether a person has opened each of these addresses, as a server of an older protocol demands before it runs a call. */
export async function visitAll(
  visits: readonly object[],
  ask: (params: unknown) => Promise<ElicitationResult>,
): Promise<boolean> {
  if (visits.length > mostAtOnce) {
    throw new ElicitationRefused(`It asks more than ${mostAtOnce} questions at once.`);
  }
  for (const visit of visits) {
    const { action } = await ask({ ...visit, mode: 'url' });
    if (action !== 'accept') return false;
  }
  return true;
}
