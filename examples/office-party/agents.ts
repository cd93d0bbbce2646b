import { appendFile } from 'node:fs/promises';
import { type LanguageModel, tool } from 'ai';
import { createAgent, type ThreadStore, type ToolRunOptions } from 'holdpoint';
import { agentTool } from 'holdpoint/tools';
import { z } from 'zod';
import { buyerModel, hostModel, organizerModel } from './models.ts';

interface OfficeOptions {
  store: ThreadStore;
  /** The file to which the tools append a line of JSON for each call. */
  donePath: string;
  /** Used by all three agents. Without it, each has a small demo model. */
  model?: LanguageModel | undefined;
}

/** An organizer with two sub-agents, whose calls need a person's approval. */
export function officeAgents({ store, donePath, model }: OfficeOptions) {
  const record = async (line: object, { idempotencyKey }: ToolRunOptions): Promise<void> =>
    appendFile(donePath, `${JSON.stringify({ ...line, idempotencyKey })}\n`);
  const pay = tool({
    description: 'Pays for one order.',
    inputSchema: z.object({ payee: z.string(), amount: z.number(), item: z.string() }),
    execute: async (order, options) => record({ paid: order }, options),
  });
  const mail = tool({
    description: 'Sends a mail.',
    inputSchema: z.object({ to: z.string(), text: z.string() }),
    execute: async (letter, options) => record({ sent: letter }, options),
  });

  const buyer = createAgent({
    name: 'buyer',
    model: model ?? buyerModel(),
    instructions: 'You order what is described, for 20 people and at most 300 EUR.',
    tools: { pay },
    toolApproval: {
      pay: ({ amount, payee }) => ({
        type: 'user-approval',
        text: `May I pay ${amount} EUR to ${payee}?`,
      }),
    },
    store,
  });
  const host = createAgent({
    name: 'host',
    model: model ?? hostModel(),
    instructions: 'You invite people by mail, to everybody@office.example.',
    tools: { mail },
    toolApproval: { mail: 'user-approval' },
    store,
  });
  return createAgent({
    name: 'organizer',
    model: model ?? organizerModel(),
    instructions: 'You organize parties: have `order` and `invite` do the work, then report.',
    tools: {
      order: agentTool(buyer, { description: 'Orders food and drinks.' }),
      invite: agentTool(host, { description: 'Writes and sends invitations.' }),
    },
    store,
  });
}
