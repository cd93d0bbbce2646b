import { generateText, type ModelMessage, tool, type UIMessage, wrapLanguageModel } from 'ai';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  HoldpointError,
  type ThreadStore,
} from 'holdpoint';
import { approvalRequestsOf, holdPoint } from 'holdpoint/middleware';
import { createUiHandler } from 'holdpoint/ui';
import { eventsIn } from '../support/events-in.ts';
import { askingModel } from './asking-model.ts';
import { auditPeople, type Click, type Effect } from './audit-people.ts';
import {
  demands,
  identities,
  isEntitled,
  paymentSchema,
  type Person,
  whoIs,
} from './shared-people.ts';

/** The thread that everybody shares. */
const threadId = 'shared';
const origin = 'http://office.test';

/** One thread, the doors to it, the histories that people share, and what they really said and clicked. */
export class SharedOffice {
  readonly clicks: Click[] = [];
  /** Who wrote which message, by its number. */
  readonly said: Person[] = [];
  readonly effects: Effect[] = [];
  readonly faults: string[] = [];
  /** The history of the app that calls a held model. It has what was clicked, whatever came of it. */
  readonly history: ModelMessage[] = [];
  /** What the answers in that history say. */
  readonly answers = new Map<ModelMessage, Omit<Click, 'person'>>();
  /** The open requests in the last reply of the held model, by the id that their parts have. */
  held = new Map<string, ApprovalRequestContent>();
  /** Pages as an app has kept them, with what was clicked on them. */
  readonly kept: UIMessage[][] = [];
  readonly model = askingModel();
  readonly #store: ThreadStore;
  #identity = 0;

  constructor(store: ThreadStore) {
    this.#store = store;
  }

  /** A deployment says otherwise who is the same person. */
  deploy(identity: number): void {
    this.#identity = identity;
  }

  /** A process of its own: an agent, and the thread. */
  async open(): Promise<{ agent: Agent; thread: AgentThread }> {
    const agent = createAgent({ ...this.#options(), model: this.model.model });
    return { agent, thread: await agent.thread(threadId) };
  }

  /** A call of a model behind `holdPoint`, with a history. */
  async callHeld(principal: unknown, messages: readonly ModelMessage[]): Promise<void> {
    const model = wrapLanguageModel({
      model: this.model.model,
      middleware: holdPoint({ ...this.#options(), maxRetries: 0 }),
    });
    const providerOptions = { holdpoint: JSON.parse(JSON.stringify({ threadId, principal })) };
    const settings = { model, providerOptions, maxRetries: 0, messages: [...messages] };
    const got = await generateText(settings);
    this.history.push(...got.responseMessages);
    const requests = approvalRequestsOf(got);
    this.held = new Map(
      got.content.flatMap((part) => {
        if (part.type !== 'tool-approval-request') return [];
        const request = requests.find(({ requestId }) => part.approvalId.startsWith(requestId));
        return request === undefined ? [] : [[part.approvalId, request] as const];
      }),
    );
  }

  /** What plain `useChat` posts to the page's route. */
  async post(principal: unknown, body: object): Promise<void> {
    const { agent } = await this.open();
    const handler = createUiHandler({ agent, authorize: () => ({ principal }) });
    const request = new Request(`${origin}/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: threadId, trigger: 'submit-message', ...body }),
    });
    await (await handler(request)).text();
  }

  /** Somebody does something. What is refused is refused with a code; a provider may fail. */
  async act(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const isRefused = HoldpointError.isInstance(error) && error.code !== 'log-tampered';
      const isFailure = String(error).includes('the provider failed');
      if (!isRefused && !isFailure) this.faults.push(String(error));
      return false;
    }
  }

  /** Looks at a request before somebody answers it: what it says is what would run. */
  look({ requestId, text, toolCall }: ApprovalRequestContent): void {
    const payment = paymentSchema.safeParse(toolCall?.input);
    if (!payment.success || text.includes(` ${payment.data.euros} EUR `)) return;
    this.faults.push(`${requestId} says "${text}" above ${payment.data.euros} EUR.`);
  }

  /** What is wrong, by the log and by what people really did. */
  async audit(): Promise<string[]> {
    const { clicks, said, effects } = this;
    const events = await eventsIn(this.#store, threadId);
    return [
      ...this.faults,
      ...auditPeople({ events, clicks, said, effects, asked: this.model.asked }),
    ];
  }

  #options() {
    const execute = async (input: unknown, options: { toolCallId: string }): Promise<string> => {
      this.effects.push({ input, toolCallId: options.toolCallId });
      return 'done';
    };
    const pay = tool({ inputSchema: paymentSchema, execute });
    const principalId = identities[this.#identity];
    return {
      name: 'office',
      store: this.#store,
      tools: { pay, refund: pay, wire: pay, post: pay, note: pay },
      toolApproval: demands,
      mayAnswer: ({ principal, request }: Parameters<MayAnswer>[0]) => {
        const person = whoIs(principal);
        if (request.type === 'question-request' || person === undefined) return false;
        return isEntitled(person, request.toolCall?.input);
      },
      ...(principalId && { principalId }),
    };
  }
}

type MayAnswer = NonNullable<Parameters<typeof createAgent>[0]['mayAnswer']>;
