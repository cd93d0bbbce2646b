import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { type CallsByPlace, makePlaceKey } from '../../thread/calls-by-place.ts';
import { endsHere, listAssistantParts, requestsByCall } from '../../thread/proposed-calls.ts';
import type { FinishedStepEvent } from '../../view/thread-items.ts';

/**
 * The inputs that the calls of a thread have now: people may have edited them, and a schema may have made others. A client runs and shows
 * these. A call that is asked about has the input of its request: more people may have to approve an edit.
 */
export class PresentInputs {
  readonly #records: CallsByPlace;
  #asked: ReadonlyMap<string, ToolCall | undefined> = new Map();
  /** The inputs that the client has, as JSON, by the places of their calls: a provider may repeat an id. */
  readonly #shown = new Map<string, string>();

  constructor(records: CallsByPlace) {
    this.#records = records;
  }

  /** Takes the thread as it is now; `records` must have its calls. */
  update({ activeApprovalRequests }: AgentThread): void {
    this.#asked = new Map(
      activeApprovalRequests.map(({ requestId, toolCall }) => [requestId, toolCall]),
    );
  }

  /** A step with the present inputs of its calls, which the client has from now on. */
  apply(event: FinishedStepEvent): FinishedStepEvent {
    const { step, message } = event;
    if (message?.role !== 'assistant') return event;
    const parts = listAssistantParts(message);
    const requests = requestsByCall(parts);
    let index = 0;
    const content = parts.map((part) => {
      if (part.type !== 'tool-call' || !endsHere(part, requests)) return part;
      const call = this.#records.at({ step, index });
      index += 1;
      if (call === undefined) return part;
      this.#noteShown(call);
      return { ...part, input: this.#read(call) };
    });
    return { ...event, message: { ...message, content } };
  }

  /** Notes that the client has the present inputs of all calls. */
  noteAll(): void {
    for (const call of this.#records.all()) this.#noteShown(call);
  }

  /** Checks whether the client has another input of a call than the present one. */
  isOutdated(call: ToolCallRecord): boolean {
    const shown = this.#shown.get(makePlaceKey(call));
    return shown !== undefined && shown !== JSON.stringify(this.#read(call));
  }

  #noteShown(call: ToolCallRecord): void {
    this.#shown.set(makePlaceKey(call), JSON.stringify(this.#read(call)));
  }

  #read(call: ToolCallRecord): unknown {
    return (this.#asked.get(call.requestId ?? '') ?? call).input;
  }
}
