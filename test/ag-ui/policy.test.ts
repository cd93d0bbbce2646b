import type { ToolApprovalStatus } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { FileServer } from '../policy/mcp-server.ts';
import { answeredBy } from '../policy/office.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book } from '../support/travel-world.ts';
import { client, endOf, ofType, served, site } from './ag-ui-site.ts';
import type { Told } from './checked-events.ts';

const teams = { owners: ['ann', 'bob', 'cy'], managers: ['dee'] };
const one: ScriptedStep[] = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
/* The protocol's client refuses to answer what expired by its own clock. */
const start = Date.now();
const clock = { now: start };

/** A site whose rule for `book` says this, and a client of the protocol for each person. */
async function siteOf(status: ToolApprovalStatus, script = one) {
  clock.now = start;
  const options = {
    name: 'travel',
    toolApproval: { book: status },
    mayAnswer: answeredBy(teams),
    now: () => clock.now,
  };
  const at = site(script, options);
  const as = async (principal: string) => {
    const { handler } = at.worker({ authorize: () => ({ principal }) });
    return client(await served(handler));
  };
  const ann = await as('ann');
  await ann.say('Book');
  return { ...at, as, ann };
}

/** The only interrupt of a client. */
function interruptOf({ agent }: ReturnType<typeof client>) {
  const [interrupt, ...more] = agent.pendingInterrupts;
  if (interrupt === undefined || more.length > 0) throw new Error('There is not one interrupt.');
  return interrupt;
}

/** What an interrupt carries for programs. */
function carried(of: ReturnType<typeof client>): Record<string, unknown> {
  const found: unknown = interruptOf(of).metadata?.['holdpoint'];
  if (typeof found !== 'object' || found === null) throw new Error('It carries nothing.');
  return { ...found };
}

/** What an interrupt says that the person whose client this is may do. */
function rightsOf(of: ReturnType<typeof client>): unknown {
  return interruptOf(of).metadata?.['rights'];
}

function errorOf(events: readonly Told[]): unknown {
  return ofType(events, 'RUN_ERROR')[0];
}

const edited = { type: 'user-approval', editable: ['price'] } as const;

describe('an interrupt carries what its rule says', () => {
  test('every field, the digest, and lines for a client that shows only the message', async () => {
    const at = await siteOf({
      type: 'user-approval',
      text: 'Book this?',
      expiresAfterMs: 60_000,
      onExpiry: { type: 'escalate', approvers: ['managers'], quorum: 3 },
      remindBeforeMs: 10_000,
      approvers: ['owners'],
      notRequester: true,
      quorum: 2,
      requireReason: true,
      editable: ['price'],
      remember: { scope: 'thread', match: ['city'], uses: 3 },
      risk: 'high',
      metadata: { team: 'travel' },
    });
    expect(carried(at.ann)).toMatchObject({
      digest: expect.any(String),
      expiresAt: start + 60_000,
      remindAt: start + 50_000,
      onExpiry: { type: 'escalate', approvers: ['managers'], quorum: 3 },
      approvers: ['owners'],
      notRequester: true,
      quorum: 2,
      requireReason: true,
      editable: ['price'],
      remember: { scope: 'thread', match: ['city'], uses: 3 },
      risk: 'high',
      metadata: { team: 'travel' },
    });
    expect(interruptOf(at.ann).message?.split('\n')).toEqual([
      'Book this?',
      'book {"city":"Paris"}',
      'Asked for by: ann',
      'Risk: high',
      'May be answered by: owners, but not the person for whom the agent asks',
      'Approvals: 0 of 2',
      'Reason: needed to approve',
      'May be edited: price',
      `Until: ${new Date(start + 60_000).toISOString()}, then it goes to managers (3 approvals)`,
      `Reminder: ${new Date(start + 50_000).toISOString()}`,
      'Metadata: {"team":"travel"}',
    ]);
  });

  test('the schema of the answer says what is allowed', async () => {
    const at = await siteOf({
      ...edited,
      requireReason: true,
      remember: { scope: 'principal', match: ['city'], uses: 3 },
    });
    const schema = interruptOf(at.ann).responseSchema;
    expect(schema).toEqual({
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        reason: { type: 'string' },
        digest: { const: carried(at.ann)['digest'] },
        input: {
          allOf: [
            expect.objectContaining({
              type: 'object',
              properties: { city: { type: 'string' }, price: { type: 'number' } },
              required: ['city'],
            }),
            {
              type: 'object',
              properties: { price: true, city: { const: 'Paris' } },
              required: ['city'],
              propertyNames: { enum: ['city', 'price'] },
            },
          ],
        },
        remember: {
          anyOf: [
            { const: true },
            {
              type: 'object',
              properties: {
                scope: { enum: ['thread', 'principal'] },
                match: {
                  anyOf: [
                    { const: 'exact' },
                    {
                      type: 'array',
                      items: { type: 'string' },
                      minItems: 1,
                      allOf: [{ contains: { const: 'city' } }],
                    },
                  ],
                },
                expiresAfterMs: { type: 'number', exclusiveMinimum: 0 },
                uses: { type: 'integer', minimum: 1, maximum: 3 },
              },
              additionalProperties: false,
            },
          ],
        },
      },
      required: ['approved'],
      anyOf: [
        { properties: { approved: { const: false } } },
        { properties: { reason: { type: 'string', pattern: '\\S' } }, required: ['reason'] },
      ],
      additionalProperties: false,
    });
  });

  test("an input that may be edited as a whole has the tool's schema", async () => {
    const at = await siteOf({ type: 'user-approval', editable: true });
    expect(interruptOf(at.ann).responseSchema).toMatchObject({
      properties: {
        input: { properties: { city: { type: 'string' }, price: { type: 'number' } } },
      },
    });
  });
});

