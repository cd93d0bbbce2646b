import { tool } from 'ai';
import { type ApprovalRequest, type MayAnswer, memoryStore, type TraceMessage } from 'holdpoint';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { heldWorld } from '../middleware/held-world.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { listenToAll } from '../telemetry/listen.ts';
import { peoplesChannels } from './people-channels.ts';
import { pickCases } from '../support/sampling.ts';

const limits: Record<string, number> = { jo: 50, ada: 10_000, cleo: 10_000 };

/** Who may refund how much: of what will run. */
const withinLimit: MayAnswer = ({ principal, request }) =>
  Number(Object(request.toolCall?.input).euros) <= (limits[String(principal)] ?? 0);

/** A rule for another tool: this one has `euros`. */
const aboveAnAmount = (input: { amount?: number }) =>
  Number(input.amount) > 100 ? ('user-approval' as const) : ('approved' as const);

const remembered = {
  type: 'user-approval',
  remember: { scope: 'everyone', match: 'exact' },
} as const;

function refunding(id: string): ScriptedStep {
  return { calls: [{ id, name: 'refund', input: { euros: 50 } }] };
}

function isSettingFailed({ type }: TraceMessage): boolean {
  return type === 'setting-failed';
}

/** An agent that refunds 50 euros, with a rule and people. */
function refunds(options: Parameters<typeof heldWorld>[1], more: ScriptedStep[] = []) {
  const paid: unknown[] = [];
  const refund = tool({
    inputSchema: z.object({ euros: z.number() }),
    execute: async (input) => {
      paid.push(input);
      return 'Refunded.';
    },
  });
  const played = scriptedModel([refunding('c1'), { text: 'Done.' }, ...more]);
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

describe.each(pickCases(peoplesChannels, 2))('through $name', ({ open }) => {
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

  test("with a rule whose object is invalid Eve's call fails, and the warning says which setting", async () => {
    using heard = listenToAll();
    const at = refunds({ toolApproval: { refund: () => ({ type: 'user-approval', quorum: 0 }) } });
    await open(at).say('eve', 'Refund it.');
    const { calls, activeRequests } = await at.agent.thread('t');
    expect([calls, activeRequests]).toMatchObject([[{ status: 'failed' }], []]);
    expect(at.paid).toEqual([]);
    expect(heard.messages.filter(isSettingFailed)).toMatchObject([
      { setting: 'toolApproval.refund', kind: 'invalid', toolCallId: 'c1' },
    ]);
    const warned = String(vi.mocked(console.warn).mock.calls);
    expect(warned).toMatch(/toolApproval\.refund.*quorum/s);
  });

  test('Cleo has later refunds approved; Ada takes that back under her name, and the next one is asked about', async () => {
    const at = refunds({ name: 'shop', toolApproval: { refund: remembered } }, [
      refunding('c2'),
      { text: 'Done again.' },
      refunding('c3'),
    ]);
    const { say, approve } = open(at);
    await say('eve', 'Refund it.');
    expect(await approve('cleo', await at.request(), { remember: true })).toBe(undefined);
    await say('eve', 'Refund it again.');
    expect(at.paid).toHaveLength(2);
    const [grant, ...others] = await at.agent.grants();
    if (grant === undefined || others.length > 0) throw new Error('There is not one.');
    expect(grant).toMatchObject({ principal: 'cleo', scope: 'everyone' });
    await at.agent.revoke(grant, { principal: 'ada', channel: 'desk' });
    expect((await at.agent.thread('t')).events.at(-1)).toMatchObject({
      type: 'grant-revoked',
      grantId: grant.grantId,
      principal: 'ada',
      channel: 'desk',
    });
    await say('eve', 'And once more.');
    expect((await at.request()).toolCall?.toolCallId).toBe('c3');
    expect(at.paid).toHaveLength(2);
  });

  test('a second yes of Cleo that is to decide later refunds is refused: nothing of it is recorded', async () => {
    const at = refunds({ name: 'shop', toolApproval: { refund: remembered } }, [refunding('c2')]);
    const { say, approve } = open(at);
    await say('eve', 'Refund it.');
    const request = await at.request();
    expect(await approve('cleo', request)).toBe(undefined);
    const { revision } = await at.agent.thread('t');
    expect(await approve('cleo', request, { remember: true })).toBe('already-answered');
    expect((await at.agent.thread('t')).revision).toBe(revision);
    expect(await at.agent.grants()).toEqual([]);
    await say('eve', 'Refund it again.');
    expect((await at.request()).toolCall?.toolCallId).toBe('c2');
    expect(at.paid).toHaveLength(1);
  });

  test("of two who must approve, Ada can't reject later refunds; her plain rejection decides alone", async () => {
    const at = refunds({
      name: 'shop',
      toolApproval: { refund: { ...remembered, quorum: 2 } },
    });
    const { say, approve, reject } = open(at);
    await say('eve', 'Refund it.');
    expect(await approve('cleo', await at.request())).toBe(undefined);
    const { revision } = await at.agent.thread('t');
    expect(await reject('ada', await at.request(), { remember: true })).toBe('invalid-answer');
    expect((await at.agent.thread('t')).revision).toBe(revision);
    expect(await reject('ada', await at.request())).toBe(undefined);
    const { decisions, activeRequests } = await at.agent.thread('t');
    expect(decisions).toMatchObject([{ status: 'rejected', principal: 'ada' }]);
    expect(activeRequests).toEqual([]);
    expect(await at.agent.grants()).toEqual([]);
    expect(at.paid).toEqual([]);
  });
});
