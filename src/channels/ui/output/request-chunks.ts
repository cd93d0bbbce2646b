import type { UIMessageChunk } from 'ai';
import { hidePrincipals } from '../../../content/hide-principals.ts';
import { plainCall, type ToolCall } from '../../../content/tool-call.ts';
import type { UserInputRequest } from '../../../content/user-input.ts';
import { requestAfter, withEdit } from '../../../thread/events.ts';
import type { ThreadEventOf } from '../../../thread/thread-event.ts';

/** A change of a request that is still open. */
export type RequestProgress = ThreadEventOf<
  'request-voted' | 'vote-withdrawn' | 'request-reassigned'
>;

/**
 * The chunks for a request that is not about a call of this thread, or that was made during one, by its tool or its
 * sub-agent: a data part with the request's id, replaced when the request is answered or closed. The part of the call does not change.
 */
export class RequestChunks {
  #request: UserInputRequest;

  /** `call` is the call that the request was made during, if any. A sub-agent's request has the sub-agent's own call, which people are shown. */
  constructor(request: UserInputRequest, call: ToolCall | undefined) {
    const isOfTool = call !== undefined && request.path === undefined;
    this.#request = isOfTool ? { ...request, toolCall: plainCall(call) } : request;
  }

  ask(): UIMessageChunk[] {
    return this.#part({});
  }

  /** Somebody has voted, withdrawn a vote, or asked somebody else to answer. */
  progress(event: RequestProgress): UIMessageChunk[] {
    if (this.#request.type !== 'approval-request') return [];
    this.#request = requestAfter(this.#request, event);
    return this.#part({});
  }

  end(event: ThreadEventOf<'request-answered' | 'request-closed'>): UIMessageChunk[] {
    if (event.type === 'request-answered' && this.#request.type === 'approval-request') {
      this.#request = withEdit(this.#request, event);
    }
    return this.#part(
      event.type === 'request-closed'
        ? { closed: event.cause, ...(event.person === undefined ? {} : { closedBy: event.person }) }
        : { answer: event.response },
    );
  }

  #part(end: object): UIMessageChunk[] {
    const { requestId: id, type } = this.#request;
    return [{ type: `data-${type}`, id, data: { ...hidePrincipals(this.#request), ...end } }];
  }
}
