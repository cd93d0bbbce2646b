import { z } from 'zod';
import { detectDeadConnection } from '../../../browser/lost-connection.ts';
import { joinTexts } from './page-messages.ts';
import type { PageState } from './page-state.ts';
import { isShutOut } from './read-refusal.ts';
import { type ThreadChatOptions, type Fetch, parseBody, ThreadRoute } from './thread-route.ts';

/** The content of a page's `POST` that is lost if the server does not record it. */
export interface SentContent {
  /** The ids of the requests that it answers. */
  answers: string[];
  /** The text of the user's message in it. */
  unsaid?: string;
  /** True if it resumes calls that are on hold after a stop. */
  resume?: boolean;
}

const sentSchema = z.object({
  answers: z.array(z.looseObject({ requestId: z.string() })).default([]),
  message: z.looseObject({ parts: z.array(z.unknown()) }).optional(),
  resume: z.boolean().default(false),
});

/** The content of the body of a page's `POST`. */
function parseSentContent(body: unknown): SentContent {
  const { answers, message, resume } = sentSchema.parse(parseBody(body));
  const text = joinTexts(message?.parts ?? []);
  return {
    answers: answers.map(({ requestId }) => requestId),
    resume,
    ...(text === '' ? {} : { unsaid: text }),
  };
}

/** The part of a page that sending uses. */
interface SendingPage {
  route: ThreadRoute;
  page: PageState;
  wait: NonNullable<ThreadChatOptions['wait']>;
  /** Aborted when the page is closed. */
  signal: () => AbortSignal;
  /** Called before a stream begins, which shows the changes. */
  onSend: () => void;
  /** Checks whether the thread's run is over. */
  isOver: () => Promise<boolean>;
  /** Called when the page is not for the signed-in person. */
  onShutOut: (status: number, refused: string) => void;
  onError: (error: unknown) => void;
}

/** Sends people's messages and answers, and knows which are not recorded yet. */
export class ThreadSender {
  readonly #page: SendingPage;
  sent: SentContent = { answers: [] };
  /** Resolved unless a request waits for its response from a server that can be reached. */
  #arrived = Promise.withResolvers<void>();

  constructor(page: SendingPage) {
    this.#page = page;
    this.#arrived.resolve();
  }

  get arrived(): Promise<void> {
    return this.#arrived.promise;
  }

  /** Called when the server becomes unreachable, or reachable again: a request that is being sent has not arrived. */
  endWait(): void {
    this.#arrived.resolve();
  }

  /** The `fetch` of the AI SDK's transport. */
  async send(...[input, init]: Parameters<Fetch>): Promise<Response> {
    const { route, page, wait, isOver, onSend } = this.#page;
    onSend();
    const isPost = init?.method === 'POST';
    this.sent = isPost ? parseSentContent(init.body) : { answers: [] };
    if (isPost) page.set({ problem: undefined });
    if (isPost && route.connection.isReachable) this.#arrived = Promise.withResolvers();
    const { resolve } = this.#arrived;
    const response = await route.fetch(input, init).finally(resolve);
    if (!response.ok) return response;
    /* The answers are recorded, or the response says that they are not. */
    page.removeSending(this.sent.answers);
    this.sent = { answers: [] };
    return detectDeadConnection(response, { wait, isOver });
  }

  /** Sends a change of the votes of a request. Returns whether the page is still the same person's. */
  async change(requestId: string, change: object): Promise<boolean> {
    const { route, page, onShutOut, onError } = this.#page;
    const signal = this.#page.signal();
    page.set({ problem: undefined });
    page.addSending(requestId);
    try {
      const response = await route.post(change);
      const { ok, status } = response;
      const text = await response.text();
      if (signal.aborted) return false;
      if (!ok && isShutOut(status, text, { isAct: true })) onShutOut(status, text);
      else if (!ok) page.showRefusal(status, text, { answers: [requestId] });
    } catch (error) {
      onError(error);
    }
    if (signal.aborted) return false;
    page.removeSending([requestId]);
    return true;
  }
}