describe('a resume', () => {
  test('edits: the edited input runs, and the model learns of it', async () => {
    const at = await siteOf(edited);
    const input = { city: 'Paris', price: 50 };
    const events = await at.ann.answer({ approved: true, input, reason: 'Cheaper.' });
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(at.world.ran).toMatchObject([{ name: 'book', input }]);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('50');
    const thread = await at.agent.thread('t');
    expect(thread.calls).toMatchObject([
      { input, edit: { original: { city: 'Paris' }, person: 'ann' } },
    ]);
    const answered = thread.events.find(({ type }) => type === 'request-answered');
    expect(answered).toMatchObject({ response: { reason: 'Cheaper.' }, channel: 'ag-ui' });
  });

  test.each([
    ['of another field', { city: 'Rome' }, ['city'], 'Field "city" is not editable'],
    ["that the tool's schema refuses", { city: 'Paris', price: 'x' }, ['price'], 'input schema'],
  ])('with an edit %s is an error, and the interrupt stays', async (_name, input, field, why) => {
    const at = await siteOf(edited);
    const asked = interruptOf(at.ann);
    const { revision } = await at.agent.thread('t');
    expect(errorOf(await at.ann.answer({ approved: true, input }))).toMatchObject({
      code: 'invalid-answer',
      message: expect.stringContaining(why),
      metadata: {
        refusedAnswers: [{ requestId: asked.id, field, reason: expect.any(String) }],
      },
    });
    expect(at.world.ran).toEqual([]);
    expect((await at.agent.thread('t')).revision).toBe(revision);
    await at.ann.run({ resume: [{ interruptId: asked.id, status: 'cancelled' }] });
    expect(interruptOf(at.ann)).toEqual(asked);
    expect(endOf(await at.ann.answer({ approved: true }))).toEqual({ type: 'success' });
    expect(at.world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
  });

  test('with an edit that the JSON Schema of an MCP server refuses is an error, and reaches no server', async () => {
    const server = new FileServer({ remove: undefined });
    const call = { id: 'c1', name: 'remove', input: { path: 'a.txt' } };
    const at = site([{ calls: [call] }, { text: 'Removed.' }], {
      tools: await server.tools({ clientName: 'files' }),
      toolApproval: { remove: { type: 'user-approval', editable: true } },
    });
    const ann = client(await served(at.handler));
    await ann.say('Remove');
    const input = { path: { $ne: null } };
    expect(errorOf(await ann.answer({ approved: true, input }))).toMatchObject({
      code: 'invalid-answer',
      message: expect.stringContaining('field "path": type "object" is invalid'),
    });
    expect(server.called).toEqual([]);
  });

  test('is remembered: the next call does not ask', async () => {
    const script = [
      { calls: [book('c1', 'Paris')] },
      { calls: [book('c2', 'Paris')] },
      { text: 'Booked.' },
    ];
    const at = await siteOf({ type: 'user-approval', remember: { uses: 2 } }, script);
    const events = await at.ann.answer({ approved: true, remember: { uses: 1 } });
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(at.world.ran).toHaveLength(2);
    expect((await at.agent.thread('t')).events).toContainEqual(
      expect.objectContaining({
        type: 'grant-created',
        grant: expect.objectContaining({ scope: 'thread', uses: 1, principal: 'ann' }),
      }),
    );
  });

  test.each([
    [true, "doesn't allow"],
    [{ scope: 'galaxy' }, 'Not a valid answer'],
  ])('that asks to remember %j without leave is an error', async (remember, why) => {
    const at = await siteOf('user-approval');
    expect(errorOf(await at.ann.answer({ approved: true, remember }))).toMatchObject({
      code: 'invalid-answer',
      message: expect.stringContaining(why),
    });
    expect(at.world.ran).toEqual([]);
  });

  test('that asks for more than may be remembered is an error', async () => {
    const at = await siteOf({ type: 'user-approval', remember: true });
    const wider = { approved: true, remember: { scope: 'everyone' } };
    expect(errorOf(await at.ann.answer(wider))).toMatchObject({ code: 'invalid-answer' });
    expect((await at.agent.thread('t')).activeRequests).toHaveLength(1);
  });

  test('without a reason that is demanded is an error; with one it counts', async () => {
    const at = await siteOf({ type: 'user-approval', requireReason: true });
    expect(errorOf(await at.ann.answer({ approved: true }))).toMatchObject({
      code: 'invalid-answer',
    });
    expect(at.world.ran).toEqual([]);
    const events = await at.ann.answer({ approved: true, reason: 'A client visit.' });
    expect(endOf(events)).toEqual({ type: 'success' });
  });
});

describe('several people', () => {
  test('an edited call is shown as it will run, under the question about it, until its editor withdraws', async () => {
    const at = await siteOf({
      type: 'user-approval',
      quorum: 2,
      editable: true,
      text: ({ city, price = 0 }: { city: string; price?: number }) => `${city} for ${price}?`,
    });
    const asked = interruptOf(at.ann);
    const input = { city: 'Rome', price: 50 };
    await at.ann.answer({ approved: true, input });
    const [first, second] = interruptOf(at.ann).message?.split('\n') ?? [];
    expect([first, second]).toEqual(['Rome for 50?', `book ${JSON.stringify(input)}`]);
    expect(interruptOf(at.ann).message).toContain('Asked before the edit: Paris for 0?');
    expect(carried(at.ann)).toMatchObject({
      text: 'Rome for 50?',
      toolCall: { input },
      edit: { original: { input: { city: 'Paris' }, text: 'Paris for 0?' } },
    });
    await at.agent.withdraw(await at.agent.thread('t'), asked.id, { principal: 'ann' });
    const bob = await at.as('bob');
    await bob.run();
    expect(interruptOf(bob).message?.split('\n')[0]).toBe('Paris for 0?');
    expect(carried(bob)['edit']).toBeUndefined();
  });

  test('an input of null is refused, even if nothing may be edited', async () => {
    for (const editable of [undefined, true] as const) {
      const at = await siteOf({ type: 'user-approval', editable });
      const events = await at.ann.answer({ approved: true, input: null });
      expect(errorOf(events)).toMatchObject({ code: 'invalid-answer' });
      expect(at.world.ran).toEqual([]);
    }
  });

  test('a vote keeps the interrupt open and shows the progress; the last one runs the call', async () => {
    const at = await siteOf({ type: 'user-approval', quorum: 2, approvers: ['owners'] });
    const asked = interruptOf(at.ann);
    expect(endOf(await at.ann.answer({ approved: true }))).toMatchObject({
      type: 'interrupt',
      interrupts: [{ id: asked.id }],
    });
    expect(carried(at.ann)['votes']).toMatchObject([{ person: 'ann', channel: 'ag-ui' }]);
    expect(interruptOf(at.ann).message).toContain('Approvals: 1 of 2\nApproved by: ann, ');
    /* The same person again is no second one. */
    await at.ann.answer({ approved: true });
    expect(carried(at.ann)['votes']).toHaveLength(1);
    expect(at.world.ran).toEqual([]);
    const bob = await at.as('bob');
    await bob.run();
    expect(carried(bob)).toEqual(carried(at.ann));
    expect(rightsOf(at.ann)).toMatchObject({ refusal: 'already-voted', mayWithdraw: true });
    expect(rightsOf(bob)).toMatchObject({ mayAnswer: true, mayWithdraw: false });
    expect(endOf(await bob.answer({ approved: true }))).toEqual({ type: 'success' });
    expect(at.world.ran).toHaveLength(1);
  });

  test('somebody else than the approvers is refused, and the interrupt stays', async () => {
    const at = await siteOf({ type: 'user-approval', approvers: ['managers'] });
    expect(rightsOf(at.ann)).toMatchObject({ mayAnswer: false, refusal: 'not-approver' });
    expect(endOf(await at.ann.answer({ approved: true }))).toBe('not-allowed');
    const dee = await at.as('dee');
    await dee.run();
    expect(endOf(await dee.answer({ approved: true }))).toEqual({ type: 'success' });
    expect(at.world.ran).toHaveLength(1);
  });

  test('an edit by one is shown to the next, whose answer must be for it', async () => {
    const at = await siteOf({ ...edited, quorum: 2, approvers: ['owners'] });
    const input = { city: 'Paris', price: 50 };
    await at.ann.answer({ approved: true, input });
    const bob = await at.as('bob');
    await bob.run();
    const { message, responseSchema } = interruptOf(bob);
    expect(message?.split('\n')).toContain('book {"city":"Paris","price":50}');
    expect(message).toMatch(/^Edited by: ann, .+\nChanged: price: 50 is added$/m);
    expect(responseSchema).toMatchObject({
      properties: { digest: { const: carried(bob)['digest'] } },
      required: ['approved', 'digest'],
    });
    expect(endOf(await bob.answer({ approved: true }))).toBe('answer-mismatch');
    const { digest } = carried(bob);
    expect(endOf(await bob.answer({ approved: true, digest }))).toEqual({ type: 'success' });
    expect(at.world.ran).toMatchObject([{ input }]);
  });

  test('an expired request is escalated: the old interrupt is refused, and the new one is for others', async () => {
    const at = await siteOf({
      type: 'user-approval',
      expiresAfterMs: 60_000,
      onExpiry: { type: 'escalate', approvers: ['managers'] },
    });
    const first = interruptOf(at.ann);
    clock.now += 60_000;
    expect(endOf(await at.ann.answer({ approved: true }))).toBe('request-closed');
    const dee = await at.as('dee');
    await dee.run();
    expect(carried(dee)).toMatchObject({ follows: first.id, approvers: ['managers'] });
    expect(endOf(await dee.answer({ approved: true }))).toEqual({ type: 'success' });
    expect(at.world.ran).toHaveLength(1);
  });
});

/** A site whose call ann has approved, and which has not begun. */
async function approvedSite() {
  const at = await siteOf({ type: 'user-approval' });
  const thread = await at.agent.thread('t');
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  await at.agent.respond(request.approve(), thread, { principal: 'ann' });
  return { ...at, thread };
}

/** The metadata of the results that a client is sent while it follows, and of those in a snapshot for one that comes then. */
async function resultsOf(at: Awaited<ReturnType<typeof siteOf>>, events: readonly Told[]) {
  const dee = await at.as('dee');
  const snapshots = ofType(await dee.run(), 'MESSAGES_SNAPSHOT');
  const messages = z
    .array(z.looseObject({ role: z.string(), metadata: z.unknown().optional() }))
    .parse(snapshots.at(-1)?.['messages']);
  return {
    followed: ofType(events, 'TOOL_CALL_RESULT').map(({ metadata }) => metadata),
    reloaded: messages.filter(({ role }) => role === 'tool').map(({ metadata }) => metadata),
  };
}

test('an approved call that a stop holds ends a run with words that say so, and not as one that failed', async () => {
  const at = await approvedSite();
  await at.agent.stop(at.thread, { principal: 'eve' });
  const dee = await at.as('dee');
  expect((await dee.run()).at(-1)).toMatchObject({
    type: 'RUN_ERROR',
    code: 'thread-held',
    message: 'A call is approved, and held since the assistant was stopped.',
  });
});

describe('the result of a call says who decided about it', () => {
  const plain = { type: 'user-approval' } as const;
  test.each([
    [{ approved: false, reason: 'No' }, 'denied', 'rejected'],
    [{ approved: true }, 'succeeded', 'approved'],
  ])('%j', async (payload, status, said) => {
    const at = await siteOf(plain);
    const { followed, reloaded } = await resultsOf(at, await at.ann.answer(payload));
    expect(followed).toEqual([
      { holdpoint: { status, decision: { status: said, person: 'ann' } } },
    ]);
    expect(reloaded).toEqual(followed);
  });

  test('where nobody in particular ended an approval, it names nobody', async () => {
    const at = await approvedSite();
    const { ask_question: asking } = questionTools();
    const later = at.world.agent({ name: 'travel', tools: { book: asking } });
    await later.run([], await later.thread('t'));
    const { reloaded } = await resultsOf(at, []);
    expect(reloaded).toEqual([{ holdpoint: { status: 'failed' } }]);
  });

  test('where the decision no longer counts, it names who ended it', async () => {
    const at = await approvedSite();
    await at.agent.cancel(at.thread, 'Too late', { principal: 'ann' });
    const { reloaded } = await resultsOf(at, []);
    const decision = { status: 'cancelled', person: 'ann' };
    expect(reloaded).toEqual([{ holdpoint: { status: 'denied', decision } }]);
  });
});
