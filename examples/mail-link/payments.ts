import { tool } from 'ai';
import { createAgent, type ThreadStore } from 'holdpoint';
import { z } from 'zod';
import { demoLanguageModel } from '../demo-language-model.ts';

const teams = new Map([['finance', ['ada@example.com', 'zoe@example.com']]]);

/** The addresses of a team, or of a person. */
export function addressesOf(name: string): readonly string[] {
  return teams.get(name) ?? [name];
}

/** An agent that pays what somebody else of the finance team has approved. `pay` is the demo's stand-in for a bank. */
export function paymentAgent(
  store: ThreadStore,
  pay: (payment: { to: string; euros: number }) => void,
) {
  return createAgent({
    name: 'payments',
    model: demoLanguageModel((prompt) => {
      const results = prompt.slice(prompt.findLastIndex(({ role }) => role === 'user') + 1);
      if (results.length > 0) return { text: 'That is settled, then.' };
      return { calls: [{ toolName: 'pay', input: { to: 'ACME', euros: 420 } }] };
    }),
    tools: {
      pay: tool({
        description: 'Pays an invoice.',
        inputSchema: z.object({ to: z.string(), euros: z.number().positive() }),
        execute: async (payment) => {
          pay(payment);
          return 'Paid.';
        },
      }),
    },
    toolApproval: {
      pay: ({ to, euros }) => ({
        type: 'user-approval',
        text: `Pay ${euros} EUR to ${to}?`,
        approvers: ['finance'],
        notRequester: true,
        expiresAfterMs: 48 * 3_600_000,
      }),
    },
    mayAnswer: ({ principal, request }) =>
      request.type === 'approval-request' &&
      (request.approvers ?? []).some((name) =>
        addressesOf(name).some((each) => each === principal),
      ),
    store,
  });
}
