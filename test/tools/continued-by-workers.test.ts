import { describe, expect, test } from 'vitest';
import { everyStore } from '../support/every-store.ts';
import { workUntilIdle } from '../support/idle-workers.ts';
import { type Desk, recorded, say } from './desk-stories.ts';
import { childOf, desk, only, requestIn, subjectOf, votersOf } from './payment-desk.ts';

const minute = 60_000;

/** Two workers of the clerk and two of the payer, each in a process of its own, run all that is due. */
async function work(at: Desk): Promise<void> {
  const processes = await Promise.all([1, 2, 3, 4].map(async () => at.startProcess()));
  const working = processes.map(async ({ clerk, payer, store }, index) =>
    workUntilIdle({ agent: index < 2 ? clerk : payer, store }),
  );
  await Promise.all(working);
}

/** Both threads, as a process sees them that starts now. */
async function threadsOf(at: Desk) {
  const { payer, thread } = await at.startProcess();
  return { thread, child: await childOf({ payer, thread }) };
}

describe.each(everyStore())('$name: only workers run parent and sub-agent', ({ start }) => {
  test('Ada votes and leaves, Ben votes: nothing is due until Cem votes, and then it is paid once', async () => {
    using kept = await start();
    const people = new Set(['Ada', 'Ben', 'Cem']);
    const at = await desk({ open: kept.open, payer: { mayAnswer: only(people) } });
    expect(await say(await at.startProcess(), 'Ada')).toBe('no error');
    people.delete('Ada');
    await work(at);
    expect(await say(await at.startProcess(), 'Ben')).toBe('no error');
    await work(at);
    expect(at.paid).toEqual([]);
    const { thread, child } = await threadsOf(at);
    expect([thread, child].map((each) => votersOf(requestIn(each)))).toEqual([['Ben'], ['Ben']]);
    await work(at);
    const idle = await threadsOf(at);
    expect([idle.thread.revision, idle.child.revision]).toEqual([thread.revision, child.revision]);
    expect(await say(await at.startProcess(), 'Cem')).toBe('no error');
    expect(at.paid).toEqual([]);
    await work(at);
    expect(at.paid).toEqual([{ euros: 900 }]);
    /* A worker of the clerk that came while the payer was paying looks again later. */
    at.clock.now += minute;
    await work(at);
    expect(at.paid).toEqual([{ euros: 900 }]);
    const done = await threadsOf(at);
    expect([done.thread.status, done.child.status]).toEqual(['idle', 'idle']);
    expect((await recorded(at)).at(-1)).toEqual(['request-answered', 'Cem', true]);
  });

  test("Ada's two sessions are one vote by the principalId of the sub-agent, and no worker pays", async () => {
    using kept = await start();
    const at = await desk({ open: kept.open, payer: { principalId: subjectOf } });
    for (const id of ['1', '2']) {
      const { clerk, thread } = await at.startProcess();
      const yes = requestIn(thread).approve();
      await clerk.respond(yes, thread, { principal: { sub: 'Ada', id } });
      await work(at);
    }
    expect(at.paid).toEqual([]);
    const { clerk, thread } = await at.startProcess();
    expect(votersOf(requestIn(thread))).toEqual(['Ada']);
    await clerk.respond(requestIn(thread).approve(), thread, {
      principal: { sub: 'Ben', id: '3' },
    });
    await work(at);
    expect(at.paid).toHaveLength(1);
  });

  test('the deadline of an agent tool passes: the request expires in both threads, and nobody is said to have answered', async () => {
    using kept = await start();
    const at = await desk({ open: kept.open, expiresAfterMs: minute }, 'user-approval');
    at.clock.now += minute - 1;
    await work(at);
    expect(requestIn((await threadsOf(at)).thread).expiresAt).toBe(at.clock.now + 1);
    at.clock.now += 1;
    await work(at);
    const { thread, child } = await threadsOf(at);
    expect([thread.status, child.status]).toEqual(['idle', 'idle']);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(thread.decisions).toMatchObject([{ status: 'expired' }]);
    expect(child.decisions).toMatchObject([{ status: expect.stringMatching(/expired|cancelled/) }]);
    expect(JSON.stringify([thread.messages, child.messages])).not.toContain('approved');
    expect(await recorded(at)).toEqual([]);
    expect(at.paid).toEqual([]);
  });
});
