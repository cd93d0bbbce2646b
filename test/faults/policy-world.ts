import { setImmediate } from 'node:timers/promises';
import { tool } from 'ai';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  createAgent,
  type Grant,
  HoldpointError,
  type ThreadEvent,
  type ThreadStore,
  type UserApproval,
} from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { eventsIn } from '../support/events-in.ts';
import { cityInput } from '../support/travel-world.ts';
import { audit } from './auditor.ts';
import type { Demands, Effect } from './evidence.ts';
import { type PlannedCall, statelessModel } from './stateless-model.ts';

/** Who works on a thread: each has a person of their own for whom the agent works. */
export const threads = { 'of-ann': 'ann', 'of-gil': 'gil' } as const;
export type ThreadName = keyof typeof threads;
/** Everybody who may try to answer. */
export const people = ['ann', 'bob', 'cy', 'dee', 'eve', 'gil'] as const;
const teams: Record<string, readonly string[]> = {
  owners: ['ann', 'bob', 'cy'],
  managers: ['dee', 'gil'],
};

/** The rules of the world, each of a tool with its name. */
const rules = {
  pay: {
    type: 'user-approval',
    approvers: ['owners', 'gil'],
    notRequester: true,
    quorum: 2,
    editable: true,
    remember: { scope: 'principal', match: ['city'], uses: 2 },
    expiresAfterMs: 900_000,
    onExpiry: 'ask-again',
  },
  move: {
    type: 'user-approval',
    approvers: ['owners'],
    requireReason: true,
    remember: { scope: 'everyone', match: 'exact', expiresAfterMs: 700_000, uses: 3 },
    expiresAfterMs: 300_000,
    remindBeforeMs: 100_000,
    onExpiry: { type: 'escalate', approvers: ['managers'], expiresAfterMs: 200_000 },
  },
  post: {
    type: 'user-approval',
    editable: ['price'],
    remember: { scope: 'thread', match: 'any', uses: 2 },
    expiresAfterMs: 400_000,
  },
  hold: {
    type: 'user-approval',
    notRequester: true,
    quorum: 3,
    editable: ['city'],
    expiresAfterMs: 200_000,
    onExpiry: 'wait',
  },
} satisfies Record<string, UserApproval>;
export type ToolName = keyof typeof rules;

const leaseMs = 60_000;

/** A process died, as the others see it: nothing that it does has any effect. */
class Died extends Error {}

/** An agent with memory of its own. */
interface Worker {
  agent: Agent;
  threads: Map<ThreadName, AgentThread>;
  /** Which version of the tools it has. */
  version: number;
  isDead: boolean;
  /** After how many appends it dies; before the append reaches the store, or after that. */
  diesAfter: number;
  diesBefore: boolean;
  /** Resolves when it dies: nobody waits for it any more. */
  death: PromiseWithResolvers<void>;
}

function die(worker: Worker): void {
  worker.isDead = true;
  worker.death.resolve();
}

/** What workers share: the store, a clock that jumps, and what tools did. */
export class PolicyWorld {
  readonly shown: { name: ThreadName; request: ApprovalRequestContent }[] = [];
  readonly grants: { name: ThreadName; grant: Grant }[] = [];
  /** Errors of living workers that no promise explains. */
  readonly unexplained: unknown[] = [];
  readonly #effects: (Effect & { version: number; name: ThreadName })[] = [];
  readonly #authors = new Map<ThreadName, number[]>();
  readonly #revoked = new Map<string, Map<string, number>>();
  readonly #workers: Worker[] = [];
  readonly #open: () => ThreadStore;
  readonly #plan: readonly (readonly PlannedCall[])[];
  /** Nobody checks what it reads. */
  readonly #reader: ThreadStore;
  #time = 1_000_000;
  #ids = 0;

  constructor(open: () => ThreadStore, plan: readonly (readonly PlannedCall[])[]) {
    this.#open = open;
    this.#reader = open();
    this.#plan = plan;
  }

  jump(ms: number): void {
    this.#time += ms;
  }

  /** A worker; a new one where it has died. */
  async worker(nth: number): Promise<Worker> {
    const worker = this.#workers[nth];
    if (worker !== undefined && !worker.isDead) return worker;
    return this.start(nth, worker?.version ?? 0);
  }

