import { tool } from 'ai';
import { type ApprovalRequest, type MayAnswer, memoryStore } from 'holdpoint';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { heldWorld } from '../middleware/held-world.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { peoplesChannels } from './people-channels.ts';

const limits: Record<string, number> = { jo: 50, ada: 10_000, cleo: 10_000 };

/** Who may refund how much: of what will run. */
const withinLimit: MayAnswer = ({ principal, request }) =>
  Number(Object(request.toolCall?.input).euros) <= (limits[String(principal)] ?? 0);

/** A rule for another tool: this one has `euros`. */
const aboveAnAmount = (input: { amount?: number }) =>
  Number(input.amount) > 100 ? ('user-approval' as const) : ('approved' as const);

/** An agent that refunds 50 euros, with a rule and people. */
function refunds(options: Parameters<typeof heldWorld>[1]) {
  const paid: unknown[] = [];
  const refund = tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'Refunded.';
    },
  });
  const played = scriptedModel([
    { calls: [{ id: 'c1', name: 'refund', input: { euros: 50 } }] },
    { text: 'Done.' },
  ]);
  const at = heldWorld(played, { tools: { refund }, store: memoryStore(), ...options });
  const request = async (): Promise<ApprovalRequest> => {
    const [first] = (await at.agent.thread('t')).activeRequests;
    if (first?.type !== 'approval-request') throw new Error('Nothing is asked.');
    return first;
  };
  return { ...at, paid, request };
}

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(peoplesChannels)('through $name', ({ open }) => {
  test('a rule that reads a field which its tool does not have asks Ada, and says which', async () => {
    const at = refunds({ toolApproval: { refund: aboveAnAmount } });
    const { say, approve } = open(at);
    await say('eve', 'Refund it.');
    expect(at.paid).toEqual([]);
    const asked = await at.request();
    expect(asked.reason).toContain('amount');
    expect(await approve('ada', asked)).toBe(undefined);
    expect(at.paid).toHaveLength(1);
  });

  test('Jo, who may approve up to 50, neither edits to 5,000 nor approves what Ada has edited to it; Cleo does', async () => {
    const rule = { type: 'user-approval', quorum: 2, editable: true } as const;
    const at = refunds({ toolApproval: { refund: rule }, mayAnswer: withinLimit });
    const { say, approve } = open(at);
    await say('eve', 'Refund it.');
    const input = { euros: 5_000 };
    expect(await approve('jo', await at.request(), { input })).toBe('not-allowed');
    expect((await at.request()).votes ?? []).toEqual([]);
    expect(await approve('ada', await at.request(), { input })).toBe(undefined);
    expect(await at.request()).toMatchObject({
      toolCall: { input },
      edit: { original: { input: { euros: 50 } }, person: 'ada' },
    });
    expect(await approve('jo', await at.request())).toBe('not-allowed');
    expect(await approve('jo', await at.request(), { input: { euros: 7 } })).toBe('not-allowed');
    expect(at.paid).toEqual([]);
    expect(await approve('cleo', await at.request())).toBe(undefined);
    expect(at.paid).toEqual([input]);
  });
});
