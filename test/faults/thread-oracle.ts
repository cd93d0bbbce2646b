import type { PlannedCall } from './stateless-model.ts';

/** A call as the oracle foresees it. */
export interface ForeseenCall {
  tool: string;
  status: 'waiting' | 'approved' | 'succeeded' | 'denied';
  expiresAt: number;
  /** How it was answered, if it was. */
  answer?: boolean;
  /** Its request was cancelled or expired, and takes no answer any more. */
  isClosed: boolean;
}

/** How an answer is given. */
export interface ForeseenAnswer {
  approved: boolean;
  /** It repeats the call with another input. */
  edited: boolean;
  /** It is followed by a run at once. */
  runs: boolean;
}

/** Foresees, for one process at a time, where a thread and its calls stand and what becomes of each move: a few flags, no log. */
export class ThreadOracle {
  time = 0;
  readonly calls: ForeseenCall[] = [];
  #turns = 0;
  /** What the model would find last, if it is to speak. */
  #next: 'nothing' | 'message' | 'results' = 'nothing';
  readonly #plan: readonly (readonly PlannedCall[])[];
  readonly #holdMs: number;

  constructor(plan: readonly (readonly PlannedCall[])[], holdMs: number) {
    this.#plan = plan;
    this.#holdMs = holdMs;
  }

  /** The calls that a person was asked about, oldest first. */
  get asked(): ForeseenCall[] {
    return this.calls.filter(({ tool }) => tool !== 'look');
  }

  get status(): 'idle' | 'waiting' | 'due' {
    if (this.#open.some(({ status }) => status === 'waiting')) return 'waiting';
    return this.#open.length > 0 || this.#next !== 'nothing' ? 'due' : 'idle';
  }

  say(whilePending: 'refuse' | 'cancel'): string {
    const awaited = this.calls.filter((call) => call.status === 'waiting' && !this.#isOver(call));
    if (awaited.length > 0 && whilePending === 'refuse') return 'requests-open';
    this.#close((call) => call.status === 'waiting');
    this.#turns += 1;
    this.#next = 'message';
    return this.resume();
  }

  /** How many messages there are; the nth has the id of its number. */
  get turns(): number {
    return this.#turns;
  }

  /** The nth message again: an earlier one has its reply, and the last goes on where it stands. */
  sayAgain(nth: number): string {
    return nth < this.#turns ? 'completed' : this.resume();
  }

  answer(call: ForeseenCall, { approved, edited, runs }: ForeseenAnswer): string {
    if (call.isClosed) return 'request-closed';
    if (call.answer !== undefined && call.answer !== approved) return 'already-answered';
    if (call.answer === undefined) {
      if (this.#isOver(call)) return 'request-closed';
      if (edited) return 'answer-mismatch';
      call.answer = approved;
      this.#set(call, approved ? 'approved' : 'denied');
    }
    this.#expire();
    return runs ? this.resume() : 'answered';
  }

  cancel(): string {
    this.#close(() => true);
    return 'cancelled';
  }

  resume(): string {
    this.#expire();
    /* An approval in time starts its call for a day, and no conversation takes as long. */
    for (const call of this.#open) if (call.status === 'approved') this.#set(call, 'succeeded');
    while (this.#next !== 'nothing' && this.#open.length === 0) this.#speak();
    return this.#open.length > 0 ? 'waiting' : 'completed';
  }

  get #open(): ForeseenCall[] {
    return this.calls.filter(({ status }) => status === 'waiting' || status === 'approved');
  }

  #isOver({ expiresAt }: ForeseenCall): boolean {
    return expiresAt <= this.time;
  }

  /** The requests that ran out are closed by whatever comes in next and is taken. */
  #expire(): void {
    this.#close((call) => call.status === 'waiting' && this.#isOver(call));
  }

  #close(which: (call: ForeseenCall) => boolean): void {
    for (const call of this.#open.filter(which)) {
      call.isClosed = true;
      this.#set(call, 'denied');
    }
  }

  #set(call: ForeseenCall, status: ForeseenCall['status']): void {
    call.status = status;
    if (this.#open.length === 0 && this.#next === 'nothing') this.#next = 'results';
  }

  #speak(): void {
    const planned = this.#next === 'message' ? (this.#plan[this.#turns - 1] ?? []) : [];
    this.#next = 'nothing';
    for (const [tool] of planned) {
      const expiresAt = tool === 'hold' ? this.time + this.#holdMs : Infinity;
      const status = tool === 'look' ? 'succeeded' : 'waiting';
      this.calls.push({ tool, status, expiresAt, isClosed: false });
    }
    if (planned.length > 0 && this.#open.length === 0) this.#next = 'results';
  }
}
