import { tool } from 'ai';
import { type Agent, createAgent, type ThreadStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';

/** An agent that asks before it pays, with a model that plays a script, for threads as they are stored. */
export function makePayer(store: ThreadStore): Agent {
  const { model } = scriptedModel((messages) =>
    messages.at(-1)?.role === 'tool'
      ? { text: 'Paid.' }
      : { calls: [{ id: 'call', name: 'pay', input: { to: 'ACME', cents: 12_500 } }] },
  );
  const pay = tool({
    inputSchema: z.object({ to: z.string(), cents: z.int() }),
    execute: async () => 'paid',
  });
  const toolApproval = { pay: 'user-approval' } as const;
  return createAgent({ model, store, name: 'payer', tools: { pay }, toolApproval });
}