  /** Starts a process in the place of another, which is as good as dead. */
  async start(nth: number, version: number): Promise<Worker> {
    const former = this.#workers[nth];
    if (former !== undefined) die(former);
    const made = this.#make(version);
    this.#workers[nth] = made;
    for (const name of names) made.threads.set(name, await made.agent.thread(name));
    return made;
  }

  /** The worker does something with a thread. What it refuses, it refuses with a code. */
  async act(
    nth: number,
    name: ThreadName,
    work: (agent: Agent, thread: AgentThread) => Promise<unknown>,
  ): Promise<void> {
    const worker = await this.worker(nth);
    const thread = worker.threads.get(name);
    if (thread === undefined) return;
    try {
      await Promise.race([work(worker.agent, thread), worker.death.promise]);
    } catch (error) {
      const isRefused = HoldpointError.isInstance(error) && error.code !== 'log-tampered';
      if (!worker.isDead && !isRefused) this.unexplained.push(error);
    }
    if (worker.isDead) return;
    const known = new Set(this.shown.map(({ request }) => request.digest));
    for (const request of thread.activeApprovalRequests) {
      if (!known.has(request.digest)) this.shown.push({ name, request });
    }
    const granted = new Set(this.grants.map(({ grant }) => grant.grantId));
    for (const event of thread.events) {
      if (event.type !== 'grant-created' || granted.has(event.grant.grantId)) continue;
      this.grants.push({ name, grant: event.grant });
    }
  }

