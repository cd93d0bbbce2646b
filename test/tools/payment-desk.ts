import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentThread,
  type ApprovalRequest,
  type ApprovalRequestContent,
  createAgent,
  type MayAnswer,
  memoryStore,
  type ThreadStore,
  type ToolApprovalStatus,
} from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';

export const quorum = { type: 'user-approval', quorum: 2 } as const;

/** A rule as a function, whose approvers an agent without a `mayAnswer` does not know. */
export const forOwners = () => ({ type: 'user-approval' as const, approvers: ['owners'] });

/** A `principalId` for which every session of a person is that person. */
export function subjectOf(principal: unknown): string {
  return String(Object(principal).sub);
}

/** Lets these people answer. They may leave. */
export function only(people: ReadonlySet<string>): MayAnswer {
  return ({ principal }) => people.has(String(principal));
}

/** How a desk differs from the usual one. */
interface DeskOptions {
  clerk?: Partial<AgentOptions>;
  payer?: Partial<AgentOptions>;
  /** How long the payer may take. */
  expiresAfterMs?: number;
  /** Opens the store that all processes share. */
  open?: () => ThreadStore;
  threadId?: string;
}

/** How a process differs from the others at its desk. */
interface ProcessOptions extends Pick<DeskOptions, 'clerk' | 'payer'> {
  /** The store as this process sees it. */
  see?: (store: ThreadStore) => ThreadStore;
}

/** Keeps the threads of one desk in memory. */
function openMemory(): () => ThreadStore {
  const store = memoryStore();
  return () => store;
}

/** A clerk whose payer pays as a rule allows, each with its own notion of people. Eve has asked for 900 euros. */
export async function desk(
  {
    clerk: above = {},
    payer: below = {},
    expiresAfterMs,
    open = openMemory(),
    threadId = 't',
  }: DeskOptions = {},
  status: ToolApprovalStatus = quorum,
) {
  const clock = { now: 1_800_000_000_000 };
  const kept = open();
  const dying = { threadId: '' };
  const store: ThreadStore = {
    ...kept,
    append: async (...input) => {
      if (input[0] === dying.threadId) throw new Error('The process died.');
      return kept.append(...input);
    },
  };
  const paid: unknown[] = [];
  const pay = tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'paid';
    },
  });
  const shared = { store, now: () => clock.now, maxRetries: 0 };
  const newPayer = (options: Partial<AgentOptions> & { hasAsked?: boolean } = {}): Agent => {
    const { hasAsked = false, ...more } = options;
    const paying = { calls: [{ id: 'p1', name: 'pay', input: { euros: 900 } }] };
    const { model } = scriptedModel([...(hasAsked ? [] : [paying]), { text: 'Paid.' }]);
    const toolApproval = { pay: status };
    const setting = { ...shared, name: 'payer', model, tools: { pay }, toolApproval };
    return createAgent({ ...setting, ...below, ...more });
  };
  /** An agent that delegates to another, or has done so. */
  const delegating = (
    name: string,
    to: Agent,
    options: Partial<AgentOptions> & { hasAsked?: boolean; within?: number } = {},
  ): Agent => {
    const { hasAsked = false, within = expiresAfterMs, ...more } = options;
    const asking = { calls: [{ id: 'c1', name: 'payer', input: { prompt: 'Pay.' } }] };
    const { model } = scriptedModel([...(hasAsked ? [] : [asking]), { text: 'Done.' }]);
    const limit = within === undefined ? {} : { expiresAfterMs: within };
    const tools = { payer: agentTool(to, { description: 'Pays.', ...limit }) };
    return createAgent({ ...shared, name, model, tools, ...more });
  };
  /** Another process, with a clerk, a payer and a connection of its own, after Eve has asked. */
  const startProcess = async ({ see = (each) => each, ...options }: ProcessOptions = {}) => {
    const itsStore = see(open());
    const own = { hasAsked: true, store: itsStore };
    const itsPayer = newPayer({ ...own, ...options.payer });
    const itsClerk = delegating('clerk', itsPayer, { ...above, ...own, ...options.clerk });
    const itsThread = await itsClerk.thread(threadId);
    return { clerk: itsClerk, payer: itsPayer, thread: itsThread, store: itsStore };
  };
  const payer = newPayer();
  const clerk = delegating('clerk', payer, above);
  const thread = await clerk.thread(threadId);
  await clerk.run('Pay 900.', thread, { principal: 'Eve' });
  return { clerk, payer, thread, paid, clock, dying, store, newPayer, delegating, startProcess };
}

/** The open request of a thread. */
export function requestIn({ activeApprovalRequests }: AgentThread): ApprovalRequestContent {
  const [request] = activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing is open.');
  return request;
}

/** The thread in which the payer works. */
export async function childOf({
  payer,
  thread,
}: {
  payer: Agent;
  thread: AgentThread;
}): Promise<AgentThread> {
  return payer.thread(thread.calls[0]?.agent?.threadId ?? 'no-child');
}

/** Who has voted. */
export function votersOf({ votes = [] }: Pick<ApprovalRequest, 'votes'>): string[] {
  return votes.map(({ person }) => person);
}
