import { answerMessage, approvalRequestsOf } from 'holdpoint/middleware';
import { agentTool } from 'holdpoint/tools';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { book } from '../support/travel-world.ts';
import { forOwners, only, quorum, subjectOf, votersOf } from '../tools/payment-desk.ts';
import { type Got, ofThread, scriptedWorld, type Way, ways } from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const minute = 60_000;

/** An app's own loop behind `holdPoint`, in which Eve has a buyer pay. */
async function office(
  way: Way,
  buyerOptions: Parameters<AgentOffice['payer']>[2] = {},
  limit: { expiresAfterMs?: number } = {},
) {
  const clock = { now: 1_800_000_000_000 };
  const now = (): number => clock.now;
  const below = new AgentOffice();
  const script = [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }];
  const toolApproval = { pay: quorum };
  const buyer = below.payer('buyer', script, { now, toolApproval, ...buyerOptions });
  const tools = { buy: agentTool(buyer, { description: 'Buys.', ...limit }) };
  const calls = [ask('b1', 'buy', 'Pay Ann.')];
  const { store } = below;
  const options = { tools, toolApproval: {}, store, now };
  const world = scriptedWorld([{ calls }, { text: 'Done.' }], options);
  const send = async (
    principal: unknown,
    content?: Parameters<typeof answerMessage>,
  ): Promise<Got> =>
    way.ask({
      model: world.model,
      messages: [
        content === undefined ? { role: 'user', content: 'Pay Ann.' } : answerMessage(...content),
      ],
      ...ofThread('t', { principal }),
    });
  const asked = await send('Eve');
  /** Somebody approves what a reply has shown. */
  const approve = async (principal: unknown, shown: Got): Promise<Got> =>
    send(
      principal,
      approvalRequestsOf(shown).map((request) => request.approve()),
    );
  return { clock, asked, approve, payments: below.payments, agent: world.agent };
}

/** Who has voted, as a reply shows it. */
function shownVoters(shown: Got): string[][] {
  return approvalRequestsOf(shown).map(votersOf);
}

describe.each(pickCases(ways))("a sub-agent's quorum behind holdPoint, with $name", (way) => {
  test('Ada votes and leaves, Ben votes: each reply asks again with the votes that count, until Cem votes', async () => {
    const people = new Set(['Ada', 'Ben', 'Cem']);
    const at = await office(way, { mayAnswer: only(people) });
    const ada = await at.approve('Ada', at.asked);
    expect(shownVoters(ada)).toEqual([['Ada']]);
    people.delete('Ada');
    const ben = await at.approve('Ben', ada);
    expect(shownVoters(ben)).toEqual([['Ben']]);
    expect(await errorCode(at.approve('Ada', ben))).toBe('not-allowed');
    expect(shownVoters(await at.approve('Ben', ben))).toEqual([['Ben']]);
    expect(at.payments).toEqual([]);
    expect(await at.approve('Cem', ben)).toMatchObject({ text: 'Done.', finishReason: 'stop' });
    expect(at.payments).toHaveLength(1);
  });

  test('Ada has one vote from two sessions, as the sub-agent tells people apart, and Ben’s decides', async () => {
    const at = await office(way, { principalId: subjectOf });
    const first = await at.approve({ sub: 'Ada', id: 'one' }, at.asked);
    const second = await at.approve({ sub: 'Ada', id: 'two' }, first);
    expect(shownVoters(second)).toEqual([['Ada']]);
    await at.approve({ sub: 'Ben', id: 'three' }, second);
    expect(at.payments).toHaveLength(1);
  });

  test('the request has the deadline of the agent tool, and Ada’s yes ten seconds later is refused', async () => {
    const toolApproval = { pay: 'user-approval' } as const;
    const at = await office(way, { toolApproval }, { expiresAfterMs: minute });
    expect(approvalRequestsOf(at.asked)).toMatchObject([{ expiresAt: at.clock.now + minute }]);
    at.clock.now += minute + 10_000;
    expect(await errorCode(at.approve('Ada', at.asked))).toBe('request-closed');
    const thread = await at.agent.thread('t');
    await at.agent.run([], thread);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(thread.decisions).toMatchObject([{ status: 'expired' }]);
    expect(at.payments).toEqual([]);
  });
});

describe('a call about which nobody could answer, behind holdPoint', () => {
  beforeEach(() => {
    vi.spyOn(console, 'warn').mockReturnValue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each(ways)('fails in the reply itself, which asks nothing, with $name', async (way) => {
    const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }];
    const { model, ran, played } = scriptedWorld(script, { toolApproval: { book: forOwners } });
    const messages = [{ role: 'user' as const, content: 'Book' }];
    const reply = await way.ask({ model, messages, ...ofThread('t', { principal: 'Ada' }) });
    expect(reply).toMatchObject({ text: 'Not booked.', finishReason: 'stop' });
    expect(approvalRequestsOf(reply)).toEqual([]);
    expect(JSON.stringify(reply.content)).toContain('no mayAnswer');
    expect(JSON.stringify(played.prompts[1])).toContain('no mayAnswer');
    expect(String(vi.mocked(console.warn).mock.calls)).toContain('toolApproval.book');
    expect(ran).toEqual([]);
  });
});
