import { assert, asyncProperty, dictionary, jsonValue, pre, string } from 'fast-check';
import { tool } from 'ai';
import { createAgent, type ToolApprovalStatus, type approve } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { answeredBy, askedInOffice } from './office.ts';
import { countTrials } from '../support/sampling.ts';

const exact = { type: 'user-approval', remember: true } as const;
const parisTwice = [[book('c1', 'Paris')], [book('c2', 'Paris')]];

/** The office, after bob has approved the first step and asked for a standing approval. */
async function remembering(
  status: ToolApprovalStatus | (() => ToolApprovalStatus),
  steps = parisTwice,
  remember: NonNullable<Parameters<typeof approve>[1]>['remember'] & {} = true,
) {
  const at = await askedInOffice(status, steps);
  const next = await at.agent.run(at.request.approve({ remember }), at.thread, {
    principal: 'bob',
  });
  return { ...at, next };
}

/** What comes of a later call for Paris, of an agent in the same office. */
async function askedLater(
  { store, ran, teams }: Awaited<ReturnType<typeof askedInOffice>>,
  status: ToolApprovalStatus,
  { threadId = 't', requester }: { threadId?: string; requester: string },
) {
  const agent = createAgent({
    model: scriptedModel([{ calls: [book('c9', 'Paris')] }, { text: 'Done.' }]).model,
    name: 'office',
    store,
    tools: travelTools(ran),
    toolApproval: { book: status },
    mayAnswer: answeredBy(teams),
  });
  const thread = await agent.thread(threadId);
  return (await agent.run('Book for me', thread, { principal: requester })).status;
}

