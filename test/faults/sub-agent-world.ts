import { setImmediate, setTimeout } from 'node:timers/promises';
import { tool, type ToolSet } from 'ai';
import {
  type Agent,
  type AgentThread,
  createAgent,
  HoldpointError,
  memoryStore,
  type ThreadEvent,
  type ThreadStore,
  type ToolCallRecord,
  type UserInputRequestContent,
} from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { FaultPlan, MortalProcess } from './mortal-process.ts';
import { type PlannedCall, statelessModel } from './stateless-model.ts';

/** Agents that work for each other, by their names, and what each does with its first message. */
export interface SubAgentScenario {
  name: string;
  /** From the outermost; the calls of `pay` need approval, those of another agent's name go to that agent. */
  agents: Readonly<Record<string, readonly PlannedCall[]>>;
  approves: (city: string) => boolean;
  /** Whether people answer while the agents work: a call of `slow` ends after the first payment. */
  atWork?: boolean;
}

interface Payment {
  city: string;
  threadId: string;
  toolCallId: string;
}

const leaseMs = 60_000;
const citySchema = z.object({ city: z.string() });

function promptOf({ city }: { city: string }): string {
  return city;
}

/** What outlives the processes: the store, the clock, the payments, and the answers that were accepted. */
export class SubAgentWorld {
  readonly plan: FaultPlan;
  readonly scenario: SubAgentScenario;
  readonly payments: Payment[] = [];
  readonly #store: ThreadStore;
  #time = 1_000;
  #ids = 0;

  constructor(scenario: SubAgentScenario, plan: FaultPlan, store: ThreadStore = memoryStore()) {
    this.#store = store;
    this.scenario = scenario;
    this.plan = plan;
  }

  /** A new process: its outermost agent, and all agents by name. */
  start(plan = this.plan): {
    process: MortalProcess;
    outermost: Agent;
    agents: Map<string, Agent>;
  } {
    const process = new MortalProcess(plan);
    const agents = new Map<string, Agent>();
    for (const [name, calls] of Object.entries(this.scenario.agents).toReversed()) {
      agents.set(name, this.#agent(process, name, calls, agents));
    }
    const [outermost] = [...agents.values()].toReversed();
    if (outermost === undefined) throw new Error('The scenario has no agent.');
    return { process, outermost, agents };
  }

  /** Waits until nobody who died holds anything. */
  outwaitLease(): void {
    this.#time += 3 * leaseMs;
  }

  async events(threadId: string): Promise<ThreadEvent[]> {
    return eventsIn(this.#store, threadId);
  }

  #agent(
    process: MortalProcess,
    name: string,
    calls: readonly PlannedCall[],
    below: ReadonlyMap<string, Agent>,
  ): Agent {
    const tools: ToolSet = { pay: this.#pay(process), slow: this.#slow(process) };
    for (const [other, agent] of below) {
      const options = { description: other, inputSchema: citySchema, prompt: promptOf };
      tools[other] = agentTool(agent, options);
    }
    const store = this.#store;
    return createAgent({
      name,
      tools,
      toolApproval: { pay: 'user-approval' },
      model: statelessModel([calls], async (_prompt, answer) =>
        process.reach(async () => answer()),
      ),
      store: {
        ...store,
        read: async (...input) => process.reach(async () => store.read(...input)),
        head: async (...input) => process.reach(async () => store.head(...input)),
        append: async (...input) => process.reach(async () => store.append(...input)),
      },
      now: () => (this.#time += 1),
      generateId: () => `id-${String((this.#ids += 1)).padStart(19, '0')}`,
      leaseMs,
      maxRetries: 0,
    });
  }

  #slow(process: MortalProcess) {
    return tool({
      inputSchema: citySchema,
      execute: async () =>
        process.reach(async () => {
          while (this.payments.length === 0 && !process.isDead) await setImmediate();
          return 'slow is done';
        }),
    });
  }

  #pay(process: MortalProcess) {
    return tool({
      inputSchema: citySchema,
      execute: async ({ city }, options) =>
        process.reach(async () => {
          const threadId = String(Reflect.get(options, 'threadId'));
          this.payments.push({ city, threadId, toolCallId: options.toolCallId });
          return `paid ${city}`;
        }),
    });
  }
}

/** The city that a request is about. */
function cityOf(request: UserInputRequestContent): string {
  return citySchema.parse(request.toolCall?.input).city;
}

/** A person who brings a conversation to its end, whatever dies, and settles what is lost after a look at the payments. */
export async function converse(world: SubAgentWorld): Promise<string> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const { process, outermost, agents } = world.start();
    try {
      const status = await process.survives(advance(world, outermost, agents));
      if (status === 'completed') return status;
    } catch (error) {
      if (HoldpointError.isInstance(error) && !process.isDead) throw error;
    }
    world.outwaitLease();
  }
  return 'never ended';
}

