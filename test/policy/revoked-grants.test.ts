import { memoryStore, type ThreadStore } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { everyStore } from '../support/every-store.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld, travelWorld } from '../support/travel-world.ts';

const script = [
  { calls: [book('c1', 'Paris')] },
  { text: 'Done.' },
  { calls: [book('c2', 'Paris')] },
  { text: 'Done again.' },
];
const toolApproval = {
  book: { type: 'user-approval', remember: { scope: 'everyone', match: 'exact' } },
} as const;

/** An agent of Ada's office whose thread `first` has made a standing approval for everyone. */
async function granted(open: () => ThreadStore) {
  const world = travelWorld(scriptedModel(script), open);
  const office = (name: string | undefined) =>
    world.agent(name === undefined ? { toolApproval: {} } : { toolApproval, name });
  const agent = office('travel');
  const first = await agent.thread('first');
  const { approvalRequests } = await agent.run('Book', first, { principal: 'ann' });
  const answers = approvalRequests.map((request) => request.approve({ remember: true }));
  await agent.run(answers, first, { principal: 'ben' });
  const [grant] = await agent.grants();
  if (grant === undefined) throw new Error('Nothing was granted.');
  return { world, office, agent, grant };
}

describe.each(everyStore())('on a $name', ({ start }) => {
  test('a standing approval wider than a thread is revoked by Ada, and the thread that made it says so', async () => {
    using kept = await start();
    const { agent, grant } = await granted(() => kept.open());
    await agent.revoke(grant, { principal: 'ada', channel: 'desk' });
    const first = await agent.thread('first');
    expect(first.events.at(-1)).toMatchObject({
      type: 'grant-revoked',
      grantId: grant.grantId,
      scope: 'everyone',
      principal: 'ada',
      channel: 'desk',
    });
    const { rows } = await auditTrail(first);
    expect(rows.at(-1)).toMatchObject({
      what: 'standing approval revoked',
      who: 'ada',
      channel: 'desk',
      time: expect.stringMatching(/^\d{4}-/),
    });
    expect(await agent.grants()).toEqual([]);
    expect((await agent.run('Book', await agent.thread('second'))).status).toBe('waiting');
  });

  test('of Ada and Eve who revoke it at one moment one has done so, and the log names that one', async () => {
    using kept = await start();
    const { agent, grant } = await granted(() => kept.open());
    const revoked = ['ada', 'eve'].map(async (principal) =>
      errorCode(agent.revoke(grant, { principal })),
    );
    const codes = await Promise.all(revoked);
    expect(new Set(codes)).toEqual(new Set(['no error', 'not-found']));
    const { events } = await agent.thread('first');
    const ended = events.filter((event) => event.type === 'grant-revoked');
    expect(ended.map(({ principal }) => principal)).toEqual([
      codes[0] === 'no error' ? 'ada' : 'eve',
    ]);
  });

  test.each(['post', undefined])('no other agent of the store revokes it: %s', async (name) => {
    using kept = await start();
    const { agent, office, grant } = await granted(() => kept.open());
    const other = office(name);
    expect(await errorCode(other.revoke(grant, { principal: 'eve' }))).toBe('not-found');
    const forged = { ...grant, agent: name ?? 'post' };
    expect(await errorCode(other.revoke(forged, { principal: 'eve' }))).toBe('not-found');
    expect(await agent.grants()).toEqual([grant]);
    expect((await agent.thread('first')).events.at(-1)?.type).not.toBe('grant-revoked');
  });

  test('it is revoked also when the thread that made it was deleted, or another has its id now', async () => {
    using kept = await start();
    const { agent, grant } = await granted(() => kept.open());
    await agent.delete(await agent.thread('first'));
    const { thread } = await agent.run('Hi', await agent.thread('first'));
    const { revision } = thread;
    await agent.revoke(grant, { principal: 'ada' });
    expect((await agent.thread('first')).revision).toBe(revision);
    expect(await agent.grants()).toEqual([]);
  });
});

test('one that was made in a log which was tampered with can be revoked', async () => {
  const store = memoryStore();
  const { world, grant } = await granted(() => store);
  const edited: ThreadStore = {
    ...store,
    read: async (id, after) =>
      (await store.read(id, after)).map((entry) => ({
        ...entry,
        text: entry.text.replace('Paris', 'Oslo'),
      })),
  };
  const agent = world.agent({ name: 'travel', toolApproval, store: edited });
  await agent.revoke(grant, { principal: 'ada' });
  expect(await agent.grants()).toEqual([]);
});

describe('a second yes to the same request', () => {
  const remember = { scope: 'thread' } as const;

  test.each([
    ['asks to be remembered, as the first did not', {}, { remember }],
    ['asks for more than the first', { remember }, { remember: { scope: 'everyone' } as const }],
  ])('that %s is another answer: refused, and nothing is granted', async (_what, first, second) => {
    const world = memoryWorld(script);
    const agent = world.agent({ name: 'travel', toolApproval });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread);
    const [request] = approvalRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    await agent.respond(request.approve(first), thread);
    const { revision } = thread;
    const grants = await agent.grants(thread);
    expect(await errorCode(agent.respond(request.approve(second), thread))).toBe(
      'already-answered',
    );
    expect(await errorCode(agent.run(request.approve(second), thread))).toBe('already-answered');
    expect(thread.revision).toBe(revision);
    expect(await agent.grants(thread)).toEqual(grants);
    /* The first answer again, and the yes alone, are repetitions. */
    await agent.respond([request.approve(first)], thread);
    await agent.respond([request.approve()], thread);
    expect(thread.revision).toBe(revision);
  });

  test('in one input with the first is refused, and nothing is recorded', async () => {
    const world = memoryWorld(script);
    const agent = world.agent({ name: 'travel', toolApproval });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread);
    const { revision } = thread;
    const both = approvalRequests.flatMap((request) => [
      request.approve(),
      request.approve({ remember }),
    ]);
    expect(await errorCode(agent.respond(both, thread))).toBe('invalid-answer');
    expect(thread.revision).toBe(revision);
  });
});

/** A thread that asks two people. */
async function asking() {
  const world = memoryWorld(script);
  const rule = { ...toolApproval.book, quorum: 2 };
  const agent = world.agent({ name: 'travel', toolApproval: { book: rule } });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread, { principal: 'ann' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  return { agent, thread, request };
}

describe('with a quorum of two', () => {
  test("Eve can't reject later calls, and the error says why; her plain rejection decides alone", async () => {
    const { agent, thread, request } = await asking();
    const { revision } = thread;
    const asked = agent.respond(request.reject({ remember: true }), thread, { principal: 'eve' });
    await expect(asked).rejects.toMatchObject({
      code: 'invalid-answer',
      message: expect.stringContaining('its rule wants 2 people'),
    });
    expect(thread.revision).toBe(revision);
    await agent.respond(request.reject('Too dear'), thread, { principal: 'eve' });
    expect(thread.decisions).toMatchObject([{ status: 'rejected', principal: 'eve' }]);
    expect(await agent.grants(thread)).toEqual([]);
  });

  test("Ada's vote that asked to be remembered is the same answer after Ben has decided without", async () => {
    const { agent, thread, request } = await asking();
    const yes = request.approve({ remember: true });
    await agent.respond(yes, thread, { principal: 'ada' });
    await agent.respond(request.approve(), thread, { principal: 'ben' });
    const { revision } = thread;
    await agent.respond(yes, thread, { principal: 'ada' });
    expect(thread.revision).toBe(revision);
    expect(await agent.grants(thread)).toEqual([]);
  });
});
