import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { TellingOptions } from './telling-options.ts';
import { type Turn, messageIdOf, turnsOf } from './turns.ts';
import { TurnTeller } from './turn-teller.ts';
import { userUIMessage } from './user-ui-message.ts';

/**
 * The messages of a thread as a page shows them, for its first load: what the page would hold had it been there all the time, open
 * requests included.
 *
 * @example
 * return Response.json(await toUIMessages(await agent.thread(id)));
 */
export async function toUIMessages(
  thread: AgentThread,
  options: TellingOptions = {},
): Promise<UIMessage[]> {
  const { events } = thread;
  const turns = turnsOf(events);
  const past = new PastTeller(thread, options);
  const told = await Promise.all(turns.map(async (turn) => past.messages(turn)));
  return told.flat();
}

class PastTeller {
  readonly #thread: AgentThread;
  readonly #options: TellingOptions;
  readonly #events: readonly ThreadEvent[];
  readonly #calls: AgentThread['calls'];
  readonly #places: ReadonlyMap<string, AgentThread['calls'][number]>;

  constructor(thread: AgentThread, options: TellingOptions) {
    this.#thread = thread;
    this.#options = options;
    this.#events = thread.events;
    this.#calls = thread.calls;
    this.#places = new Map(this.#calls.map((call) => [`${call.step}.${call.index}`, call]));
  }

  /** The user's message and the assistant's. */
  async messages(turn: Turn): Promise<UIMessage[]> {
    const id = messageIdOf(this.#thread.id, turn.revision);
    const [first] = turn.events;
    const user =
      first?.type === 'message-added' ? userUIMessage(first.message, `${id}:user`) : undefined;
    const chunks = this.#chunks(turn);
    const messages = user === undefined ? [] : [user];
    if (chunks.length === 0) return messages;
    const messageMetadata = this.#metadata(turn);
    const start: UIMessageChunk = { type: 'start', messageId: id, messageMetadata };
    const finish: UIMessageChunk = { type: 'finish', messageMetadata };
    return [...messages, await assembled([start, ...chunks, finish])];
  }

  #chunks(turn: Turn): UIMessageChunk[] {
    const teller = new TurnTeller(
      ({ step, index }) => this.#places.get(`${step}.${index}`),
      this.#options,
    );
    const chunks = turn.events.slice(1).flatMap((event) => teller.tell(event));
    /* What is about no call may be answered in a later turn, and shows where it was asked. */
    const end = turn.revision - 1 + turn.events.length;
    for (const event of teller.isAsking ? this.#events.slice(end) : []) {
      if (isEndOfRequest(event)) chunks.push(...teller.tell(event));
    }
    return [...chunks, ...teller.settle(this.#calls)];
  }

  #metadata({ revision, events }: Turn): object {
    const end = revision - 1 + events.length;
    const status = end === this.#events.length ? this.#thread.status : 'idle';
    return { threadId: this.#thread.id, revision: end, status };
  }
}

function isEndOfRequest({ type }: ThreadEvent): boolean {
  return type === 'request-answered' || type === 'request-closed';
}

/** The message that a page would have after these chunks, as the AI SDK's own reader puts it together. */
async function assembled(chunks: readonly UIMessageChunk[]): Promise<UIMessage> {
  const rest = chunks.values();
  const stream = new ReadableStream<UIMessageChunk>({
    pull(controller) {
      const { done, value } = rest.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  let message: UIMessage | undefined;
  for await (const state of readUIMessageStream({ stream, terminateOnError: true }))
    message = state;
  if (message === undefined) throw new TypeError('A turn came to no message.');
  return message;
}
