import { setImmediate } from 'node:timers/promises';
import { tool, type ToolSet } from 'ai';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  HoldpointError,
  later,
  type ThreadStore,
  type ToolCallRecord,
} from 'holdpoint';
import { createLinks, type Links } from 'holdpoint/links';
import { scriptedModel } from 'holdpoint/testing';
import { agentTool } from 'holdpoint/tools';
import type { KeptThreads } from '../support/store-kits.ts';
import type { End } from './consent-facts.ts';
import { type Input, inputSchema, rules, Teams, type ToolName, toolNames } from './consent-firm.ts';
import { type ThreadId, threadIds } from './consent-moves.ts';
import { ConsentOracle } from './consent-oracle.ts';

const leaseMs = 60_000;
/** The agents, from the outermost; each has the next one as a tool. */
const agentNames = ['desk', 'clerk', 'cashier'] as const;
const key = {
  kty: 'oct',
  kid: 'one',
  alg: 'HS256',
  k: Buffer.from('one'.padEnd(32, '.')).toString('base64url'),
} as const;

/** A process died, as the others see it: nothing that it does has any effect. */
class Died extends Error {}

/** What agents call for one message. */
type Plan = readonly { toolName: ToolName; kind: string; level: number }[];

/** The agents of one process. */
export interface Process {
  agents: readonly Agent[];
  store: ThreadStore;
  threads: Map<ThreadId, AgentThread>;
  links: Links;
  isDead: boolean;
  /** Whether it dies in the next call that it starts. */
  isMortal: boolean;
  death: PromiseWithResolvers<void>;
}

/** A call of any thread, with its agent. */
interface FoundCall {
  ref: string;
  call: ToolCallRecord;
  agent: Agent;
  thread: AgentThread;
}

/** Two processes on a store, a clock that is set, and the oracle, which tools and people tell what they do. */
export class ConsentWorld implements Disposable {
  readonly teams = new Teams();
  readonly oracle = new ConsentOracle(this.teams);
  /** All requests that anybody was shown, oldest first; the open ones. */
  readonly shown: ApprovalRequestContent[] = [];
  open: ApprovalRequestContent[] = [];
  now = 1_000_000;
  /** How many beats each access to the store takes. */
  beats: readonly number[] = [];
  /** How often a move of each kind was taken. */
  readonly taken: Record<string, number> = {};
  /** What was tried, and how it ended, for whoever reads of a fault. */
  readonly story: string[] = [];
  readonly #plans = new Map<string, { plan: Plan; person: string }>();
  readonly #keep: () => Promise<KeptThreads>;
  /** Where threads are kept; the last one is where people are at work. */
  readonly #places: KeptThreads[] = [];
  #processes: Process[];
  /** Looks on, and does nothing. */
  #observer: Process;
  #ids = 0;
  #accesses = 0;

  constructor(home: KeptThreads, keep: () => Promise<KeptThreads>) {
    this.#keep = keep;
    this.#places.push(home);
    this.#processes = [this.#start(), this.#start()];
    this.#observer = this.#start();
  }

  [Symbol.dispose](): void {
    for (const place of this.#places) place[Symbol.dispose]();
  }

  process(nth: number): Process {
    const process = this.#processes[nth];
    if (process === undefined) throw new Error(`There is no process ${nth}.`);
    return process;
  }

  /** The handle that a process has on a thread. */
  async thread(process: Process, threadId: ThreadId): Promise<AgentThread> {
    const known = process.threads.get(threadId);
    if (known !== undefined) return known;
    const opened = await outermost(process).thread(threadId);
    process.threads.set(threadId, opened);
    return opened;
  }

  /** Notes what is to be called for a new message, and gives its text. */
  plan(plan: Plan, person: string): string {
    const text = `turn-${this.#plans.size}`;
    this.#plans.set(text, { plan, person });
    return text;
  }

  /** A process does something. What it refuses, it refuses with a code. */
  async act(process: Process, kind: string, work: () => Promise<unknown>): Promise<End> {
    const end = await this.#try(process, work);
    const what = `${kind}: ${end}`;
    this.story.push(`  ${what}`);
    this.taken[what] = (this.taken[what] ?? 0) + 1;
    return end;
  }

  async #try(process: Process, work: () => Promise<unknown>): Promise<End> {
    try {
      await Promise.race([work(), process.death.promise]);
      return process.isDead ? 'unknown' : 'taken';
    } catch (error) {
      this.story.push(`  ${String(error).slice(0, 200)}`);
      if (process.isDead) return 'unknown';
      if (!HoldpointError.isInstance(error) || error.code === 'log-tampered')
        this.oracle.report('starts', `A process threw ${String(error)}`);
      return 'refused';
    }
  }

