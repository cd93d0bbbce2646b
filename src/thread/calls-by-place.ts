import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';

/** The calls of a thread by their places, for a reader that follows the thread. */
export class CallsByPlace {
  readonly #calls = new Map<string, ToolCallRecord>();

  constructor(calls: readonly ToolCallRecord[] = []) {
    this.update(calls);
  }

  /** Takes `thread.calls` as they are now. Only calls of the open step change, so ended calls of past steps are read once. */
  update(calls: readonly ToolCallRecord[]): void {
    const openStep = calls.at(-1)?.step;
    for (const call of calls.toReversed()) {
      if (call.step !== openStep && this.at(call)?.outcome !== undefined) return;
      this.#calls.set(makePlaceKey(call), call);
    }
  }

  at(place: CallPlace): ToolCallRecord | undefined {
    return this.#calls.get(makePlaceKey(place));
  }

  /** All calls, in the order in which they were first read. */
  all(): ToolCallRecord[] {
    return [...this.#calls.values()];
  }
}

/** A text for each place, for the key of a map. */
export function makePlaceKey({ step, index }: CallPlace): string {
  return `${step}.${index}`;
}
