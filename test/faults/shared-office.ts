import { generateText, type ModelMessage, type UIMessage, wrapLanguageModel } from 'ai';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  HoldpointError,
  type ThreadStore,
} from 'holdpoint';
import { approvalRequestsOf, holdPoint } from 'holdpoint/middleware';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createUiHandler } from 'holdpoint/ui';
import { eventsIn } from '../support/events-in.ts';
import { askingModel } from './asking-model.ts';
import { type Act, auditActs, type Deed } from './audit-acts.ts';
import { auditEndings } from './audit-endings.ts';
import { auditPeople, type Click, type Effect, type Judgement } from './audit-people.ts';
import { HeldConnection } from './held-connection.ts';
import { mayAnswer, officeRules, officeTools } from './office-rules.ts';
import { identities, paymentSchema, type Person, roleOf, whoIs } from './shared-people.ts';

/** The thread that everybody shares. */
const threadId = 'shared';
const origin = 'http://office.test';

/** One thread, the doors to it, the histories that people share, and what they really said and clicked. */
export class SharedOffice {
  readonly clicks: Click[] = [];
  /** Who wrote which message, by its number. */
  readonly said: Person[] = [];
  readonly effects: Effect[] = [];
  readonly #acts: Act[] = [];
  readonly #judgements: Judgement[] = [];
  #held: { principal: unknown; connection: HeldConnection }[] = [];
  /** The time, which workers wait for. */
  now = 1_000_000;
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

  /**
   * Whether the thread has what the history says since its last reply. What the thread has never had (it was refused) is said by whoever
   * sends the history.
   */
  isHistoryRecorded({ events }: AgentThread): boolean {
    const recorded = events.flatMap((event) =>
      event.type === 'message-added' ? numbersIn([event.message]) : [],
    );
    const last = this.history.findLastIndex(({ role }) => role === 'assistant');
    return numbersIn(this.history.slice(last + 1)).every((said) => recorded.includes(said));
  }

  /** A call of a model behind `holdPoint`, with a history. */
  async callHeld(
    principal: unknown,
    messages: readonly ModelMessage[],
    pending: { whilePending?: 'cancel' } = {},
  ): Promise<void> {
    const model = wrapLanguageModel({
      model: this.model.model,
      middleware: holdPoint({ ...this.#options(), maxRetries: 0 }),
    });
    const providerOptions = {
      holdpoint: JSON.parse(JSON.stringify({ threadId, principal, ...pending })),
    };
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

  /** Who somebody is to the routes, and what their role lets them do. */
  signedIn(principal: unknown) {
    return { principal, runtimeContext: { role: roleOf(whoIs(principal)) } };
  }

  /** What a page posts to its route. */
  async post(
    principal: unknown,
    body: object,
    { agent, ...hold }: { agent?: Agent } & Holding = {},
  ): Promise<void> {
    const authorize = () => this.signedIn(principal);
    const opened = agent ?? (await this.open()).agent;
    const handler = createUiHandler({ agent: opened, authorize, ...hold });
    const sent = { id: threadId, trigger: 'submit-message', ...body };
    await (await handler(requestOf(sent))).text();
  }

  /** What a client of AG-UI posts. */
  async postRun(
    principal: unknown,
    input: object,
    { agent, ...hold }: { agent?: Agent } & Holding = {},
  ): Promise<void> {
    const authorize = () => this.signedIn(principal);
    const opened = agent ?? (await this.open()).agent;
    const handler = createAgUiHandler({ agent: opened, authorize, keepAliveMs: 0, ...hold });
    const run = { threadId, runId: 'r', protocolVersion: '1.0' };
    const sent = { ...run, messages: [], tools: [], context: [], ...input };
    await (await handler(requestOf(sent))).text();
  }

  /** What a page gets, as the whole thread or as its last turn. */
  async get(principal: unknown, query: string): Promise<string> {
    const { agent } = await this.open();
    const handler = createUiHandler({ agent, authorize: () => this.signedIn(principal) });
    return (await handler(new Request(`${origin}/chat?id=${threadId}${query}`))).text();
  }

  /** Somebody holds a connection open, and looks whenever something has happened. */
  async hold(principal: unknown, connect: (hold: Holding) => Promise<unknown>): Promise<void> {
    const connection = new HeldConnection(async (wait) =>
      connect({ holdOpenMs: 86_400_000, pollMs: 7, wait }),
    );
    this.#held.push({ principal, connection });
    await this.act('resume', principal, async () => connection.settled());
  }

  /** The connections that are held open look at the thread. */
  async lookWhereHeld(): Promise<void> {
    this.#held = this.#held.filter(({ connection }) => !connection.isOver);
    for (const { principal, connection } of this.#held) {
      await this.act('resume', principal, async () => connection.look());
    }
  }

  /** Somebody does something. What is refused is refused with a code; a provider may fail. */
  async act(deed: Deed, principal: unknown, work: () => Promise<unknown>): Promise<boolean> {
    const from = await this.#length();
    try {
      await work();
      return true;
    } catch (error) {
      const isRefused = HoldpointError.isInstance(error) && error.code !== 'log-tampered';
      const isFailure = String(error).includes('the provider failed');
      if (!isRefused && !isFailure) this.faults.push(String(error));
      return false;
    } finally {
      const to = await this.#length();
      this.#acts.push({ deed, principal, from, to });
      if (deed === 'look' && from !== to) this.faults.push(`${String(principal)} only looked.`);
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
    for (const { connection } of this.#held) await connection.close();
    const { clicks, said, effects } = this;
    const events = await eventsIn(this.#store, threadId);
    const { asked } = this.model;
    const judgements = this.#judgements;
    return [
      ...this.faults,
      ...auditPeople({ events, clicks, said, effects, judgements, asked }),
      ...auditEndings(events),
      ...auditActs(events, { acts: this.#acts, said }),
    ];
  }

  async #length(): Promise<number> {
    return (await eventsIn(this.#store, threadId)).length;
  }

  #options() {
    const principalId = identities[this.#identity];
    return {
      name: 'office',
      store: this.#store,
      now: () => this.now,
      tools: officeTools(this.effects),
      toolApproval: officeRules(this.#judgements),
      mayAnswer,
      ...(principalId && { principalId }),
    };
  }
}

type Holding = Pick<
  NonNullable<Parameters<typeof createAgUiHandler>[0]>,
  'holdOpenMs' | 'pollMs' | 'wait'
>;

/** The numbers of what people say in the messages. */
function numbersIn(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap(({ role, content }) =>
    role === 'user' ? (/#\d+/.exec(JSON.stringify(content)) ?? []) : [],
  );
}

function requestOf(body: object): Request {
  return new Request(`${origin}/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
