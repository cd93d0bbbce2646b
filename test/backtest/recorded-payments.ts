import { tool } from 'ai';
import { type AgentThread, createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';

/** What a person answers to a call of `pay`; `none`: nobody answers. */
export type Answer = 'yes' | 'no' | 'none';

/** A payment that a model proposes, and what a person answers. */
export interface Payment {
  input: { to: string; amount: number; note?: string };
  answer: Answer;
}

const refuse = async (): Promise<string> => {
  throw new Error('A backtest ran a tool.');
};

/** The tools of a candidate. Running one fails the test. */
export const candidateTools = {
  pay: tool({
    inputSchema: z.object({ to: z.string(), amount: z.number(), note: z.string().optional() }),
    execute: refuse,
  }),
  look: tool({ inputSchema: z.object({ at: z.string() }), execute: refuse }),
};

/** A clock that is one second later at each reading. */
export function tickingClock(): () => number {
  let now = 1_700_000_000_000;
  return () => (now += 1_000);
}

interface Recording {
  store?: ThreadStore;
  name?: string;
  /** Who asks the agent to pay; `null`: nobody known. */
  principal?: string | null;
  now?: () => number;
}

/** Records a thread in which an agent that asks about every payment makes some, one after the other. */
export async function recordPayments(
  threadId: string,
  payments: readonly Payment[],
  { store = memoryStore(), name = 'bank', principal = 'ada', now = tickingClock() }: Recording = {},
): Promise<AgentThread> {
  const { model } = scriptedModel([
    ...payments.map(({ input }, index) => ({
      calls: [{ id: `${threadId}-${index}`, name: 'pay', input }],
    })),
    { text: 'Done.' },
  ]);
  const { pay, look } = candidateTools;
  const agent = createAgent({
    model,
    name,
    tools: {
      pay: { ...pay, execute: async () => 'paid' },
      look: { ...look, execute: async () => 'seen' },
    },
    toolApproval: { pay: 'user-approval' },
    store,
    now,
  });
  const thread = await agent.thread(threadId);
  let response = await agent.run('Pay my bills.', thread, principal === null ? {} : { principal });
  for (const { answer } of payments) {
    const [request] = response.approvalRequests;
    if (answer === 'none' || request === undefined) break;
    const reply = answer === 'yes' ? request.approve() : request.reject('Not this one.');
    response = await agent.run([reply], thread, { principal: { id: 'mia' }, channel: 'page' });
  }
  return thread;
}
