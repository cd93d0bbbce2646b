import { tool } from 'ai';
import { type Agent, type AgentOptions, createAgent, memoryStore } from 'holdpoint';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';

/** What `authorize` of the desk gives: who somebody is, and what their role lets them do. */
export const eve = { principal: 'eve', runtimeContext: { role: 'user' } };
export const ada = { principal: 'ada', runtimeContext: { role: 'admin' } };

/** A scripted call of `pay`. */
export function pay(id: string, amount: number) {
  return { id, name: 'pay', input: { amount } };
}

/** What Eve asks for: a payment of 1, and then one of 5,000. */
export const twoPayments: ScriptedStep[] = [
  { calls: [pay('c1', 1)] },
  { calls: [pay('c2', 5_000)] },
  { text: 'Done.' },
];

/** Lets an admin pay unasked, and asks about everybody else's payments. */
export function byRole({ runtimeContext }: { runtimeContext: Record<string, unknown> }) {
  return runtimeContext['role'] === 'admin' ? 'approved' : 'user-approval';
}

/** A desk that pays: an agent, its store, and what it has paid. */
export function cashDesk(script: ScriptedStep[], options: Partial<AgentOptions> = {}) {
  const paid: number[] = [];
  const store = options.store ?? memoryStore();
  const tools = {
    pay: tool({
      description: 'Pays an amount.',
      inputSchema: z.object({ amount: z.number() }),
      execute: async ({ amount }) => {
        paid.push(amount);
        return `Paid ${amount}.`;
      },
    }),
  };
  const { model } = scriptedModel(script);
  const agent: Agent = createAgent({
    name: 'desk',
    model,
    store,
    tools,
    toolApproval: byRole,
    maxRetries: 0,
    ...options,
  });
  return { agent, store, tools, model, paid };
}

/** Who caused each run of a thread, as its log says. */
export async function causersOf({ agent }: { agent: Agent }, threadId = 't'): Promise<unknown[]> {
  const { events } = await agent.thread(threadId);
  return events.flatMap((event) =>
    event.type === 'run-started' ? [event.principal ?? 'nobody'] : [],
  );
}
