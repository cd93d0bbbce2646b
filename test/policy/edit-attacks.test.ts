import { tool } from 'ai';
import { createAgent, type ToolApprovalStatus } from 'holdpoint';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { answeredBy, askedInOffice } from './office.ts';
import { pickCases } from '../support/sampling.ts';

const editable = { type: 'user-approval', editable: true } as const;

/** A thread in which ann's payment of 500 waits, with a tool that takes any input its schema does not refuse. */
async function payment(
  toolApproval: (input: { euros: number }) => ToolApprovalStatus,
  inputSchema: z.ZodType = z.looseObject({ to: z.string(), euros: z.number() }),
) {
  const ran: unknown[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema,
    execute: (input: unknown) => {
      ran.push(input);
      return 'Paid.';
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: { to: 'ACME', euros: 500 } }] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({
    model,
    tools: { pay },
    toolApproval: ({ toolCall }) =>
      toolApproval(z.object({ euros: z.number() }).parse(toolCall.input)),
    mayAnswer: answeredBy({ owners: ['bob', 'cy'], chiefs: ['dee'] }),
  });
  const thread = await agent.thread('t');
  const [request] = (await agent.run('Pay', thread, { principal: 'ann' })).approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { agent, thread, request, ran };
}

/** Row 30: an approval may not change what the rules demand for what runs. */
afterEach(() => {
  vi.restoreAllMocks();
});

describe('an edited input for which the rule demands more is asked about again:', () => {
  const more: [string, ToolApprovalStatus][] = [
    ['other approvers', { ...editable, approvers: ['chiefs'] }],
    ['a quorum', { ...editable, approvers: ['owners'], quorum: 2 }],
    [
      'somebody else than the requester',
      { ...editable, approvers: ['owners'], notRequester: true },
    ],
    ['a reason', { ...editable, approvers: ['owners'], requireReason: true }],
    ['a higher risk', { ...editable, approvers: ['owners'], risk: 'critical' }],
  ];

  test.each(pickCases(more, 3))('%s', async (_what, status) => {
    const { agent, thread, request, ran } = await payment(({ euros }) =>
      euros > 1_000 ? status : { ...editable, approvers: ['owners'] },
    );
    const input = { to: 'ACME', euros: 50_000 };
    const asked = await agent.run(request.approve({ input }), thread, { principal: 'bob' });
    expect(ran).toEqual([]);
    expect(asked.status).toBe('waiting');
    const [next] = asked.approvalRequests;
    expect(next?.requestId).not.toBe(request.requestId);
    expect(next).toMatchObject({
      ...(typeof status === 'object' ? { ...status, type: 'approval-request' } : {}),
      toolCall: { input },
    });
    /* The first person's approval does not count for it. */
    expect(next?.votes).toBeUndefined();
  });

  test('and runs exactly as the right people approved it', async () => {
    const { agent, thread, request, ran } = await payment(({ euros }) =>
      euros > 1_000
        ? { ...editable, approvers: ['chiefs'] }
        : { ...editable, approvers: ['owners'] },
    );
    const input = { to: 'ACME', euros: 50_000 };
    const [next] = (await agent.run(request.approve({ input }), thread, { principal: 'bob' }))
      .approvalRequests;
    if (next === undefined) throw new Error('Nothing was asked.');
    expect(await errorCode(agent.run(next.approve(), thread, { principal: 'bob' }))).toBe(
      'not-allowed',
    );
    expect((await agent.run(next.approve(), thread, { principal: 'dee' })).status).toBe(
      'completed',
    );
    expect(ran).toEqual([input]);
  });

  test('and edited again, keeps what the model asked for and every change', async () => {
    const { agent, thread, request, ran } = await payment(({ euros }) =>
      euros > 1_000
        ? { ...editable, approvers: ['chiefs'] }
        : { ...editable, approvers: ['owners'] },
    );
    const edit = { input: { to: 'ACME', euros: 50_000 } };
    const [next] = (await agent.run(request.approve(edit), thread, { principal: 'bob' }))
      .approvalRequests;
    if (next === undefined) throw new Error('Nothing was asked.');
    const input = { to: 'Bolt', euros: 40_000 };
    await agent.run(next.approve({ input }), thread, { principal: 'dee' });
    expect(ran).toEqual([input]);
    expect(thread.calls[0]?.edit).toEqual({
      original: { to: 'ACME', euros: 500 },
      patches: [
        { op: 'replace', path: ['euros'], value: 50_000 },
        { op: 'replace', path: ['to'], value: 'Bolt' },
        { op: 'replace', path: ['euros'], value: 40_000 },
      ],
      person: 'dee',
      principal: 'dee',
    });
  });

  test('a rule that denies it wins', async () => {
    const { agent, thread, request, ran } = await payment(({ euros }) =>
      euros > 1_000 ? 'denied' : { ...editable, approvers: ['owners'] },
    );
    const input = { to: 'ACME', euros: 50_000 };
    await agent.run(request.approve({ input }), thread, { principal: 'bob' });
    expect(ran).toEqual([]);
    expect(thread.calls).toMatchObject([{ status: 'denied' }]);
  });

  test('an edit within the same terms runs at once', async () => {
    const { agent, thread, request, ran } = await payment(() => ({
      ...editable,
      approvers: ['owners'],
      metadata: { at: Math.random() },
    }));
    const input = { to: 'ACME', euros: 50 };
    await agent.run(request.approve({ input }), thread, { principal: 'bob' });
    expect(ran).toEqual([input]);
  });
});