async function advance(
  world: SubAgentWorld,
  agent: Agent,
  agents: ReadonlyMap<string, Agent>,
): Promise<string> {
  const thread = await agent.thread('outermost');
  await settleLost(world, thread, agent, agents);
  const work = new AbortController();
  const answering =
    world.scenario.atWork === true ? answerAtWork(world, agent, work.signal) : undefined;
  /* It is awaited once the run has ended. */
  answering?.catch(() => {});
  const running = agent.run('Go.', thread, { messageId: 'm' });
  let response = await running.finally(() => {
    work.abort();
  });
  await answering;
  for (let turn = 0; turn < 20 && response.status === 'waiting'; turn += 1) {
    const [request] = response.approvalRequests;
    if (request === undefined) break;
    const isApproved = world.scenario.approves(cityOf(request));
    response = await agent.run(isApproved ? request.approve() : request.reject('No.'), thread);
  }
  return response.status === 'waiting' ? (await agent.run([], thread)).status : response.status;
}

/** A person who answers, through another handle, each request that is seen while a run works. */
async function answerAtWork(world: SubAgentWorld, agent: Agent, signal: AbortSignal) {
  while (!signal.aborted) {
    await setTimeout(2);
    const thread = await agent.thread('outermost');
    for (const request of thread.activeApprovalRequests) {
      const isApproved = world.scenario.approves(cityOf(request));
      await agent.respond(isApproved ? request.approve() : request.reject('No.'), thread);
    }
  }
}

/** Settles the payments of unknown outcome, in the threads of the agents that made them. */
async function settleLost(
  world: SubAgentWorld,
  thread: AgentThread,
  agent: Agent,
  agents: ReadonlyMap<string, Agent>,
): Promise<void> {
  for (const call of thread.calls) {
    const below = belowOf(call);
    const other = agents.get(below.name);
    if (other !== undefined && call.attempts > 0) {
      await settleLost(world, await other.thread(below.threadId), other, agents);
    }
    if (call.status !== 'indeterminate' || other !== undefined) continue;
    const { toolCallId } = call;
    const isPaid = world.payments.some(
      (paid) => paid.threadId === thread.id && paid.toolCallId === toolCallId,
    );
    const outcome = isPaid
      ? ({ status: 'succeeded', output: 'paid' } as const)
      : ({ status: 'failed', error: 'not paid' } as const);
    await agent.settle(thread, toolCallId, outcome);
  }
}

/** The agent that works on a call, and its thread: the tools have the names of their agents. */
function belowOf({ agent, toolName, idempotencyKey }: ToolCallRecord) {
  return agent ?? { name: toolName, threadId: `call-${idempotencyKey}` };
}

/** All threads of a world, the outermost first, each with its events. */
export async function threadsOf(world: SubAgentWorld): Promise<Map<string, ThreadEvent[]>> {
  const { agents, outermost } = world.start(new FaultPlan());
  const found = new Map<string, ThreadEvent[]>();
  const visit = async (agent: Agent, threadId: string): Promise<void> => {
    found.set(threadId, await world.events(threadId));
    const thread = await agent.thread(threadId);
    for (const call of thread.calls) {
      const below = belowOf(call);
      const other = agents.get(below.name);
      if (other !== undefined && call.attempts > 0) await visit(other, below.threadId);
    }
  };
  await visit(outermost, 'outermost');
  return found;
}
