import { tool } from 'ai';
import {
  type ApprovalRequestContent,
  approve,
  createAgent,
  type MayAnswer,
  memoryStore,
  type ToolApprovalStatus,
} from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { pickCases } from '../support/sampling.ts';

const limits: Record<string, number> = {
  junior: 50,
  ben: 50,
  ada: 10_000,
  cleo: 10_000,
  dora: 10_000,
};
const refundInput = z.object({ euros: z.number() });
type Refund = z.infer<typeof refundInput>;

/** Who may refund how much: of what will run. */
const withinLimit: MayAnswer = ({ principal, request }) =>
  request.type === 'approval-request' &&
  refundInput.parse(request.toolCall?.input).euros <= (limits[String(principal)] ?? 0);

/** Or who is asked to answer instead. */
const inOffice: MayAnswer = (asked) =>
  withinLimit(asked) === true ||
  (asked.request.type === 'approval-request' &&
    asked.request.approvers?.includes(String(asked.principal)) === true);

type Rule = (input: Refund) => ToolApprovalStatus<Refund>;
const asking =
  (more: object = {}): Rule =>
  () => ({
    type: 'user-approval',
    text: ({ euros }) => `Refund ${euros} EUR?`,
    editable: true,
    ...more,
  });

/** A refund of Eve's that waits for an answer. */
async function refunding({
  rule = asking(),
  euros = 50,
  mayAnswer = withinLimit,
}: { rule?: Rule; euros?: number; mayAnswer?: MayAnswer } = {}) {
  const ran: unknown[] = [];
  const refund = tool({
    description: 'Refunds.',
    inputSchema: refundInput,
    execute: (input) => {
      ran.push(input);
      return 'Refunded.';
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'refund', input: { euros } }] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({
    model,
    tools: { refund },
    toolApproval: { refund: rule },
    mayAnswer,
    store: memoryStore(),
  });
  const thread = await agent.thread('t');
  await agent.run('Refund it.', thread, { principal: 'eve' });
  const shown = (): ApprovalRequestContent => {
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    return request;
  };
  return { agent, thread, ran, shown };
}

describe('an input of null', () => {
  test.each([
    ['where nothing is editable', asking({ editable: undefined })],
    ['where one field is', asking({ editable: ['euros'] })],
    ['that the schema refuses', asking()],
  ])('is refused %s, and nothing runs', async (_what, rule) => {
    const at = await refunding({ rule });
    for (const answer of [
      approve(at.shown(), { input: null }),
      { ...approve(at.shown()), input: null },
    ]) {
      const code = await errorCode(at.agent.run(answer, at.thread, { principal: 'ada' }));
      expect(code).toBe('invalid-answer');
    }
    expect(at.ran).toEqual([]);
    expect(at.shown().edit).toBeUndefined();
    await at.agent.run(approve(at.shown(), { input: undefined }), at.thread, { principal: 'ada' });
    expect(at.ran).toEqual([{ euros: 50 }]);
  });

  test('is what runs where the tool takes it', async () => {
    const ran: unknown[] = [];
    const clear = tool({
      description: 'Clears a note.',
      inputSchema: z.object({ note: z.string() }).nullable(),
      execute: (input) => {
        ran.push(input);
        return 'Cleared.';
      },
    });
    const { model } = scriptedModel([
      { calls: [{ id: 'c1', name: 'clear', input: { note: 'a' } }] },
      { text: 'Done.' },
    ]);
    const agent = createAgent({
      model,
      tools: { clear },
      toolApproval: {
        clear: { type: 'user-approval', quorum: 2, editable: true, remember: { uses: 3 } },
      },
    });
    const thread = await agent.thread('t');
    await agent.run('Clear it.', thread, { principal: 'eve' });
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    const remember = { uses: 2 };
    const answer = approve(request, { input: null, remember });
    await agent.respond(answer, thread, { principal: 'ada' });
    await agent.respond(answer, thread, { principal: 'ada' });
    const [edited] = thread.activeApprovalRequests;
    expect(edited).toMatchObject({
      toolCall: { input: null },
      edit: { original: { input: { note: 'a' } } },
      votes: [{ person: 'ada' }],
    });
    if (edited === undefined) throw new Error('Nothing is asked.');
    await agent.run(edited.approve({ remember }), thread, { principal: 'ben' });
    await agent.respond(edited.approve({ remember }), thread, { principal: 'ben' });
    expect(ran).toEqual([null]);
    expect(thread.grants).toMatchObject([{ match: { type: 'exact', input: null } }]);
  });
});

/** A part of a draft. */
function toOf(draft: unknown): unknown[] {
  const to: unknown = Reflect.get(Object(draft), 'to');
  if (!Array.isArray(to)) throw new TypeError('There is no list.');
  return to;
}

describe('an edit function', () => {
  const edits: [string, (draft: Refund) => unknown, unknown][] = [
    ['changes the draft', (draft) => void (draft.euros = 5), { euros: 5 }],
    ['changes the draft and returns the value', (draft) => (draft.euros = 5), { euros: 5 }],
    ['returns the new input', (draft) => ({ ...draft, euros: 5 }), { euros: 5 }],
    ['returns the changed draft', (draft) => Object.assign(draft, { euros: 5 }), { euros: 5 }],
    ['changes nothing', () => undefined, { euros: 50 }],
    ['assigns what is there', (draft) => (draft.euros = 50), { euros: 50 }],
  ];

  test.each(pickCases(edits, 3))('that %s', async (_what, edit, input) => {
    const at = await refunding();
    await at.agent.run(at.shown().approve({ edit }), at.thread, { principal: 'ada' });
    expect(at.ran).toEqual([input]);
  });

  const refusedEdits: [string, (draft: Refund) => unknown, RegExp][] = [
    [
      'is async',
      async (draft) => {
        draft.euros = 5;
        await Promise.resolve();
        draft.euros = 6;
      },
      /'edit' can't be async/,
    ],
    ['is async and fails', async () => Promise.reject(new Error('no')), /'edit' can't be async/],
    [
      'changes the draft and returns another input',
      (draft) => {
        draft.euros = 5;
        return { euros: 6 };
      },
      /either change the draft or return the new input/,
    ],
    ['returns a function', () => (draft: Refund) => draft, /returned a function/],
  ];

  test.each(pickCases(refusedEdits, 3))(
    'that %s is refused before anything is sent',
    async (_what, edit, why) => {
      const { shown } = await refunding();
      expect(() => shown().approve({ edit })).toThrow(why);
      expect(() => shown().approve({ edit })).toThrow(TypeError);
    },
  );

  test('of plain data neither freezes the data nor shares it with the answer', () => {
    const input = { to: ['a'], euros: 50 };
    const toolCall = { toolCallId: 'c', toolName: 't', input };
    const answer = approve(
      { requestId: 'r', toolCall },
      { edit: (draft) => Reflect.set(Object(draft), 'euros', 5) },
    );
    approve({ requestId: 'r', toolCall }, { edit: () => undefined });
    expect([input, input.to].map((part) => Object.isFrozen(part))).toEqual([false, false]);
    input.to.push('b');
    expect(answer.input).toEqual({ to: ['a'], euros: 5 });
  });

  test('that returns a part of the draft is refused: what it meant is not clear', () => {
    const request = {
      requestId: 'r',
      toolCall: { toolCallId: 'c', toolName: 't', input: { to: ['b', 'a'] } },
    };
    for (const edit of [toOf, (draft: unknown) => toOf(draft).copyWithin(0, 1)]) {
      expect(() => approve(request, { edit })).toThrow(TypeError);
    }
  });
});

describe('who may answer up to 50 euros', () => {
  test('does not edit 50 to 5,000, and approves 40 instead', async () => {
    const at = await refunding();
    const { revision } = at.thread;
    for (const answer of [
      at.shown().approve({ input: { euros: 5_000 } }),
      { ...at.shown().approve(), input: { euros: 5_000 } },
    ]) {
      const run = at.agent.run(answer, at.thread, { principal: 'junior' });
      await expect(run).rejects.toThrow("can't be answered with this edit by this principal");
      expect(await errorCode(run)).toBe('not-allowed');
    }
    expect(at.thread.revision).toBe(revision);
    await at.agent.run(at.shown().approve({ input: { euros: 40 } }), at.thread, {
      principal: 'junior',
    });
    expect(at.ran).toEqual([{ euros: 40 }]);
  });

  test('does not edit 5,000 to 50', async () => {
    const at = await refunding({ euros: 5_000 });
    const answer = at.shown().approve({ input: { euros: 50 } });
    expect(await errorCode(at.agent.run(answer, at.thread, { principal: 'junior' }))).toBe(
      'not-allowed',
    );
    expect(at.ran).toEqual([]);
  });

  test('does not approve what somebody else has edited to 5,000', async () => {
    const at = await refunding({ rule: asking({ quorum: 2 }) });
    await at.agent.respond(at.shown().approve({ input: { euros: 5_000 } }), at.thread, {
      principal: 'ada',
    });
    for (const answer of [at.shown().approve(), at.shown().approve({ input: { euros: 50 } })]) {
      expect(await errorCode(at.agent.run(answer, at.thread, { principal: 'junior' }))).toBe(
        'not-allowed',
      );
    }
    await at.agent.run(at.shown().approve(), at.thread, { principal: 'cleo' });
    expect(at.ran).toEqual([{ euros: 5_000 }]);
  });

  test('edits to 5,000 only for somebody who may, if asked to answer instead', async () => {
    const at = await refunding({ mayAnswer: inOffice });
    const { requestId } = at.shown();
    const answer = at.shown().approve({ input: { euros: 5_000 } });
    await at.agent.reassign(at.thread, requestId, 'junior', { principal: 'ben' });
    expect(await errorCode(at.agent.run(answer, at.thread, { principal: 'junior' }))).toBe(
      'not-allowed',
    );
    await at.agent.reassign(at.thread, requestId, 'junior', { principal: 'ada' });
    await at.agent.run(answer, at.thread, { principal: 'junior' });
    expect(at.ran).toEqual([{ euros: 5_000 }]);
    const answered = at.thread.events.find(({ type }) => type === 'request-answered');
    expect(answered).toMatchObject({ person: 'junior', onBehalfOf: 'ada' });
  });
});

describe('a request that was edited', () => {
  const rule = asking({ quorum: 2 });

  test('shows what will run, with the text of the rule for it, and the original beside it', async () => {
    const at = await refunding({ rule });
    const before = at.shown();
    await at.agent.respond(before.approve({ input: { euros: 60 } }), at.thread, {
      principal: 'ada',
    });
    const after = at.shown();
    expect(after).toMatchObject({
      text: 'Refund 60 EUR?',
      toolCall: { input: { euros: 60 } },
      edit: {
        original: { input: { euros: 50 }, text: 'Refund 50 EUR?', digest: before.digest },
        patches: [{ op: 'replace', path: ['euros'], value: 60 }],
        person: 'ada',
      },
    });
    expect(after.digest).not.toBe(before.digest);
    /* Another process reads the same from the log, and asks the rule nothing. */
    const text = JSON.stringify(at.thread);
    const other = createAgent({ model: scriptedModel([]).model, store: memoryStore() });
    const [read] = (await other.restore(text)).activeApprovalRequests;
    expect({ ...read }).toEqual({ ...after });
    await at.agent.run(after.approve(), at.thread, { principal: 'cleo' });
    expect(at.ran).toEqual([{ euros: 60 }]);
    expect(at.thread.decisions).toMatchObject([
      {
        request: {
          text: 'Refund 60 EUR?',
          toolCall: { input: { euros: 60 } },
          edit: { original: { input: { euros: 50 }, text: 'Refund 50 EUR?' } },
        },
      },
    ]);
  });

  test('has the default text where the rule has none for the edited input', async () => {
    const at = await refunding({
      rule: ({ euros }) =>
        euros <= 50
          ? { type: 'user-approval', text: 'A small refund?', quorum: 2, editable: true }
          : { type: 'user-approval', quorum: 2, editable: true },
    });
    await at.agent.respond(at.shown().approve({ input: { euros: 60 } }), at.thread, {
      principal: 'ada',
    });
    expect(at.shown().text).toBe('The agent wants to call refund.');
    await at.agent.respond(at.shown().approve({ input: { euros: 40 } }), at.thread, {
      principal: 'ada',
    });
    expect(at.shown().text).toBe('A small refund?');
  });

  test('whose text was changed in the log is asked again, as it would run', async () => {
    const at = await refunding({ rule });
    await at.agent.respond(at.shown().approve({ input: { euros: 60 } }), at.thread, {
      principal: 'ada',
    });
    const forged = JSON.stringify(at.thread).replaceAll('Refund 60 EUR?', 'Refund 6 EUR?');
    await at.agent.delete(at.thread);
    const thread = await at.agent.restore(rechainedJson(forged));
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    expect(request.text).toBe('Refund 6 EUR?');
    const { approvalRequests } = await at.agent.run(request.approve(), thread, {
      principal: 'cleo',
    });
    expect(at.ran).toEqual([]);
    expect(approvalRequests).toMatchObject([{ toolCall: { input: { euros: 60 } } }]);
  });

  test('is as it was asked after its editor withdraws, and no approval of the edit counts', async () => {
    const at = await refunding({ rule: asking({ quorum: 3 }) });
    const asked = { ...at.shown() };
    await at.agent.respond(at.shown().approve({ input: { euros: 60 } }), at.thread, {
      principal: 'ada',
    });
    const edited = at.shown();
    await at.agent.respond(edited.approve(), at.thread, { principal: 'cleo' });
    await at.agent.withdraw(at.thread, edited.requestId, { principal: 'ada' });
    const { wasEdited, ...shown } = at.shown();
    expect({ ...shown, votes: undefined }).toEqual({ ...asked, votes: undefined });
    expect(wasEdited).toBe(true);
    expect(at.shown().votes).toEqual([]);
    expect(at.thread.events.at(-1)).toMatchObject({ type: 'vote-withdrawn', endsEdit: true });
    expect(await errorCode(at.agent.run(edited.approve(), at.thread, { principal: 'cleo' }))).toBe(
      'answer-mismatch',
    );
    for (const principal of ['ada', 'cleo', 'ben']) {
      await at.agent.run(at.shown().approve(), at.thread, { principal });
    }
    expect(at.ran).toEqual([{ euros: 50 }]);
  });

  test('stays edited when somebody else withdraws', async () => {
    const at = await refunding({ rule: asking({ quorum: 3 }) });
    await at.agent.respond(at.shown().approve({ input: { euros: 60 } }), at.thread, {
      principal: 'ada',
    });
    await at.agent.respond(at.shown().approve(), at.thread, { principal: 'cleo' });
    await at.agent.withdraw(at.thread, at.shown().requestId, { principal: 'cleo' });
    expect(at.shown()).toMatchObject({
      toolCall: { input: { euros: 60 } },
      votes: [{ person: 'ada' }],
    });
  });

  test('is as it was asked once its editor may no longer answer: an approval of the edit runs nothing', async () => {
    const isThere = { ada: true };
    const at = await refunding({
      rule,
      mayAnswer: (asked) =>
        withinLimit(asked) === true && (asked.principal !== 'ada' || isThere.ada),
    });
    await at.agent.respond(at.shown().approve({ input: { euros: 60 } }), at.thread, {
      principal: 'ada',
    });
    isThere.ada = false;
    await at.agent.run(at.shown().approve(), at.thread, { principal: 'cleo' });
    expect(at.ran).toEqual([]);
    expect(at.shown()).toMatchObject({
      text: 'Refund 50 EUR?',
      toolCall: { input: { euros: 50 } },
      votes: [],
    });
    /* Their own edit is of the request as it was asked. */
    await at.agent.respond(at.shown().approve({ input: { euros: 70 } }), at.thread, {
      principal: 'cleo',
    });
    expect(at.shown()).toMatchObject({ text: 'Refund 70 EUR?', votes: [{ person: 'cleo' }] });
  });

  test('expires as it was asked, and is asked again like that', async () => {
    const clock = { now: 1_000_000 };
    const { model } = scriptedModel([
      { calls: [{ id: 'c1', name: 'refund', input: { euros: 50 } }] },
    ]);
    const refund = tool({
      description: 'Refunds.',
      inputSchema: refundInput,
      execute: () => 'Refunded.',
    });
    const agent = createAgent({
      model,
      tools: { refund },
      toolApproval: { refund: asking({ quorum: 2, expiresAfterMs: 1_000, onExpiry: 'ask-again' }) },
      now: () => clock.now,
    });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Refund it.', thread, { principal: 'eve' });
    await agent.respond(
      approvalRequests.map((request) => approve(request, { input: { euros: 60 } })),
      thread,
      { principal: 'ada' },
    );
    clock.now += 2_000;
    await agent.run([], thread);
    const [again] = thread.activeApprovalRequests;
    expect(again).toMatchObject({
      follows: expect.any(String),
      text: 'Refund 50 EUR?',
      toolCall: { input: { euros: 50 } },
    });
    expect(again?.edit).toBeUndefined();
  });

  test('by a single approver is decided for the edited input, also if it is asked twice', async () => {
    const at = await refunding();
    const answer = at.shown().approve({ input: { euros: 60 } });
    await at.agent.run(answer, at.thread, { principal: 'ada' });
    await at.agent.run(answer, at.thread, { principal: 'ada' });
    await at.agent.respond({ ...answer, toolCall: undefined, digest: undefined }, at.thread);
    const code = await errorCode(
      at.agent.respond({ ...answer, input: { euros: 50 } }, at.thread, { principal: 'ada' }),
    );
    expect(code).toBe('already-answered');
    expect(at.ran).toEqual([{ euros: 60 }]);
    expect(at.thread.decisions).toMatchObject([{ request: { text: 'Refund 60 EUR?' } }]);
    expect(at.thread.calls[0]).toMatchObject({
      input: { euros: 60 },
      edit: { original: { euros: 50 } },
    });
  });
});
