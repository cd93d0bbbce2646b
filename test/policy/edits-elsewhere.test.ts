import { jsonSchema, tool } from 'ai';
import {
  type AgentOptions,
  type ApprovalRequest,
  createAgent,
  memoryStore,
  type ThreadStore,
} from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { watchRows } from '../support/watched-rows.ts';
import { pickCases } from '../support/sampling.ts';

const rule = { type: 'user-approval', editable: true } as const;
const input = { order: 'A-17', euros: 500 };
const plain = z.object({ order: z.string(), euros: z.number().max(1_000) });

/** An inbox without tools and without rules, on the same store: another process. */
function inboxOn(store: ThreadStore, options: Partial<AgentOptions> = {}) {
  const { model } = scriptedModel([]);
  return createAgent({ model, name: 'shop', store, ...options });
}

/** A thread in which ann's refund waits, the agent with the tool, and the inbox. */
async function refund(
  inputSchema: z.ZodType = plain,
  { toolApproval = { refund: rule } }: Pick<AgentOptions, 'toolApproval'> = {},
) {
  const watched = watchRows();
  const { store } = watched;
  const ran: unknown[] = [];
  const tools = {
    refund: tool({
      description: 'Refunds an order.',
      inputSchema,
      execute: (given: unknown) => {
        ran.push(given);
        return 'Refunded.';
      },
    }),
  };
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'refund', input }] },
    { text: 'They got it.' },
  ]);
  const worker = createAgent({ model, name: 'shop', store, tools, toolApproval });
  const working = await worker.thread('t');
  await worker.run('Refund A-17.', working, { principal: 'ann' });
  const inbox = inboxOn(store);
  const thread = await inbox.thread('t');
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { store, watched, ran, worker, working, inbox, thread, request };
}

const by = { principal: 'ben' };

describe('a process without the tool', () => {
  test('takes an edit that fits the schema of the request, and the worker runs it', async () => {
    const { ran, worker, working, inbox, thread, request } = await refund();
    expect(request.inputSchema).toMatchObject({ properties: { euros: { maximum: 1_000 } } });
    expect(await inbox.rights(thread, by)).toMatchObject([{ mayAnswer: true, mayEdit: true }]);
    const edited = { ...input, euros: 50 };
    await inbox.respond(request.approve({ input: edited }), thread, by);
    expect(ran).toEqual([]);
    expect((await worker.run([], working)).status).toBe('completed');
    expect(ran).toEqual([edited]);
  });

  test.each([
    ['too much', { ...input, euros: 5_000 }],
    ['a text for a number', { ...input, euros: '50' }],
    ['nothing', {}],
    ['a field that the tool does not have', { ...input, iban: 'DE00' }],
  ])('refuses one that does not, and the request stays open: %s', async (_what, edited) => {
    const { ran, worker, working, inbox, thread, request } = await refund();
    const { revision } = thread;
    const answer = request.approve({ input: edited });
    expect(await errorCode(inbox.respond(answer, thread, by))).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
    await worker.run(request.approve(), working, by);
    expect(ran).toEqual([input]);
  });

  test('keeps to the fields that may be edited', async () => {
    const toolApproval = { refund: { ...rule, editable: ['euros'] } };
    const { inbox, thread, request } = await refund(plain, { toolApproval });
    const answer = request.approve({ input: { ...input, order: 'B-1' } });
    expect(await errorCode(inbox.respond(answer, thread, by))).toBe('invalid-answer');
  });

  test('can not take an edit of a request without a schema', async () => {
    const { store, worker, working, request: asked } = await refund();
    const json = rechainedJson(
      JSON.stringify(working).replace(`,"inputSchema":${JSON.stringify(asked.inputSchema)}`, ''),
    );
    await worker.delete(working);
    const inbox = inboxOn(store);
    const thread = await inbox.restore(json);
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    expect(request.inputSchema).toBeUndefined();
    expect(await inbox.rights(thread, by)).toMatchObject([{ mayAnswer: true, mayEdit: false }]);
    const answer = request.approve({ input: { ...input, euros: 50 } });
    expect(await errorCode(inbox.respond(answer, thread, by))).toBe('missing-tool');
  });
});