  /** Does something that a process may die of while it only looks: then nothing came of it. */
  async survive(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      this.story.push('  The process died before it did anything.');
    }
  }

  /** Starts the dead processes anew, when nobody holds what they held. */
  revive(): void {
    for (const [nth, process] of this.#processes.entries()) {
      process.isMortal = false;
      if (!process.isDead) continue;
      this.now += 3 * leaseMs;
      this.#processes[nth] = this.#start();
    }
  }

  /** Everybody looks at what is asked. */
  async look(): Promise<void> {
    this.open = [];
    for (const threadId of threadIds) {
      const { activeApprovalRequests } = await outermost(this.#observer).thread(threadId);
      for (const request of activeApprovalRequests) this.#see(request);
    }
  }

  #see(request: ApprovalRequestContent): void {
    const { requestId, threadId, toolCall, follows, expiresAt = Infinity, digest } = request;
    const { ref } = readInput(toolCall?.input);
    this.open.push(request);
    if (!this.shown.some((each) => each.digest === digest)) this.shown.push(request);
    const toolName = toolNames.find((name) => name === toolCall?.toolName);
    if (toolName === undefined) throw new Error(`Request ${requestId} is about no tool.`);
    this.oracle.see({
      requestId,
      threadId,
      ref,
      toolName,
      input: JSON.stringify(readInput(toolCall?.input)),
      isEscalated: follows !== undefined && toolName === 'hold',
      requester: this.#requesterOf(ref),
      expiresAt,
    });
  }

  /** All calls of tools, of agents at any depth. */
  async calls(nth?: number): Promise<FoundCall[]> {
    const { agents, store } = nth === undefined ? this.#observer : this.process(nth);
    const summaries = await store.list({ limit: 1_000 });
    const found: FoundCall[] = [];
    for (const { threadId, agent: name } of summaries) {
      const agent = agents.find((each) => each.name === name);
      if (agent === undefined) continue;
      const thread = await agent.thread(threadId);
      for (const call of thread.calls) {
        const { success, data } = inputSchema.safeParse(call.input);
        if (success) found.push({ ref: data.ref, call, agent, thread });
      }
    }
    return found;
  }

  /** Restores all threads where another store has none of them yet, and goes on there. */
  async moveElsewhere(): Promise<void> {
    const summaries = await this.#observer.store.list({ limit: 1_000 });
    const copies: [string | undefined, string][] = [];
    for (const { threadId, agent: name } of summaries) {
      const agent = this.#observer.agents.find((each) => each.name === name);
      if (agent !== undefined) copies.push([name, JSON.stringify(await agent.thread(threadId))]);
    }
    this.#places.push(await this.#keep());
    this.#processes = [this.#start(), this.#start()];
    this.#observer = this.#start();
    for (const [name, copy] of copies) {
      await this.#observer.agents.find((each) => each.name === name)?.restore(copy);
    }
  }

  #requesterOf(ref: string): string {
    const [text = ''] = ref.split('/');
    return this.#plans.get(text)?.person ?? '';
  }

  #open(): ThreadStore {
    const place = this.#places.at(-1);
    if (place === undefined) throw new Error('There is no store.');
    return place.open();
  }

  #start(): Process {
    const store = this.#open();
    const reach = async <RESULT>(work: () => Promise<RESULT>): Promise<RESULT> => {
      if (process.isDead) throw new Died();
      const beats = this.beats[(this.#accesses += 1) % Math.max(1, this.beats.length)] ?? 0;
      for (let nth = 0; nth < beats; nth += 1) await setImmediate();
      if (process.isDead) throw new Died();
      return work();
    };
    const shared = {
      store: {
        ...store,
        read: async (...input) => reach(async () => store.read(...input)),
        head: async (...input) => reach(async () => store.head(...input)),
        append: async (...input) => reach(async () => store.append(...input)),
      } satisfies ThreadStore,
      mayAnswer: ({ principal, request }: MayAnswerQuestion) =>
        request.type === 'question-request' || this.teams.has(principal, request.approvers ?? []),
      now: () => this.now,
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
      leaseMs,
      maxRetries: 0,
    };
    const agents: Agent[] = [];
    for (const level of [2, 1, 0]) {
      const below = agents[0];

      const tools = this.#tools(() => process);
      if (below !== undefined) tools['delegate'] = agentTool(below, { description: 'Asks.' });
      const agent = createAgent({
        ...shared,
        name: agentNames[level] ?? '',
        toolApproval: { ...rules },
        model: this.#model(level),
        tools,
      });
      agents.unshift(agent);
    }
    const process: Process = {
      agents,
      store,
      threads: new Map(),
      links: createLinks({
        agents,
        url: 'https://firm.example/answer',
        keys: [key],
        expiresInMs: 1e9,
      }),
      isDead: false,
      isMortal: false,
      death: Promise.withResolvers(),
    };
    return process;
  }

  /** A model whose response depends on the last message alone: it makes the calls of its level, and has a colleague make those below. */
  #model(level: number) {
    return scriptedModel((messages) => {
      const last = messages.at(-1);
      if (last?.role !== 'user') return { text: 'Done.' };
      const text = last.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const { plan = [] } = this.#plans.get(text) ?? {};
      const calls = plan.flatMap((call, index) =>
        call.level === level
          ? [{ id: `c${index}`, name: call.toolName, input: inputOf(text, index, call.kind) }]
          : [],
      );
      const prompt = { id: 'below', name: 'delegate', input: { prompt: text } };
      const isDeeper = plan.some((call) => call.level > level);
      return { text: 'Well.', calls: [...calls, ...(isDeeper ? [prompt] : [])] };
    }).model;
  }

  #tools(owner: () => Process): ToolSet {
    return Object.fromEntries(toolNames.map((name) => [name, this.#tool(name, owner)]));
  }

  #tool(toolName: ToolName, owner: () => Process) {
    return tool({
      description: toolName,
      inputSchema,
      execute: async (given) => {
        const process = owner();
        if (process.isDead) throw new Died();
        const { ref, kind } = given;
        const input = JSON.stringify(readInput(given));
        this.oracle.start({ ref, toolName, kind, input, requester: this.#requesterOf(ref) });
        if (process.isMortal) {
          process.isDead = true;
          process.death.resolve();
          throw new Died();
        }
        await setImmediate();
        return toolName === 'order' ? later : `${toolName} is done`;
      },
    });
  }
}

type MayAnswerQuestion = Parameters<NonNullable<Parameters<typeof createAgent>[0]['mayAnswer']>>[0];

export function outermost({ agents: [agent] }: Process): Agent {
  if (agent === undefined) throw new Error('There is no agent.');
  return agent;
}

function inputOf(text: string, index: number, kind: string): Input {
  return { ref: `${text}/${index}`, kind, amount: 100 };
}

/** The input of a call, its fields in one order. */
export function readInput(input: unknown): Input {
  const { ref, kind, amount } = inputSchema.parse(input);
  return { ref, kind, amount };
}
