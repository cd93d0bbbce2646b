import type { ThreadSummary } from '../../thread/thread-store.ts';

type Due = ThreadSummary & { nextDeadline: number };
type IsCurrent = (summary: ThreadSummary) => boolean;

/** The deadlines of threads, by agent: what is due is found without a look at what is not. */
export class Deadlines {
  readonly #ofAgents = new Map<string | null, DeadlineHeap>();
  readonly #isCurrent: IsCurrent;

  /** `isCurrent` says whether a summary is still the one of its thread. */
  constructor(isCurrent: IsCurrent) {
    this.#isCurrent = isCurrent;
  }

  /** Adds the summary of a thread. It must not be changed afterwards; it counts until it is no longer current. */
  add(summary: ThreadSummary): void {
    if (!hasDeadline(summary)) return;
    const { agent = null } = summary;
    let heap = this.#ofAgents.get(agent);
    if (heap === undefined) this.#ofAgents.set(agent, (heap = new DeadlineHeap(this.#isCurrent)));
    heap.add(summary);
  }

  /** Takes out the summaries of the agent's threads that are due before this time, the most overdue first. */
  takeDue(agent: string | null, before: number, limit: number): ThreadSummary[] {
    const due: ThreadSummary[] = [];
    const heap = this.#ofAgents.get(agent);
    while (due.length < limit) {
      const first = heap?.takeFirst(before);
      if (first === undefined) break;
      due.push(first);
    }
    return due;
  }
}

function hasDeadline(summary: ThreadSummary): summary is Due {
  return summary.nextDeadline !== undefined;
}

/* The size up to which a heap is not searched for summaries that are no longer current. */
const smallSize = 64;

/**
 * A binary heap, the earliest deadline on top. What is no longer current stays in it until it comes to the top, or until the heap has
 * doubled.
 */
class DeadlineHeap {
  #heap: Due[] = [];
  #sizeToClean = smallSize;
  readonly #isCurrent: IsCurrent;

  constructor(isCurrent: IsCurrent) {
    this.#isCurrent = isCurrent;
  }

  add(summary: Due): void {
    if (this.#heap.length >= this.#sizeToClean) this.#clean();
    this.#raise(summary);
  }

  takeFirst(before: number): Due | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || first.nextDeadline >= before) return undefined;
      this.#removeFirst();
      if (this.#isCurrent(first)) return first;
    }
  }

  /** Puts a summary at the end, and then above those with later deadlines. */
  #raise(summary: Due): void {
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const above = Math.floor((place - 1) / 2);
      const parent = heap[above];
      if (parent === undefined || parent.nextDeadline <= summary.nextDeadline) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = summary;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const moved = heap.pop();
    if (moved === undefined || heap.length === 0) return;
    let place = 0;
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      if (left === undefined) break;
      const isRight = right !== undefined && right.nextDeadline < left.nextDeadline;
      const child = isRight ? right : left;
      if (child.nextDeadline >= moved.nextDeadline) break;
      heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    heap[place] = moved;
  }

  #clean(): void {
    const current = this.#heap.filter(this.#isCurrent);
    this.#heap = [];
    for (const summary of current) this.#raise(summary);
    this.#sizeToClean = Math.max(smallSize, current.length * 2);
  }
}
