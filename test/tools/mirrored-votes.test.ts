import { type MayAnswer, memoryStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { chained, endOf } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { everyStore, storeOfEach } from '../support/every-store.ts';
import { childOf, desk, only, quorum, requestIn, subjectOf, votersOf } from './payment-desk.ts';

const text = ({ euros }: { euros: number }): string => `Pay ${euros} EUR?`;

const stores = everyStore();

/** A vote of Ada in the clerk's thread. */
function voted(requestId: string, at: number) {
  return {
    type: 'request-voted' as const,
    at,
    response: { type: 'approval-response' as const, requestId, approved: true },
    principal: 'Ada',
    person: 'Ada',
  };
}

/** A desk whose clerk's thread alone has Ada's vote, or also the end of the request. */
async function approvedAbove(ended: boolean) {
  const at = await desk();
  const { requestId } = requestIn(at.thread);
  const json = at.thread.toJSON();
  const entries = (await at.store.read('t')).slice();
  const events = [voted(requestId, at.clock.now)];
  const { person: _person, ...answer } = { ...voted(requestId, at.clock.now), principal: 'Ben' };
  const answered = { ...answer, type: 'request-answered' as const, person: 'Ben' };
  const added = chained(ended ? [...events, answered] : events, endOf(entries));
  const clerk = at.delegating('clerk', at.payer, {
    store: memoryStore(),
    hasAsked: true,
    mayAnswer: () => true,
  });
  const thread = await clerk.restore({
    ...json,
    revision: added.revision,
    entries: [...json.entries, JSON.parse(added.text)],
  });
  return { ...at, clerk, thread };
}

describe.each(stores)("$name: a quorum for a sub-agent's call", ({ start }) => {
  const open = storeOfEach(start);

  test('Ada votes and leaves, Ben votes: the request stays open above as below, until Cem votes', async () => {
    const people = new Set(['Ada', 'Ben', 'Cem']);
    const at = await desk({ open, payer: { mayAnswer: only(people) } });
    const { clerk, thread } = at;
    await clerk.run(requestIn(thread).approve(), thread, { principal: 'Ada' });
    people.delete('Ada');
    const waiting = await clerk.run(requestIn(thread).approve(), thread, { principal: 'Ben' });
    expect(waiting.status).toBe('waiting');
    expect(votersOf(requestIn(thread))).toEqual(['Ben']);
    expect(votersOf(requestIn(await childOf(at)))).toEqual(['Ben']);
    expect(at.paid).toEqual([]);
    const done = await clerk.run(requestIn(thread).approve(), thread, { principal: 'Cem' });
    expect(done).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(at.paid).toEqual([{ euros: 900 }]);
  });

  test("one person by the principalId of the sub-agent has one vote, whatever the parent's says", async () => {
    const at = await desk({ open, payer: { principalId: subjectOf } });
    const { clerk, thread } = at;
    for (const session of [1, 2]) {
      const principal = { sub: 'Ada', id: `session-${session}` };
      const reply = await clerk.run(requestIn(thread).approve(), thread, { principal });
      expect(reply.status).toBe('waiting');
      expect(votersOf(requestIn(thread))).toEqual(['Ada']);
    }
    await clerk.run(requestIn(thread).approve(), thread, { principal: { sub: 'Ben', id: '3' } });
    expect(at.paid).toHaveLength(1);
  });

  test('two people by the principalId of the sub-agent are two, also where the parent takes them for one', async () => {
    const at = await desk({ open, clerk: { principalId: () => 'somebody' } });
    const { clerk, thread } = at;
    await clerk.run(requestIn(thread).approve(), thread, { principal: 'Ada' });
    await clerk.run(requestIn(thread).approve(), thread, { principal: 'Ben' });
    expect(at.paid).toHaveLength(1);
  });

  test('the sub-agent says who may answer where the parent has no mayAnswer, and both must agree where it has', async () => {
    const rule = { ...quorum, approvers: ['owners'] };
    const at = await desk({ open, payer: { mayAnswer: only(new Set(['Ada', 'Ben'])) } }, rule);
    const yes = requestIn(at.thread).approve();
    expect(await errorCode(at.clerk.respond(yes, at.thread, { principal: 'Eve' }))).toBe(
      'not-allowed',
    );
    await at.clerk.respond(yes, at.thread, { principal: 'Ada' });
    expect(votersOf(requestIn(at.thread))).toEqual(['Ada']);
    const both = await desk({
      open,
      threadId: 'both',
      clerk: { mayAnswer: only(new Set(['Ben', 'Cem'])) },
      payer: { mayAnswer: only(new Set(['Ada', 'Ben'])) },
    });
    for (const principal of ['Ada', 'Cem']) {
      const answer = both.clerk.respond(requestIn(both.thread).approve(), both.thread, {
        principal,
      });
      expect(await errorCode(answer)).toBe('not-allowed');
    }
    await both.clerk.respond(requestIn(both.thread).approve(), both.thread, { principal: 'Ben' });
    expect(votersOf(requestIn(both.thread))).toEqual(['Ben']);
  });

  test('a withdrawn vote is withdrawn below first, and above', async () => {
    const at = await desk({ open });
    const { clerk, thread } = at;
    await clerk.respond(requestIn(thread).approve(), thread, { principal: 'Ada' });
    await clerk.withdraw(thread, requestIn(thread).requestId, { principal: 'Ada' });
    expect(votersOf(requestIn(thread))).toEqual([]);
    expect(votersOf(requestIn(await childOf(at)))).toEqual([]);
    const again = clerk.withdraw(thread, requestIn(thread).requestId, { principal: 'Ada' });
    expect(await errorCode(again)).toBe('not-allowed');
    await clerk.respond(requestIn(thread).approve(), thread, { principal: 'Ben' });
    await clerk.run([], thread);
    expect(at.paid).toEqual([]);
  });

  test('an edit takes back the votes above as below, and runs as the second person saw it', async () => {
    const at = await desk({ open }, { ...quorum, editable: true });
    const { clerk, thread } = at;
    const shown = requestIn(thread);
    await clerk.respond(shown.approve(), thread, { principal: 'Ada' });
    await clerk.respond(shown.approve({ input: { euros: 50 } }), thread, { principal: 'Ben' });
    const edited = requestIn(thread);
    expect(votersOf(edited)).toEqual(['Ben']);
    expect(edited).toMatchObject({ toolCall: { input: { euros: 50 } }, edit: { person: 'Ben' } });
    const stale = clerk.run(shown.approve(), thread, { principal: 'Cem' });
    expect(await errorCode(stale)).toBe('answer-mismatch');
    await clerk.run(edited.approve(), thread, { principal: 'Cem' });
    expect(at.paid).toEqual([{ euros: 50 }]);
    const answered = thread.events.find(({ type }) => type === 'request-answered');
    expect(answered).toMatchObject({ person: 'Cem', response: { digest: edited.digest } });
  });

  test("somebody whom the parent's mayAnswer limits can neither edit beyond the limit nor edit back into it", async () => {
    const asked: unknown[] = [];
    const limited: MayAnswer = ({ principal, request }) => {
      if (request.type !== 'approval-request') return false;
      asked.push([principal, request.text, request.toolCall?.input]);
      return principal === 'Ben' || Number(Object(request.toolCall?.input).euros) <= 1_000;
    };
    const rule = { ...quorum, editable: true, text } as const;
    const at = await desk({ open, clerk: { mayAnswer: limited } }, rule);
    const { clerk, thread } = at;
    const raise = requestIn(thread).approve({ input: { euros: 5_000 } });
    expect(await errorCode(clerk.run(raise, thread, { principal: 'Jo' }))).toBe('not-allowed');
    expect(asked).toContainEqual(['Jo', 'Pay 5000 EUR?', { euros: 5_000 }]);
    expect(votersOf(requestIn(await childOf(at)))).toEqual([]);
    await clerk.run(raise, thread, { principal: 'Ben' });
    expect(requestIn(thread)).toMatchObject({ text: 'Pay 5000 EUR?', quorum: 2 });
    for (const answer of [
      requestIn(thread).approve(),
      requestIn(thread).approve({ input: { euros: 7 } }),
    ]) {
      expect(await errorCode(clerk.run(answer, thread, { principal: 'Jo' }))).toBe('not-allowed');
    }
    expect(at.paid).toEqual([]);
  });

  test('an edit ends above as below with the vote of its author', async () => {
    const at = await desk({ open }, { ...quorum, editable: true });
    const { clerk, thread } = at;
    const shown = requestIn(thread);
    await clerk.respond(shown.approve({ input: { euros: 50 } }), thread, { principal: 'Ben' });
    await clerk.withdraw(thread, shown.requestId, { principal: 'Ben' });
    const { toolCall, digest, edit } = requestIn(thread);
    expect({ input: toolCall?.input, digest, edit }).toEqual({
      input: { euros: 900 },
      digest: shown.digest,
      edit: undefined,
    });
    await clerk.respond(shown.approve(), thread, { principal: 'Ada' });
    await clerk.run(shown.approve(), thread, { principal: 'Cem' });
    expect(at.paid).toEqual([{ euros: 900 }]);
    const vote = thread.events.findLast(({ type }) => type === 'request-voted');
    expect(vote).toMatchObject({ response: { digest: shown.digest } });
  });
});

describe.each(stores)('$name: a process that dies between the two logs', ({ start }) => {
  test('leaves a vote that the next answer, or a run, shows', async () => {
    using kept = await start();
    const at = await desk({ open: kept.open });
    const { clerk, thread, dying } = at;
    dying.threadId = 't';
    const dead = clerk.respond(requestIn(thread).approve(), thread, { principal: 'Ada' });
    await expect(dead).rejects.toThrow('The process died.');
    dying.threadId = '';
    expect(votersOf(requestIn(await clerk.thread('t')))).toEqual([]);
    expect(votersOf(requestIn(await childOf(at)))).toEqual(['Ada']);
    await clerk.run([], thread);
    expect(votersOf(requestIn(thread))).toEqual(['Ada']);
    await clerk.run(requestIn(thread).approve(), thread, { principal: 'Ben' });
    expect(at.paid).toHaveLength(1);
    const voters = thread.events.flatMap((event) =>
      event.type === 'request-voted' || event.type === 'request-answered' ? event.person : [],
    );
    expect(voters).toEqual(['Ada', 'Ben']);
  });

  test.each(['the same answer', 'a run', 'another answer'] as const)(
    'leaves a decision that %s shows, with the person who gave it',
    async (how) => {
      using kept = await start();
      const at = await desk({ open: kept.open }, 'user-approval');
      const { clerk, thread, dying } = at;
      const request = requestIn(thread);
      dying.threadId = 't';
      const dead = clerk.run(request.approve(), thread, { principal: 'Ada' });
      await expect(dead).rejects.toThrow('The process died.');
      dying.threadId = '';
      const by = { principal: 'Ben' };
      const next = {
        'the same answer': async () => errorCode(clerk.run(request.approve(), thread, by)),
        'a run': async () => errorCode(clerk.run([], thread)),
        'another answer': async () => errorCode(clerk.run(request.reject('No.'), thread, by)),
      };
      expect(await next[how]()).toBe(how === 'another answer' ? 'already-answered' : 'no error');
      expect(thread.decisions).toMatchObject([{ status: 'approved', principal: 'Ada' }]);
      await clerk.run([], thread);
      expect(at.paid).toHaveLength(1);
      expect(thread.status).toBe('idle');
    },
  );
});

describe.each(stores)('$name: copies and levels', ({ start }) => {
  test('through three levels the innermost agent counts, and every thread shows its votes', async () => {
    using kept = await start();
    const at = await desk({ open: kept.open, payer: { mayAnswer: only(new Set(['Ada', 'Ben'])) } });
    const clerk = at.delegating('clerk', at.newPayer());
    const boss = at.delegating('boss', clerk, { principalId: () => 'one' });
    const thread = await boss.thread('boss');
    const middle = async () => clerk.thread(thread.calls[0]?.agent?.threadId ?? '');
    await boss.run('Pay.', thread, { principal: 'Eve' });
    expect(requestIn(thread).path).toHaveLength(2);
    const yes = requestIn(thread).approve();
    expect(await errorCode(boss.respond(yes, thread, { principal: 'Eve' }))).toBe('not-allowed');
    await boss.respond(yes, thread, { principal: 'Ada' });
    expect(votersOf(requestIn(thread))).toEqual(['Ada']);
    expect(votersOf(requestIn(await middle()))).toEqual(['Ada']);
    await boss.withdraw(thread, yes.requestId, { principal: 'Ada' });
    expect(votersOf(requestIn(await middle()))).toEqual([]);
    await boss.respond(yes, thread, { principal: 'Ben' });
    const done = await boss.run(yes, thread, { principal: 'Ada' });
    expect(done).toMatchObject({ status: 'completed' });
    expect(at.paid).toHaveLength(1);
    expect((await middle()).decisions).toMatchObject([{ status: 'approved', principal: 'Ada' }]);
  });

  test('a copy of the parent thread shows the votes that were given through the other copy', async () => {
    using kept = await start();
    using other = await start();
    const at = await desk({ open: kept.open });
    const elsewhere = at.delegating('clerk', at.payer, { store: other.open(), hasAsked: true });
    const copy = await elsewhere.restore(JSON.stringify(at.thread));
    await at.clerk.respond(requestIn(at.thread).approve(), at.thread, { principal: 'Ada' });
    const done = await elsewhere.run(requestIn(copy).approve(), copy, { principal: 'Ben' });
    expect(done.status).toBe('completed');
    expect(copy.events.map(({ type }) => type)).toContain('request-voted');
    expect(copy.decisions).toMatchObject([{ status: 'approved', principal: 'Ben' }]);
    const late = at.clerk.respond(requestIn(at.thread).reject(), at.thread, { principal: 'Cem' });
    expect(await errorCode(late)).toBe('already-answered');
    expect(at.thread.decisions).toMatchObject([{ status: 'approved', principal: 'Ben' }]);
    await at.clerk.run([], at.thread);
    expect(at.paid).toHaveLength(1);
  });

  test('Ben votes through another copy: nobody is counted twice, and no vote is lost, where the thread shows the old votes', async () => {
    using kept = await start();
    using other = await start();
    const at = await desk({ open: kept.open }, { ...quorum, quorum: 3 });
    const { clerk, thread } = at;
    await clerk.respond(requestIn(thread).approve(), thread, { principal: 'Ada' });
    const elsewhere = at.delegating('clerk', at.payer, { store: other.open(), hasAsked: true });
    const copy = await elsewhere.restore(JSON.stringify(thread));
    await elsewhere.respond(requestIn(copy).approve(), copy, { principal: 'Ben' });
    expect(votersOf(requestIn(thread))).toEqual(['Ada']);
    const next = await at.startProcess();
    expect(votersOf(requestIn(next.thread))).toEqual(['Ada']);
    const yes = requestIn(next.thread).approve();
    await next.clerk.respond(yes, next.thread, { principal: 'Ben' });
    expect(votersOf(requestIn(next.thread))).toEqual(['Ada', 'Ben']);
    await elsewhere.withdraw(copy, yes.requestId, { principal: 'Ada' });
    const waiting = await next.clerk.run(yes, next.thread, { principal: 'Cem' });
    expect(waiting.status).toBe('waiting');
    expect(votersOf(requestIn(next.thread))).toEqual(['Ben', 'Cem']);
    await next.clerk.run(yes, next.thread, { principal: 'Dee' });
    expect(next.thread.decisions).toMatchObject([{ status: 'approved', principal: 'Dee' }]);
    expect(at.paid).toHaveLength(1);
    await elsewhere.run([], copy);
    expect([copy.status, at.paid]).toEqual(['idle', [{ euros: 900 }]]);
  });

  test('nobody approves a request that somebody edited through another copy of the thread', async () => {
    using kept = await start();
    using other = await start();
    const at = await desk({ open: kept.open }, { ...quorum, editable: true });
    const elsewhere = at.delegating('clerk', at.payer, { store: other.open(), hasAsked: true });
    const copy = await elsewhere.restore(JSON.stringify(at.thread));
    const edit = requestIn(at.thread).approve({ input: { euros: 5_000 } });
    await at.clerk.respond(edit, at.thread, { principal: 'Ben' });
    const shown = requestIn(copy);
    for (const answer of [shown.approve(), { ...shown.approve(), digest: undefined }]) {
      const stale = elsewhere.respond(answer, copy, { principal: 'Ada' });
      expect(await errorCode(stale)).toBe('answer-mismatch');
    }
    expect(requestIn(copy)).toMatchObject({
      toolCall: { input: { euros: 5_000 } },
      edit: { person: 'Ben' },
    });
    await elsewhere.run(requestIn(copy).approve(), copy, { principal: 'Ada' });
    expect(at.paid).toEqual([{ euros: 5_000 }]);
  });

  test('nobody approves the original input where somebody took back the edit that was shown', async () => {
    using kept = await start();
    using other = await start();
    const at = await desk({ open: kept.open }, { ...quorum, editable: true });
    const { clerk, thread } = at;
    await clerk.respond(requestIn(thread).approve({ input: { euros: 50 } }), thread, {
      principal: 'Ben',
    });
    const elsewhere = at.delegating('clerk', at.payer, { store: other.open(), hasAsked: true });
    const copy = await elsewhere.restore(JSON.stringify(thread));
    const back = requestIn(thread).approve({ input: { euros: 900 } });
    await clerk.respond(back, thread, { principal: 'Cem' });
    expect(requestIn(thread).edit).toBeUndefined();
    const stale = elsewhere.run(requestIn(copy).approve(), copy, { principal: 'Ada' });
    expect(await errorCode(stale)).toBe('answer-mismatch');
    expect(votersOf(requestIn(copy))).toEqual(['Cem']);
    expect(at.paid).toEqual([]);
  });

  test('nobody approves an edit above by which the sub-agent, restored from before it, would run the original', async () => {
    using kept = await start();
    using other = await start();
    const at = await desk({ open: kept.open }, { ...quorum, editable: true });
    const before = JSON.stringify(await childOf(at));
    const edit = requestIn(at.thread).approve({ input: { euros: 50 } });
    await at.clerk.respond(edit, at.thread, { principal: 'Ben' });
    const store = other.open();
    const payer = at.newPayer({ store, hasAsked: true });
    await payer.restore(before);
    const clerk = at.delegating('clerk', payer, { store, hasAsked: true });
    const copy = await clerk.restore(JSON.stringify(at.thread));
    for (const principal of ['Ada', 'Cem', 'Dee']) {
      const stale = clerk.run(requestIn(copy).approve(), copy, { principal });
      expect(await errorCode(stale)).toBe('answer-mismatch');
    }
    expect(at.paid).toEqual([]);
  });

  test('a request that was approved below before its cancellation is shown as approved, and nobody in particular takes that back', async () => {
    using kept = await start();
    const at = await desk({ open: kept.open }, 'user-approval');
    const { clerk, thread, dying } = at;
    const request = requestIn(thread);
    dying.threadId = 't';
    await expect(clerk.respond(request.approve(), thread, { principal: 'Ada' })).rejects.toThrow();
    dying.threadId = '';
    expect(await errorCode(clerk.cancel(thread))).toBe('not-allowed');
    await clerk.cancel(thread, undefined, { principal: 'Ada' });
    expect(thread.decisions).toMatchObject([{ status: 'approved', principal: 'Ada' }]);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
    await clerk.run([], thread);
    expect(at.paid).toEqual([]);
  });
});

describe('a thread with an approval that its sub-agent never received', () => {
  test('counts it for nothing: what the sub-agent decides does not follow it, and the log is refused', async () => {
    const { clerk, thread, paid } = await approvedAbove(false);
    const answer = clerk.run(requestIn(thread).approve(), thread, { principal: 'Ben' });
    expect(await errorCode(answer)).toBe('log-tampered');
    expect(paid).toEqual([]);
  });

  test('ends the call if it closed a request that the sub-agent has not decided', async () => {
    const { clerk, thread, paid } = await approvedAbove(true);
    const done = await clerk.run([], thread);
    expect(done.status).toBe('completed');
    expect(thread.calls).toMatchObject([
      { status: 'failed', outcome: { error: expect.stringContaining('waits for more answers') } },
    ]);
    expect(paid).toEqual([]);
  });
});