describe('an edited input that readers understand differently is refused, and changes nothing:', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  const euros = 500;
  const odd: [string, unknown][] = [
    ['NaN', { to: 'ACME', euros: Number.NaN }],
    ['infinity', { to: 'ACME', euros: Infinity }],
    ['an integer that is not safe', { to: 'ACME', euros: 2 ** 53 }],
    ['half of a surrogate pair', { to: '\uD800', euros }],
    ['undefined in a list', { to: 'ACME', euros, more: [undefined] }],
    ['a date', { to: 'ACME', euros, more: new Date(0) }],
    ['a map', { to: 'ACME', euros, more: new Map([[1, 2]]) }],
    ['a bigint', { to: 'ACME', euros, more: 1n }],
    ['a function', { to: 'ACME', euros, more: () => 1 }],
    ['a __proto__ key', JSON.parse('{"to":"ACME","euros":500,"__proto__":{"admin":true}}')],
    ['a deep value', { to: 'ACME', euros, more: nested(70) }],
    ['a long value', { to: 'ACME', euros, more: 'x'.repeat(300_000) }],
  ];

  test.each(pickCases(odd, 3))('%s', async (_what, input) => {
    const { agent, thread, request, ran } = await payment(() => editable, z.any());
    const { revision } = thread;
    const answer: unknown = { ...request.approve(), input };
    // @ts-expect-error -- what a client may send
    expect(await errorCode(agent.run(answer, thread, { principal: 'bob' }))).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
    expect(ran).toEqual([]);
    await agent.run(request.approve(), thread, { principal: 'bob' });
    expect(ran).toEqual([{ to: 'ACME', euros: 500 }]);
  });
});

describe('an edit changes the input and nothing else:', () => {
  test.each([
    ['the tool', { toolCallId: 'c1', toolName: 'look', input: { city: 'Paris' } }],
    ['the id of the call', { toolCallId: 'c2', toolName: 'book', input: { city: 'Paris' } }],
    [
      'the input in place of `input`',
      { toolCallId: 'c1', toolName: 'book', input: { city: 'Rome' } },
    ],
  ])('%s', async (_what, toolCall) => {
    const { agent, thread, request, ran } = await askedInOffice(editable);
    const { revision } = thread;
    expect(await errorCode(agent.run({ ...request.approve(), toolCall }, thread))).toBe(
      'answer-mismatch',
    );
    expect(thread.revision).toBe(revision);
    expect(ran).toEqual([]);
  });

  test.each([['price'], ['__proto__'], ['toString']])(
    'of the fields, only those that the rule names (%s)',
    async (field) => {
      /* A rule that is a function may name fields that the tool doesn't have. */
      vi.spyOn(console, 'warn').mockReturnValue();
      const { agent, thread, request, ran } = await askedInOffice(() => ({
        type: 'user-approval',
        editable: [field],
      }));
      const answer = request.approve({ input: { city: 'Rome' } });
      expect(await errorCode(agent.run(answer, thread))).toBe('invalid-answer');
      expect(ran).toEqual([]);
    },
  );

  test('a rejection with an input is refused', async () => {
    const { agent, thread, request } = await askedInOffice(editable);
    const answer = { ...request.reject('no'), input: { city: 'Rome' } };
    expect(await errorCode(agent.run(answer, thread))).toBe('invalid-answer');
  });

  test('what somebody approved before an edit does not count for the edited input', async () => {
    const { agent, thread, request, ran } = await askedInOffice({ ...editable, quorum: 3 });
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    await agent.respond(request.approve(), thread, { principal: 'cy' });
    const edited = await agent.run(request.approve({ input: { city: 'Rome' } }), thread, {
      principal: 'dee',
    });
    expect(edited.status).toBe('waiting');
    expect(edited.approvalRequests[0]?.votes).toHaveLength(1);
    expect(ran).toEqual([]);
  });

  test('an edit back to the first input does not bring the first votes back', async () => {
    const { agent, thread, request, ran } = await askedInOffice({ ...editable, quorum: 2 });
    await agent.respond(request.approve(), thread, { principal: 'bob' });
    await agent.respond(request.approve({ input: { city: 'Rome' } }), thread, { principal: 'cy' });
    const [edited] = thread.activeApprovalRequests;
    if (edited === undefined) throw new Error('It was closed.');
    const back = await agent.run(edited.approve({ input: { city: 'Paris' } }), thread, {
      principal: 'cy',
    });
    expect(back.status).toBe('waiting');
    expect(back.approvalRequests[0]?.votes?.map(({ person }) => person)).toEqual(['cy']);
    expect(ran).toEqual([]);
  });
});