/** What comes of a call with the other input, after one was approved and remembered on these terms. */
async function second(remember: ToolApprovalStatus, one: unknown, other: unknown) {
  const ran: unknown[] = [];
  const steps = [one, other].map((input, index) => ({
    calls: [{ id: `c${index}`, name: 'act', input: JSON.stringify(input) }],
  }));
  const agent = createAgent({
    model: scriptedModel([...steps, { text: 'Done.' }]).model,
    tools: {
      act: tool({ inputSchema: z.any(), execute: (input: unknown) => void ran.push(input) }),
    },
    toolApproval: { act: remember },
    maxRetries: 0,
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Act', thread);
  const answers = approvalRequests.map((request) => request.approve({ remember: true }));
  const { status } = await agent.run(answers, thread);
  return status === 'waiting' && ran.length === 1 ? 'asks' : ran.length === 2 ? 'runs' : status;
}

/** Row 42. */
describe('a standing approval of the exact input', () => {
  const objects = dictionary(string({ maxLength: 3 }), jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

  test('covers no other input, whatever the two are', async () => {
    await assert(
      asyncProperty(objects, objects, async (one, other) => {
        pre(JSON.stringify(sorted(one)) !== JSON.stringify(sorted(other)));
        const outcome = await second(exact, one, other);
        /* Some inputs are refused before anything is asked. */
        pre(outcome !== 'completed');
        expect(outcome).toBe('asks');
      }),
      { numRuns: countTrials(60) },
    );
  });

  test.each([
    ['nothing and null', {}, { a: null }],
    ['null and an empty object', { a: null }, { a: {} }],
    ['an empty list and an empty object', { a: [] }, { a: {} }],
    ['a number and its text', { a: 1 }, { a: '1' }],
    ['false and 0', { a: false }, { a: 0 }],
    ['an added space', { a: 'rm x' }, { a: 'rm x ' }],
    ['another form of the same letters', { a: '\u00E9' }, { a: 'e\u0301' }],
    ['a prefix', { a: 'git show' }, { a: 'git show > ~/.ssh/config' }],
    ['another order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['a name of every object', {}, { constructor: 1 }],
  ])('does not confuse %s', async (_what, one, other) => {
    expect(await second(exact, one, other)).toBe('asks');
    expect(await second(exact, other, one)).toBe('asks');
  });

  test('covers the same input in another order of its keys', async () => {
    expect(await second(exact, { a: 1, b: 2 }, { b: 2, a: 1 })).toBe('runs');
  });
});

describe('a standing approval of named fields', () => {
  const byFields = { type: 'user-approval', remember: { match: ['to'] } } as const;

  test.each([
    ['the same field', { to: 'ann', n: 1 }, { to: 'ann', n: 2 }, 'runs'],
    ['another value', { to: 'ann', n: 1 }, { to: 'bob', n: 1 }, 'asks'],
    ['a value that begins alike', { to: 'ann' }, { to: 'ann@evil.example' }, 'asks'],
    ['a field that is absent', { to: null }, {}, 'asks'],
    ['a value of another type', { to: '1' }, { to: 1 }, 'asks'],
    ['a list with it', { to: 'ann' }, { to: ['ann', 'eve'] }, 'asks'],
    ['a list in place of the object', { to: 'ann' }, ['ann'], 'asks'],
    ['a field within another', { to: 'ann' }, { more: { to: 'ann' } }, 'asks'],
  ])('%s', async (_what, one, other, expected) => {
    expect(await second(byFields, one, other)).toBe(expected);
  });
});

describe('a standing approval is not used', () => {
  const changes = {
    description: { description: 'book a train' },
    'input schema': { inputSchema: z.object({ city: z.string(), seat: z.string().optional() }) },
    title: { title: 'Book' },
    version: { metadata: { version: '2' } },
    annotations: { metadata: { annotations: { destructiveHint: true } } },
  };
  test.each(Object.entries(changes))(
    'for a tool whose %s has changed (row 18)',
    async (_what, change) => {
      const at = await askedInOffice(exact, parisTwice);
      await at.agent.respond(at.request.approve({ remember: true }), at.thread, {
        principal: 'bob',
      });
      const tools = travelTools(at.ran);
      const changed = createAgent({
        name: 'office',
        model: at.played.model,
        store: at.store,
        tools: { ...tools, book: Object.assign({}, tools.book, change) },
        toolApproval: { book: exact },
      });
      const thread = await changed.thread('t');
      /* The approval itself was for the old tool too. */
      const [again] = (await changed.run([], thread)).approvalRequests;
      if (again === undefined) throw new Error('Nothing was asked.');
      const { status } = await changed.run(again.approve(), thread);
      expect(status).toBe('waiting');
      expect(at.ran).toHaveLength(1);
    },
  );

  test('when the rule demands something else now', async () => {
    const terms: ToolApprovalStatus[] = [
      exact,
      { ...exact, quorum: 2 },
      { ...exact, approvers: ['managers'] },
      { ...exact, risk: 'critical' },
      { type: 'user-approval' },
      'user-approval',
    ];
    for (const later of terms.slice(1)) {
      let status: ToolApprovalStatus = exact;
      const at = await askedInOffice(() => status, parisTwice);
      await at.agent.respond(at.request.approve({ remember: true }), at.thread, {
        principal: 'bob',
      });
      status = later;
      expect((await at.agent.run([], at.thread)).status).toBe('waiting');
      expect(at.ran).toHaveLength(1);
    }
  });

  test('where the rule denies (row 19)', async () => {
    let status: ToolApprovalStatus = exact;
    const at = await askedInOffice(() => status, parisTwice);
    await at.agent.respond(at.request.approve({ remember: true }), at.thread, { principal: 'bob' });
    expect(at.thread.grants).toHaveLength(1);
    status = 'denied';
    await at.agent.run([], at.thread);
    expect(at.ran).toEqual([]);
    expect(at.thread.calls.map((call) => call.status)).toEqual(['denied', 'denied']);
  });

  test('from the millisecond at which it ends', async () => {
    for (const [after, expected] of [
      [999, 'completed'],
      [1_000, 'waiting'],
      [60_000, 'waiting'],
    ] as const) {
      const at = await askedInOffice(
        { type: 'user-approval', remember: { expiresAfterMs: 1_000 } },
        parisTwice,
      );
      await at.agent.respond(at.request.approve({ remember: true }), at.thread, {
        principal: 'bob',
      });
      at.clock.now += after;
      expect((await at.agent.run([], at.thread)).status).toBe(expected);
    }
  });

  test('by a clock that was set back to before it was made', async () => {
    const at = await askedInOffice(
      { type: 'user-approval', remember: { expiresAfterMs: 1_000, uses: 1 } },
      parisTwice,
    );
    await at.agent.respond(at.request.approve({ remember: true }), at.thread, { principal: 'bob' });
    at.clock.now -= 900_000;
    await at.agent.run([], at.thread);
    expect(at.ran.length).toBeLessThanOrEqual(2);
  });

  test('more often than was said, also by calls of one step', async () => {
    const steps = [
      [book('c1', 'Paris')],
      [book('c2', 'Paris'), book('c3', 'Paris'), book('c4', 'Paris')],
    ];
    const { next, ran } = await remembering(
      { type: 'user-approval', remember: { uses: 2 } },
      steps,
    );
    expect(next.approvalRequests).toHaveLength(1);
    expect(ran).toHaveLength(3);
  });

  test('after it was revoked', async () => {
    const steps = [[book('c1', 'Paris')], [book('c2', 'Rome')], [book('c3', 'Paris')]];
    const { agent, thread, next, ran } = await remembering(exact, steps);
    const [grant] = thread.grants;
    if (grant === undefined) throw new Error('Nothing was remembered.');
    await agent.revoke(grant, { principal: 'cy' });
    const rome = next.approvalRequests.map((request) => request.approve());
    expect((await agent.run(rome, thread)).status).toBe('waiting');
    expect(ran).toHaveLength(2);
  });

  test('in another thread', async () => {
    const at = await remembering(exact, [[book('c1', 'Paris')]]);
    expect(at.thread.grants).toHaveLength(1);
    expect(await askedLater(at, exact, { threadId: 'other', requester: 'ann' })).toBe('waiting');
  });
});

describe('a standing rejection', () => {
  test('wins over a standing approval of the same call', async () => {
    const steps = [[book('c1', 'Paris'), book('c2', 'Paris')], [book('c3', 'Paris')]];
    const at = await askedInOffice({ type: 'user-approval', remember: { match: 'any' } }, steps);
    const [one, two] = at.thread.activeApprovalRequests;
    if (one === undefined || two === undefined) throw new Error('Two were expected.');
    await at.agent.run(
      [one.approve({ remember: true }), two.reject({ reason: 'no', remember: true })],
      at.thread,
      { principal: 'bob' },
    );
    expect(at.ran).toHaveLength(1);
    expect(at.thread.calls.map(({ status }) => status)).toEqual(['succeeded', 'denied', 'denied']);
  });
});

describe('a standing approval needs all whom the request needs:', () => {
  test('of two approvals of which one is not to be remembered, nothing stands', async () => {
    for (const [bob, cy] of [
      [true, undefined],
      [undefined, true],
    ] as const) {
      const at = await askedInOffice(
        { type: 'user-approval', quorum: 2, remember: { match: 'any' } },
        parisTwice,
      );
      await at.agent.respond(at.request.approve(bob && { remember: bob }), at.thread, {
        principal: 'bob',
      });
      const { status } = await at.agent.run(at.request.approve(cy && { remember: cy }), at.thread, {
        principal: 'cy',
      });
      expect(status).toBe('waiting');
      expect(at.thread.grants).toEqual([]);
      expect(at.ran).toHaveLength(1);
    }
  });

  test('the person who approves for others does not approve for themselves (row 113)', async () => {
    const status = {
      type: 'user-approval',
      notRequester: true,
      remember: { match: 'any' },
    } as const;
    const at = await askedInOffice(status, [[book('c1', 'Paris')]]);
    await at.agent.run(at.request.approve({ remember: true }), at.thread, { principal: 'bob' });
    expect(at.thread.grants).toHaveLength(1);
    expect(await askedLater(at, status, { requester: 'bob' })).toBe('waiting');
    expect(at.ran).toHaveLength(1);
  });

  test.each([
    ['bob', 'waiting'],
    ['cy', 'completed'],
  ])('also in every other thread: a call for %s', async (requester, expected) => {
    const remember = { scope: 'everyone', match: 'any' } as const;
    const status = { type: 'user-approval', notRequester: true, remember } as const;
    const at = await askedInOffice(status, [[book('c1', 'Paris')]]);
    await at.agent.run(at.request.approve({ remember: true }), at.thread, { principal: 'bob' });
    expect(await askedLater(at, status, { threadId: 'other', requester })).toBe(expected);
  });

  test('nor does one of two who approved', async () => {
    const status = {
      type: 'user-approval',
      notRequester: true,
      quorum: 2,
      remember: { match: 'any' },
    } as const;
    for (const requester of ['bob', 'cy', 'dee'] as const) {
      const at = await askedInOffice(status, [[book('c1', 'Paris')]]);
      await at.agent.respond(at.request.approve({ remember: true }), at.thread, {
        principal: 'bob',
      });
      await at.agent.run(at.request.approve({ remember: true }), at.thread, { principal: 'cy' });
      const expected = requester === 'dee' ? 'completed' : 'waiting';
      expect(await askedLater(at, status, { requester })).toBe(expected);
    }
  });
});

/** Row 71: an edited log is refused; nobody adds a standing approval to it, or widens one. */
test.each([
  ['its match', '"match":{"type":"exact","input":{"city":"Paris"}}', '"match":{"type":"any"}'],
  ['its tool', '"toolName":"book","definition"', '"toolName":"look","definition"'],
  ['its decision', '"decision":"approved"', '"decision":"rejected"'],
  ['its uses', '"uses":1', '"uses":9'],
])(
  'a log in which a standing approval was given other values is refused: %s',
  async (_what, from, to) => {
    const { agent, thread } = await remembering({ type: 'user-approval', remember: { uses: 1 } }, [
      [book('c1', 'Paris')],
    ]);
    const text = JSON.stringify(thread);
    expect(text).toContain(from);
    expect(await errorCode(memoryWorld([]).agent().restore(text.replace(from, to)))).not.toBe(
      'no error',
    );
    expect(agent).toBeDefined();
  },
);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  return Object.entries(value)
    .map(([key, item]) => [key, sorted(item)])
    .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}
