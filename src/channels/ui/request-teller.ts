import type { UIMessageChunk } from 'ai';
import type { UserInputRequest } from '../../content/user-input.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';

/** Says what becomes of a request that is about no call: a data part with its id, replaced when it is answered or closed. */
export class RequestTeller {
  readonly #request: UserInputRequest;
  #isOpen = true;

  constructor(request: UserInputRequest) {
    this.#request = request;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  ask(): UIMessageChunk[] {
    return this.#part({});
  }

  end(event: ThreadEventOf<'request-answered' | 'request-closed'>): UIMessageChunk[] {
    this.#isOpen = false;
    return this.#part(
      event.type === 'request-closed' ? { closed: event.cause } : { answer: event.response },
    );
  }

  #part(end: object): UIMessageChunk[] {
    const { requestId: id } = this.#request;
    return [{ type: 'data-approval-request', id, data: { ...this.#request, ...end } }];
  }
}
