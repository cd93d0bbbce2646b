import type { ToolSet } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentResponse,
  type AgentThread,
  type ApprovalRequest,
  approve,
  createAgent,
  HoldpointError,
  type MayAnswer,
  reject,
  type ThreadEvent,
  type ThreadStore,
  type ToolCallRecord,
} from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { type Generated, type PlannedCall, statelessModel } from './stateless-model.ts';

/** Agents that work for each other, by their names, and what each does with its first message. */
export interface SubAgentScenario {
  name: string;
  /** From the outermost; the calls of `pay` need approval, those of another agent's name go to that agent. */
  agents: Readonly<Record<string, readonly PlannedCall[]>>;
  approves: (city: string) => boolean;
  /** Whether people answer while the agents work: a call of `slow` ends after the first payment. */
  atWork?: boolean;
  /** Whether Eve, who may not answer, stops the thread after each answer, before what it lets run has started; the boss releases it. */
  stops?: boolean;
}

/** What a call of `pay` did, outside the threads. */
export interface Payment {
  city: string;
  threadId: string;
  toolCallId: string;
}

/** The agents of a scenario, as one process has them. */
export interface Staff {
  outermost: Agent;
  agents: ReadonlyMap<string, Agent>;
}

/** What people know who lead a conversation: what they approve, and what was paid. */
interface Leader {
  scenario: SubAgentScenario;
  payments: () => Promise<readonly Payment[]>;
}

type StaffOptions = Omit<AgentOptions, 'model' | 'name'> & { tools: ToolSet };

const boss = { principal: 'boss' };
const eve = { principal: 'eve' };
const isBoss: MayAnswer = ({ principal }) => principal === 'boss';

export const citySchema = z.object({ city: z.string() });

function promptOf({ city }: { city: string }): string {
  return city;
}

/** Hires the agents of a scenario. Each has the given tools, and those agents as tools that come after it. */
export function staffOf(
  { agents: plans, stops }: SubAgentScenario,
  reach: (answer: () => Generated) => Promise<Generated>,
  { tools: own, ...options }: StaffOptions,
): Staff {
  const agents = new Map<string, Agent>();
  for (const [name, calls] of Object.entries(plans).toReversed()) {
    const tools = { ...own };
    for (const [other, agent] of agents) {
      const about = { description: other, inputSchema: citySchema, prompt: promptOf };
      tools[other] = agentTool(agent, about);
    }
    const model = statelessModel([calls], async (_prompt, answer) => reach(answer));
    const toolApproval = { pay: 'user-approval' } as const;
    const mayAnswer = stops === true ? isBoss : undefined;
    const settings = { name, tools, toolApproval, mayAnswer, model, maxRetries: 0 };
    const agent = createAgent({ ...settings, ...options });
    agents.set(name, agent);
  }
  const [outermost] = [...agents.values()].toReversed();
  if (outermost === undefined) throw new Error('The scenario has no agent.');
  return { outermost, agents };
}

/** What a person answers to a request for approval. */
export function answerOf({ approves }: SubAgentScenario, request: ApprovalRequest) {
  const { city } = citySchema.parse(request.toolCall?.input);
  return approves(city) ? approve(request) : reject(request, 'No.');
}

/**
 * Brings a thread of the outermost agent as far as a person can without waiting: runs it, answers what it asks, and settles what is lost after
 * a look at the payments. Returns the thread's status.
 */
export async function advance(
  { scenario, payments }: Leader,
  threadId: string,
  { outermost, agents }: Staff,
  around = async (run: () => Promise<AgentResponse>): Promise<AgentResponse> => run(),
): Promise<string> {
  const thread = await outermost.thread(threadId);
  let response = await around(async () => outermost.run('Go.', thread, { messageId: 'm' }));
  for (let turn = 0; turn < 20 && response.status === 'waiting'; turn += 1) {
    const [request] = response.approvalRequests;
    if (request === undefined) break;
    const answer = answerOf(scenario, request);
    response =
      scenario.stops === true
        ? await stopAfter(answer, thread, outermost)
        : await outermost.run(answer, thread);
  }
  if (scenario.stops === true)
    response = await outermost.run([], thread, { ...boss, resumeStopped: true });
  if (response.status === 'completed') return response.status;
  await settleLost(await payments(), thread, outermost, agents);
  return (await outermost.run([], thread)).status;
}

/** Records an answer of the boss, and has Eve stop the thread before anything runs; neither a worker nor Eve resumes what is approved. */
async function stopAfter(
  answer: ReturnType<typeof answerOf>,
  thread: AgentThread,
  agent: Agent,
): Promise<AgentResponse> {
  await agent.respond(answer, thread, boss);
  await agent.stop(thread, eve);
  try {
    await agent.run([], thread, { ...eve, resumeStopped: true });
  } catch (error) {
    if (!HoldpointError.isInstance(error) || error.code !== 'not-allowed') throw error;
  }
  return agent.run([], thread, { onlyWhenDue: true });
}

/** Settles the payments of unknown outcome, in the threads of the agents that made them. */
async function settleLost(
  payments: readonly Payment[],
  thread: AgentThread,
  agent: Agent,
  agents: ReadonlyMap<string, Agent>,
): Promise<void> {
  for (const call of thread.calls) {
    const below = belowOf(call);
    const other = agents.get(below.name);
    if (other !== undefined && call.attempts > 0) {
      await settleLost(payments, await other.thread(below.threadId), other, agents);
    }
    if (call.status !== 'indeterminate' || other !== undefined) continue;
    const { toolCallId } = call;
    const outcome = isPaid(payments, thread.id, toolCallId)
      ? ({ status: 'succeeded', output: 'paid' } as const)
      : ({ status: 'failed', error: 'not paid' } as const);
    await agent.settle(thread, toolCallId, outcome);
  }
}

export function isPaid(
  payments: readonly Payment[],
  threadId: string,
  toolCallId: string,
): boolean {
  return payments.some((paid) => paid.threadId === threadId && paid.toolCallId === toolCallId);
}

/** The agent that works on a call, and its thread: the tools have the names of their agents. */
function belowOf({ agent, toolName, idempotencyKey }: ToolCallRecord) {
  return agent ?? { name: toolName, threadId: `call-${idempotencyKey}` };
}

/** A thread of the outermost agent and those below it, the outermost first. */
export async function threadsBelow(
  { outermost, agents }: Staff,
  threadId: string,
): Promise<AgentThread[]> {
  const found: AgentThread[] = [];
  const visit = async (agent: Agent, id: string): Promise<void> => {
    const thread = await agent.thread(id);
    found.push(thread);
    for (const call of thread.calls) {
      const below = belowOf(call);
      const other = agents.get(below.name);
      if (other !== undefined && call.attempts > 0) await visit(other, below.threadId);
    }
  };
  await visit(outermost, threadId);
  return found;
}

/** The events of threads as they are stored, by the threads' ids. */
export async function eventsOfEach(
  store: Pick<ThreadStore, 'read'>,
  threads: readonly AgentThread[],
): Promise<Map<string, ThreadEvent[]>> {
  const all = threads.map(async ({ id }) => [id, await eventsIn(store, id)] as const);
  return new Map(await Promise.all(all));
}
