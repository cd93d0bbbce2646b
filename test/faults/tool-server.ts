import type { Effect } from './evidence.ts';

/** Work that a tool left to be done outside, and whose result somebody has to deliver. */
export interface Job {
  /** The request, as the server got it. */
  request: Effect;
  isDone: boolean;
  isDelivered: boolean;
  /** Whether a person was asked, as far as the server knows. */
  isAsked: boolean;
  /** What they answered, each time it was told. */
  told: Told[];
}

/** An answer that the server was told. */
export interface Told {
  optionId: string;
  /** How many events the store had at that moment. */
  revision: number;
}

/** The server that does the tools' work. It outlives the processes that call it, and knows keys again where it is idempotent. */
export class ToolServer {
  readonly effects: Effect[] = [];
  /** Every time it was called, also where it did nothing anew. */
  readonly runs: Effect[] = [];
  /** Every time it was asked what became of a call. */
  readonly questions: Effect[] = [];
  readonly jobs: Job[] = [];
  /** Who does jobs at once; else they wait. */
  onQueued: ((job: Job) => Promise<void>) | undefined;
  readonly #isIdempotent: boolean;
  readonly #closedKeys = new Set<string>();

  constructor(isIdempotent: boolean) {
    this.#isIdempotent = isIdempotent;
  }

  /** Does it; once for a key where it is idempotent. */
  run(request: Effect): void {
    this.#receive(request);
    if (this.#isIdempotent && this.#find(request) !== undefined) return;
    this.effects.push(request);
  }

  /** Takes it in to be done later; once for a key where it is idempotent. */
  async enqueue(request: Effect): Promise<void> {
    this.#receive(request);
    const { idempotencyKey } = request;
    const isKnown = this.jobs.some((job) => job.request.idempotencyKey === idempotencyKey);
    if (this.#isIdempotent && isKnown) return;
    const job = { request, isDone: false, isDelivered: false, isAsked: false, told: [] };
    this.jobs.push(job);
    await this.onQueued?.(job);
  }

  /** Takes what a person answered to a job's question. */
  tell(toolCallId: string, told: Told): void {
    this.jobs.find(({ request }) => request.toolCallId === toolCallId)?.told.push(told);
  }

  /** Does a job; once, as its worker is no fault of anybody's. */
  work(job: Job, revision: number): void {
    if (!job.isDone) this.effects.push({ ...job.request, revision });
    job.isDone = true;
  }

  /** Says what was done for a key. One that `closes` keys and knows of nothing will never do anything for it. */
  whatBecameOf(question: Effect, { closes }: { closes: boolean }): Effect | undefined {
    this.questions.push(question);
    const found = this.#find(question);
    if (closes && found === undefined) this.#closedKeys.add(question.idempotencyKey);
    return found;
  }

  #find({ idempotencyKey }: Effect): Effect | undefined {
    return this.effects.find((effect) => effect.idempotencyKey === idempotencyKey);
  }

  #receive(request: Effect): void {
    if (this.#closedKeys.has(request.idempotencyKey)) throw new Error('This key is closed.');
    this.runs.push(request);
  }
}
