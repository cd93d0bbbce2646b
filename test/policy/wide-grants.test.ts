import { HoldpointError, memoryStore, type ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const script = [
  { calls: [book('c1', 'Paris')] },
  { text: 'Done.' },
  { calls: [book('c2', 'Paris')] },
  { text: 'Done again.' },
];
const rule = {
  type: 'user-approval',
  remember: { scope: 'everyone', match: 'exact', uses: 1 },
} as const;

/** An agent whose first thread has made a grant for everyone, or for ann. */
async function granted(scope: 'principal' | 'everyone', store: ThreadStore = memoryStore()) {
  const world = memoryWorld(script);
  const agent = world.agent({ name: 'travel', store, toolApproval: { book: rule } });
  const first = await agent.thread('first');
  const { approvalRequests } = await agent.run('Book', first, { principal: 'ann' });
  const answers = approvalRequests.map((request) => request.approve({ remember: { scope } }));
  await agent.run(answers, first, { principal: 'bob', channel: 'web' });
  const [grant] = await agent.grants();
  if (grant === undefined) throw new Error('Nothing was granted.');
  return { world, agent, first, grant, request: approvalRequests[0] };
}

describe('a standing approval that is wider than a thread', () => {
  test('decides a call of another thread, which points to the request that made it', async () => {
    const { world, agent, request, grant } = await granted('everyone');
    expect(grant).toMatchObject({ scope: 'everyone', principal: 'bob', channel: 'web', uses: 1 });
    const second = await agent.thread('second');
    expect((await agent.run('Book', second, { principal: 'cy' })).status).toBe('completed');
    expect(world.ran.length).toBe(2);
    expect(second.events.find(({ type }) => type === 'grant-used')).toMatchObject({
      threadId: 'first',
      requestId: request?.requestId,
      scope: 'everyone',
    });
    expect(second.calls[0]?.grantId).toBe(grant.grantId);
    expect(await agent.grants()).toEqual([]);
  });

  test.each(['ann', 'cy', undefined])(
    'for one person decides only calls for that person: %s',
    async (principal) => {
      const { agent } = await granted('principal');
      const second = await agent.thread('second');
      const { status } = await agent.run(
        'Book',
        second,
        principal === undefined ? {} : { principal },
      );
      expect(status).toBe(principal === 'ann' ? 'completed' : 'waiting');
    },
  );

  test('is asked about again once it was revoked', async () => {
    const { agent, grant } = await granted('everyone');
    await agent.revoke(grant, { principal: 'ann' });
    const second = await agent.thread('second');
    expect((await agent.run('Book', second)).status).toBe('waiting');
    expect(await errorCode(agent.revoke(grant))).toBe('not-found');
  });

  test('that is revoked between the check and the append does not start the call: a person is asked', async () => {
    const store = memoryStore();
    const { world, grant } = await granted('everyone', store);
    const racing: ThreadStore = {
      ...store,
      async append(threadId, end, entries, summary, beside) {
        if (beside?.grants?.some(({ type }) => type === 'use') === true)
          await store.grants?.revoke(grant.grantId);
        await store.append(threadId, end, entries, summary, beside);
      },
    };
    const other = world.agent({ name: 'travel', store: racing, toolApproval: { book: rule } });
    const { status } = await other.run('Book', await other.thread('second'));
    expect(status).toBe('waiting');
    expect(world.ran.length).toBe(1);
  });

  test('is used no more often than it may be, by calls of one step too', async () => {
    const twice = [...script.slice(0, 2), { calls: [book('c2', 'Paris'), book('c3', 'Paris')] }];
    const world = memoryWorld(twice);
    const agent = world.agent({
      name: 'travel',
      store: memoryStore(),
      toolApproval: { book: rule },
    });
    const first = await agent.thread('first');
    const { approvalRequests } = await agent.run('Book', first);
    await agent.run(
      approvalRequests.map((request) => request.approve({ remember: true })),
      first,
    );
    const { approvalRequests: asked } = await agent.run('Book', await agent.thread('second'));
    expect(asked.length).toBe(1);
    expect(world.ran.length).toBe(2);
  });

  test('of an agent whose tool or rule has changed since decides nothing', async () => {
    const store = memoryStore();
    const { world } = await granted('everyone', store);
    const changed = { ...rule, quorum: 2 };
    const agent = world.agent({ name: 'travel', store, toolApproval: { book: changed } });
    expect((await agent.run('Book', await agent.thread('second'))).status).toBe('waiting');
  });

  test('is refused by a store that keeps none, and the request stays open', async () => {
    const { grants: _none, ...store } = memoryStore();
    const world = memoryWorld(script);
    const agent = world.agent({ name: 'travel', store, toolApproval: { book: rule } });
    const thread = await agent.thread('first');
    const { approvalRequests } = await agent.run('Book', thread);
    const answers = approvalRequests.map((request) => request.approve({ remember: true }));
    const error: unknown = await agent.run(answers, thread).catch((reason: unknown) => reason);
    expect(HoldpointError.isInstance(error) && error.code).toBe('invalid-answer');
    expect(String(error)).toContain('keeps no standing approvals');
    expect(thread.activeRequests.length).toBe(1);
  });
});
