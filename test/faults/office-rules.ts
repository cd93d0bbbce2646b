import { tool } from 'ai';
import { type createAgent, later } from 'holdpoint';
import type { Effect, Judgement } from './audit-people.ts';
import { demands, isEntitled, paymentSchema, whoIs } from './shared-people.ts';

type MayAnswer = NonNullable<Parameters<typeof createAgent>[0]['mayAnswer']>;

interface Circumstances {
  toolCallId: string;
  runtimeContext: Record<string, unknown>;
  requesters: readonly unknown[];
}

/** The tools of the office, which note what they do. */
export function officeTools(effects: Effect[]) {
  const execute = async (input: unknown, options: { toolCallId: string }): Promise<string> => {
    effects.push({ input, toolCallId: options.toolCallId });
    return 'done';
  };
  const pay = tool({ inputSchema: paymentSchema, execute });
  const trip = tool({ inputSchema: paymentSchema, execute: async () => later });
  return { pay, refund: pay, wire: pay, post: pay, note: pay, bonus: pay, gift: pay, trip };
}

/** The rules of the office, which note what they were told. */
export function officeRules(judgements: Judgement[]) {
  const judge = (role: unknown, { toolCallId, requesters }: Circumstances) => {
    const people = requesters.map(whoIs);
    judgements.push({ toolCallId, role, requesters: people });
    return people;
  };
  return {
    ...demands,
    bonus: (_input: unknown, options: Circumstances) => {
      const role = options.runtimeContext['role'];
      judge(role, options);
      return role === 'admin' ? ('approved' as const) : demands.bonus;
    },
    gift: (_input: unknown, options: Circumstances) =>
      judge(undefined, options).every((person) => person === 'cleo')
        ? ('approved' as const)
        : demands.gift,
  };
}

/** Whether the office lets somebody answer a request. */
export function mayAnswer({ principal, request }: Parameters<MayAnswer>[0]): boolean {
  const person = whoIs(principal);
  if (request.type === 'question-request' || person === undefined) return false;
  return isEntitled(person, request.toolCall?.input);
}