describe('the worker does not run an edit that its tool does not take:', () => {
  const refusing: [string, z.ZodType][] = [
    [
      'a rule that JSON Schema can not express',
      plain.refine(({ euros }) => euros % 2 === 0, 'must be even'),
    ],
    [
      'an input that makes its validation throw',
      plain.refine(({ euros }) => {
        if (euros === 51) throw new Error('No such rate.');
        return true;
      }),
    ],
  ];

  test.each(pickCases(refusing, 3))(
    '%s fails the call, and the model reads why',
    async (_what, schema) => {
      const { ran, worker, working, inbox, thread, request } = await refund(schema);
      await inbox.respond(request.approve({ input: { ...input, euros: 51 } }), thread, by);
      expect((await worker.run([], working)).status).toBe('completed');
      expect(ran).toEqual([]);
      expect(working.calls).toMatchObject([{ status: 'failed', edit: { original: input } }]);
      expect(JSON.stringify(working.calls[0]?.outcome)).toContain('refuses the input');
      expect(working.decisions).toMatchObject([{ status: 'invalidated' }]);
    },
  );

  test('an input that the tool would change is asked about again as the tool makes it', async () => {
    const schema = z.object({ order: z.string().trim(), euros: z.number() });
    const { ran, worker, working, inbox, thread, request } = await refund(schema);
    await inbox.respond(request.approve({ input: { ...input, order: ' A-17 ' } }), thread, by);
    const asked = await worker.run([], working);
    expect([asked.status, ran]).toEqual(['waiting', []]);
    const [again] = asked.approvalRequests;
    if (again === undefined) throw new Error('Nothing is asked.');
    const made = { ...input, order: 'A-17' };
    expect(again).toMatchObject({ editable: true, toolCall: { input: made } });
    await worker.run(again.approve(), working, by);
    expect(ran).toEqual([made]);
    expect(working.calls[0]?.edit?.original).toEqual(input);
  });
});

const mayAnswer: AgentOptions['mayAnswer'] = ({ principal, request }) =>
  request.type === 'approval-request' && request.approvers?.includes(String(principal)) === true;

describe('an edited input that is asked about again is on the terms that the rule has for it:', () => {
  const even = z.object({ euros: z.number().transform((euros) => euros - (euros % 2)) });
  const toolApproval: AgentOptions['toolApproval'] = {
    refund: ({ euros }: { euros: number }) => ({
      type: 'user-approval',
      editable: true,
      approvers: [euros > 600 ? 'cfo' : 'clerk'],
    }),
  };
  const ran: unknown[] = [];
  const execute = (given: unknown): void => void ran.push(given);

  /** The clerk edits a refund of 500 in an inbox; then a worker looks at it whose tool has this description. */
  async function editedByClerk(edited: { euros: number }, description: string) {
    ran.length = 0;
    const store = memoryStore();
    const work = (described: string) => {
      const tools = { refund: tool({ description: described, inputSchema: even, execute }) };
      const call = { id: 'c1', name: 'refund', input: { euros: 500 } };
      const { model } = scriptedModel(described === 'Refunds.' ? [{ calls: [call] }] : []);
      return createAgent({ model, name: 'shop', store, tools, toolApproval, mayAnswer });
    };
    const first = work('Refunds.');
    const { approvalRequests } = await first.run('Refund.', await first.thread('t'));
    const inbox = inboxOn(store, { mayAnswer });
    const answers = approvalRequests.map((request) => request.approve({ input: edited }));
    await inbox.respond(answers, await inbox.thread('t'), { principal: 'clerk' });
    const worker = work(description);
    const thread = await worker.thread('t');
    const [again] = (await worker.run([], thread)).approvalRequests;
    if (again === undefined) throw new Error('Nothing is asked.');
    return { worker, thread, again };
  }

  test.each([
    ['the tool makes another value of it', { euros: 701 }, 'Refunds.'],
    ['the tool has changed', { euros: 700 }, 'Refunds money.'],
  ])('%s', async (_what, edited, description) => {
    const { worker, thread, again } = await editedByClerk(edited, description);
    expect(again).toMatchObject({ approvers: ['cfo'], toolCall: { input: { euros: 700 } } });
    const answering = worker.run(again.approve(), thread, { principal: 'clerk' });
    expect(await errorCode(answering)).toBe('not-allowed');
    expect(ran).toEqual([]);
  });
});