  /** Revokes a standing approval, and notes what each thread had by then. */
  async revoke(nth: number, { name, grant }: { name: ThreadName; grant: Grant }): Promise<void> {
    await this.act(nth, name, async (agent) => {
      await agent.revoke(grant, { principal: 'bob' });
      if (grant.scope === 'thread') return;
      const counts = names.map(async (each) => [each, (await this.#events(each)).length] as const);
      this.#revoked.set(grant.grantId, new Map(await Promise.all(counts)));
    });
  }

  /** What is wrong with all threads. */
  async faults(): Promise<string[]> {
    const logs = await Promise.all(names.map(async (name) => this.#events(name)));
    const audited = names.flatMap((name, index) => {
      const events = logs[index] ?? [];
      const effects = this.#effects.filter((effect) => effect.name === name);
      return audit({
        events,
        effects,
        prompts: [],
        gated: new Set(Object.keys(rules)),
        policy: { mayAnswer, demands, logs, revoked: this.#revoked },
      }).map((fault) => `${name}: ${fault}`);
    });
    const errors = this.unexplained.map((error) => `A worker threw ${String(error)}`);
    return [...audited, ...this.#versionFaults(logs), ...errors];
  }

  async #events(name: ThreadName): Promise<ThreadEvent[]> {
    return eventsIn(this.#reader, name);
  }

  /** A call runs with the tool of which people were asked, or for which the standing approval was given. */
  #versionFaults(logs: readonly (readonly ThreadEvent[])[]): string[] {
    const openedBy = new Map<string, number | undefined>();
    const grantOf = new Map<string, Grant>();
    for (const [at, name] of names.entries()) {
      for (const [index, event] of (logs[at] ?? []).entries()) {
        if (event.type === 'request-opened') {
          openedBy.set(event.request.requestId, this.#authors.get(name)?.[index]);
        }
        if (event.type === 'grant-created') grantOf.set(event.grant.grantId, event.grant);
      }
    }
    return this.#effects.flatMap(({ name, version, revision, toolCallId, toolName }) => {
      const events = (logs[names.indexOf(name)] ?? []).slice(0, revision);
      const place = placeOf(events, toolCallId);
      const reached = events.findLast(
        (event) =>
          (event.type === 'grant-used' && `${event.step}.${event.index}` === place) ||
          (event.type === 'request-opened' &&
            event.place !== undefined &&
            `${event.place.step}.${event.place.index}` === place),
      );
      const askedBy =
        reached?.type === 'grant-used'
          ? openedBy.get(grantOf.get(reached.grantId)?.requestId ?? '')
          : reached?.type === 'request-opened'
            ? openedBy.get(reached.request.requestId)
            : undefined;
      if (askedBy === version) return [];
      return [`${toolName} ${toolCallId} ran with version ${version}; asked with ${askedBy}.`];
    });
  }

  #make(version: number): Worker {
    const store = this.#open();
    const toolNames: ToolName[] = ['pay', 'move', 'post', 'hold'];
    const made = toolNames.map((toolName) => [
      toolName,
      this.#tool(toolName, version, () => worker),
    ]);
    const agent = createAgent({
      name: 'office',
      model: statelessModel(this.#plan, async (_prompt, answer) => {
        await setImmediate();
        if (worker.isDead) throw new Died();
        return answer();
      }),
      tools: Object.fromEntries(made),
      toolApproval: { ...rules },
      mayAnswer: ({ principal, request }) =>
        mayAnswer(
          String(principal),
          request.type === 'approval-request' ? request.approvers : undefined,
        ),
      store: {
        ...store,
        append: async (...input) => this.#append(worker, store, input),
      },
      now: () => this.#time,
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
      leaseMs,
      maxRetries: 0,
    });
    const worker: Worker = {
      agent,
      threads: new Map(),
      version,
      isDead: false,
      diesAfter: Infinity,
      diesBefore: false,
      death: Promise.withResolvers(),
    };
    return worker;
  }

  async #append(
    worker: Worker,
    store: ThreadStore,
    input: Parameters<ThreadStore['append']>,
  ): Promise<void> {
    await setImmediate();
    if (worker.isDead) throw new Died();
    worker.diesAfter -= 1;
    const dies = worker.diesAfter < 0;
    if (dies) worker.isDead = true;
    if (dies && worker.diesBefore) {
      die(worker);
      throw new Died();
    }
    try {
      await store.append(...input);
    } finally {
      if (dies) die(worker);
    }
    const [threadId, { revision }, entries] = input;
    const name = names.find((each) => each === threadId);
    const authors = (name && this.#authors.get(name)) ?? [];
    for (const index of entries.flatMap(eventsOf).keys())
      authors[revision + index] = worker.version;
    if (name !== undefined) this.#authors.set(name, authors);
    if (dies) throw new Died();
  }

  #tool(toolName: ToolName, version: number, owner: () => Worker) {
    return tool({
      description: `${toolName}, version ${version}`,
      inputSchema: cityInput,
      execute: async (input, options) => {
        const worker = owner();
        if (worker.isDead) throw new Died();
        const { toolCallId } = options;
        const idempotencyKey = String(Reflect.get(options, 'idempotencyKey'));
        const owned = await this.#ownerOf(idempotencyKey);
        if (owned === undefined) throw new Error('A tool ran for no thread.');
        const { length: revision } = await this.#events(owned);
        if (worker.isDead) throw new Died();
        const effect = { toolName, toolCallId, idempotencyKey, input, revision };
        this.#effects.push({ ...effect, version: worker.version, name: owned });
        await setImmediate();
        return { done: input.city };
      },
    });
  }

  /** The thread whose log the key of a call is from. */
  async #ownerOf(idempotencyKey: string): Promise<ThreadName | undefined> {
    const [hash = ''] = idempotencyKey.split('.');
    for (const name of names) {
      const entries = await this.#reader.read(name);
      if (entries.some(({ text }) => text.includes(hash))) return name;
    }
    return undefined;
  }
}

export const names: readonly ThreadName[] = ['of-ann', 'of-gil'];

function mayAnswer(person: string, approvers: readonly string[] | undefined): boolean {
  /* Eve is nobody's approver, and may answer only what names none, or what is handed to her. */
  if (approvers === undefined) return true;
  return approvers.some((name) => name === person || teams[name]?.includes(person) === true);
}

function demands(toolName: string): Demands | undefined {
  switch (toolName) {
    case 'pay':
      return { approvers: ['owners', 'gil'], notRequester: true, quorum: 2 };
    case 'move':
      return { approvers: ['owners'], requireReason: true, escalatesTo: ['managers'] };
    case 'post':
      return {};
    case 'hold':
      return { notRequester: true, quorum: 3 };
    default:
      return undefined;
  }
}

function placeOf(events: readonly ThreadEvent[], toolCallId: string): string | undefined {
  for (const event of events) {
    if (event.type !== 'step-finished' || !Array.isArray(event.message?.content)) continue;
    const calls = event.message.content.filter((part) => part.type === 'tool-call');
    const index = calls.findIndex((part) => part.toolCallId === toolCallId);
    if (index !== -1) return `${event.step}.${index}`;
  }
  return undefined;
}
