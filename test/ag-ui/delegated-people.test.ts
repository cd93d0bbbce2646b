import { createAgUiHandler } from 'holdpoint/ag-ui';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { book } from '../support/travel-world.ts';
import {
  childOf,
  desk,
  forOwners,
  only,
  quorum,
  requestIn,
  subjectOf,
  votersOf,
} from '../tools/payment-desk.ts';
import { endOf, ofType, poster, runInput, site, user } from './ag-ui-site.ts';

const minute = 60_000;

/** A desk with a route for each person, to whom its thread is shown. */
async function office(...given: Parameters<typeof desk>) {
  const at = await desk(...given);
  const as = (principal: unknown) =>
    poster(
      createAgUiHandler({ agent: at.clerk, authorize: () => ({ principal }), keepAliveMs: 0 }),
    );
  /** What a person's run comes to who answers with this payload, or only looks. */
  const run = async (principal: unknown, payload?: object): Promise<unknown> => {
    const { requestId: interruptId } = requestIn(at.thread);
    const resume = [{ interruptId, status: 'resolved', payload }];
    const input = runInput(payload === undefined ? {} : { resume });
    return endOf((await as(principal)(input)).events);
  };
  const voters = async () => votersOf(requestIn(await at.clerk.thread('t')));
  return { ...at, as, run, voters };
}

const yes = { approved: true };

/** The interrupt of a request that a quorum of two decides, with these votes. */
function asking(people: string[]) {
  return {
    interrupts: [
      {
        message: expect.stringMatching(
          new RegExp(
            `Approvals: ${people.length} of 2\nApproved by: ${people.join(', .+\nApproved by: ')}, `,
          ),
        ),
        metadata: {
          holdpoint: { path: [{ agent: 'payer' }], votes: people.map((person) => ({ person })) },
        },
      },
    ],
  };
}

describe("a sub-agent's quorum over AG-UI", () => {
  test('Ada votes and leaves, Ben votes: both runs end with the interrupt again, until Cem resumes it', async () => {
    const people = new Set(['Ada', 'Ben', 'Cem']);
    const at = await office({ payer: { mayAnswer: only(people) } });
    expect(await at.run('Ada')).toMatchObject({
      interrupts: [{ message: expect.stringContaining('Approvals: 0 of 2') }],
    });
    expect(await at.run('Ada', yes)).toMatchObject(asking(['Ada']));
    people.delete('Ada');
    expect(await at.run('Ben', yes)).toMatchObject(asking(['Ben']));
    expect(await at.run('Ada', yes)).toBe('not-allowed');
    expect(await at.run('Ada')).toMatchObject({
      interrupts: [{ metadata: { rights: { mayAnswer: false, refusal: 'not-approver' } } }],
    });
    expect(await at.run('Ada')).toMatchObject(asking(['Ben']));
    expect(votersOf(requestIn(await childOf(at)))).toEqual(['Ben']);
    expect(at.paid).toEqual([]);
    expect(await at.run('Cem', yes)).toMatchObject({ type: 'success' });
    expect(at.paid).toEqual([{ euros: 900 }]);
  });

  test('Ada has one vote from two sessions, as the sub-agent tells people apart, and Ben’s decides', async () => {
    const at = await office({ payer: { principalId: subjectOf } });
    for (const id of ['one', 'two']) {
      expect(await at.run({ sub: 'Ada', id }, yes)).toMatchObject(asking(['Ada']));
    }
    expect(await at.run({ sub: 'Ben', id: 'three' }, yes)).toMatchObject({ type: 'success' });
    expect(at.paid).toHaveLength(1);
  });

  test('Ben edits: Ada’s yes to what she saw is refused, and the next interrupt shows what will run', async () => {
    const at = await office({}, { ...quorum, editable: true });
    const seen = { ...yes, digest: requestIn(at.thread).digest };
    await at.run('Ben', { ...seen, input: { euros: 5_000 } });
    expect(await at.run('Ada', seen)).toBe('answer-mismatch');
    expect(await at.run('Ada')).toMatchObject({
      interrupts: [
        {
          message: expect.stringContaining('pay {"euros":5000}'),
          metadata: { holdpoint: { edit: { person: 'Ben' }, votes: [{ person: 'Ben' }] } },
        },
      ],
    });
    expect(at.paid).toEqual([]);
  });

  test('the process dies after the sub-agent has counted Ada’s vote: her resume counts it once', async () => {
    const at = await office();
    at.dying.threadId = 't';
    expect(await at.run('Ada', yes)).not.toMatchObject({ type: 'success' });
    at.dying.threadId = '';
    expect(await at.voters()).toEqual([]);
    expect(await at.run('Ada', yes)).toMatchObject(asking(['Ada']));
    expect(await at.run('Ben', yes)).toMatchObject({ type: 'success' });
    expect(at.paid).toHaveLength(1);
  });
});

test('the interrupt has the deadline of the agent tool; ten seconds later Ada’s resume is refused, and the call fails', async () => {
  const rule = {
    type: 'user-approval',
    expiresAfterMs: 2 * minute,
    onExpiry: 'ask-again',
  } as const;
  const at = await office({ expiresAfterMs: minute }, rule);
  const until = new Date(at.clock.now + minute).toISOString();
  expect(await at.run('Ada')).toMatchObject({
    interrupts: [
      {
        expiresAt: until,
        message: expect.stringContaining(`Until: ${until}, then it is denied`),
      },
    ],
  });
  at.clock.now += minute + 10_000;
  expect(await at.run('Ada', yes)).toBe('request-closed');
  const { events } = await at.as('Ada')(runInput());
  expect(endOf(events)).toMatchObject({ type: 'success' });
  expect(ofType(events, 'MESSAGES_SNAPSHOT')[0]?.messages.at(-1)).toMatchObject({
    role: 'tool',
    toolCallId: 'c1',
    metadata: { holdpoint: { status: 'failed' } },
  });
  expect((await at.clerk.thread('t')).decisions).toMatchObject([{ status: 'expired' }]);
  expect(at.paid).toEqual([]);
});

describe('a call about which nobody could answer, over AG-UI', () => {
  beforeEach(() => {
    vi.spyOn(console, 'warn').mockReturnValue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test.each([
    [true, 'An error occurred.'],
    [false, 'no mayAnswer'],
  ])(
    'ends the run without an interrupt, and its result says why unless that is kept back: %s',
    async (redactToolErrors, text) => {
      const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }];
      const at = site(script, { toolApproval: { book: forOwners } });
      const { post } = at.worker({ redactToolErrors });
      const { events } = await post(runInput({ messages: [user('u1')] }));
      expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
        { toolCallId: 'c1', content: expect.stringContaining(text) },
      ]);
      expect(endOf(events)).toMatchObject({ type: 'success' });
      expect(at.world.ran).toEqual([]);
    },
  );
});