describe('a schema that somebody forged changes nothing:', () => {
  const everything = {};
  const edited = { ...input, euros: 5_000 };
  const forge = (text: string, { inputSchema }: ApprovalRequest): string =>
    text.replace(JSON.stringify(inputSchema), JSON.stringify(everything));

  test('in an answer', async () => {
    const { inbox, thread, request, ran } = await refund();
    const { revision } = thread;
    const answer: unknown = { ...request.approve({ input: edited }), inputSchema: everything };
    // @ts-expect-error -- what a client may send
    expect(await errorCode(inbox.respond(answer, thread, by))).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
    expect(ran).toEqual([]);
  });

  test('in a row', async () => {
    const { inbox, thread, request, watched } = await refund();
    watched.forge = (row) => ({ ...row, text: forge(row.text ?? '', request) });
    const [listed] = (await inbox.requests(by)).requests;
    if (listed?.request?.type !== 'approval-request') throw new Error('Nothing is listed.');
    expect(listed.request.inputSchema).toEqual(everything);
    const answer = listed.request.approve({ input: edited });
    expect(await errorCode(inbox.respond(answer, thread, by))).toBe('invalid-answer');
  });

  test.each([
    ['a plain yes', {}, false],
    ['an edit that the tool would take', { input: { ...input, euros: 50 } }, false],
    ['an edit that it would not', { input: edited }, true],
  ])(
    'in the log itself: the digest covers it, and %s starts nothing',
    async (_what, said, isRefused) => {
      const { store, worker, working, ran, request: asked } = await refund();
      const json = rechainedJson(forge(JSON.stringify(working), asked));
      await worker.delete(working);
      const inbox = inboxOn(store);
      const thread = await inbox.restore(json);
      const [request] = thread.activeApprovalRequests;
      await inbox.respond(request?.approve(said) ?? [], thread, by);
      const next = await worker.run([], await worker.thread('t'));
      expect(ran).toEqual([]);
      const again = [{ inputSchema: { properties: { euros: { maximum: 1_000 } } } }];
      expect(next.approvalRequests).toMatchObject(isRefused ? [] : again);
    },
  );
});

describe('only a request that may be edited carries a schema:', () => {
  test.each([
    ['a plain one', 'user-approval' as const],
    ['one that may be remembered', { type: 'user-approval', remember: true } as const],
  ])('%s does not', async (_what, status) => {
    const { request } = await refund(plain, { toolApproval: { refund: status } });
    expect(request).not.toHaveProperty('inputSchema');
  });

  test('and not one that is longer than an input may be', async () => {
    const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'pick', input: {} }] }]);
    const pick = tool({
      inputSchema: jsonSchema({ type: 'object', description: 'x'.repeat(300_000) }),
      execute: () => 'Picked.',
    });
    const agent = createAgent({ model, tools: { pick }, toolApproval: { pick: rule } });
    const { approvalRequests } = await agent.run('Pick.', await agent.thread());
    expect(approvalRequests).toHaveLength(1);
    expect(approvalRequests[0]).not.toHaveProperty('inputSchema');
  });
});
