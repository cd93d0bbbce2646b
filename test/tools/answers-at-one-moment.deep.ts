import type { ApprovalRequestContent, MayAnswer, ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { everyStore } from '../support/every-store.ts';
import { Pause } from '../support/pause.ts';
import { type Desk, type Process, recorded, resume, resumeTwice, say } from './desk-stories.ts';
import { childOf, desk, quorum, requestIn, votersOf } from './payment-desk.ts';

/* Where a process waits that answers, while somebody answers through another one. */
const points = ['asked above', 'asked below', 'recording below', 'recording above'] as const;
type Point = (typeof points)[number];

const pairs = [
  ['Ada', 'Ben'],
  ['Ben', 'Ada'],
] as const;

/* Dee answers only for somebody who has asked her to. */
const mayAnswer: MayAnswer = ({ principal, request }) =>
  principal !== 'Dee' ||
  (request.type === 'approval-request' && request.approvers?.includes('Dee') === true);

const editTo50 = (request: ApprovalRequestContent) => request.approve({ input: { euros: 50 } });

/** Somebody asks Dee to answer instead. */
async function askDee({ clerk, thread }: Process, principal: string): Promise<unknown> {
  return errorCode(clerk.reassign(thread, requestIn(thread).requestId, 'Dee', { principal }));
}

/** A process that waits at a point. */
async function startSlow(at: Desk, point: Point, pause: Pause): Promise<Process> {
  const askedAt =
    (where: Point): MayAnswer =>
    async (about) => {
      if (where === point) await pause.wait();
      return mayAnswer(about);
    };
  const see = (store: ThreadStore): ThreadStore => ({
    ...store,
    append: async (...input) => {
      const where = input[0] === at.thread.id ? 'recording above' : 'recording below';
      if (where === point) await pause.wait();
      return store.append(...input);
    },
  });
  const clerk = { mayAnswer: askedAt('asked above') };
  return at.startProcess({ see, clerk, payer: { mayAnswer: askedAt('asked below') } });
}

/** Plays a story at each point, and with the two people in either order; each in a thread of its own. */
async function playEach(
  open: () => ThreadStore,
  rule: Parameters<typeof desk>[1],
  story: (scene: {
    at: Desk;
    slow: Process;
    pause: Pause;
    first: string;
    second: string;
    point: Point;
  }) => Promise<void>,
): Promise<void> {
  for (const [first, second] of pairs) {
    for (const point of points) {
      const threadId = `${point}, ${first} is slow`;
      const at = await desk({ clerk: { mayAnswer }, payer: { mayAnswer }, open, threadId }, rule);
      const pause = new Pause();
      const slow = await startSlow(at, point, pause);
      await story({ at, slow, pause, first, second, point });
    }
  }
}

describe.each(everyStore())('$name: while one person answers for a sub-agent', ({ start }) => {
  test('another gives the second of two approvals: both count, and it is paid once', async () => {
    using kept = await start();
    await playEach(kept.open, quorum, async ({ at, slow, pause, first, second, point }) => {
      const code = await pause.during(say(slow, first), async () => {
        expect(await say(await at.startProcess(), second)).toBe('no error');
      });
      expect(code).toBe('no error');
      const [one, other] = point === 'recording above' ? [first, second] : [second, first];
      expect(await recorded(at)).toEqual([
        ['request-voted', one, true],
        ['request-answered', other, true],
      ]);
      expect(at.paid).toEqual([]);
      await resumeTwice(at);
      expect(at.paid).toEqual([{ euros: 900 }]);
    });
  });

  test('another gives the second of three approvals: both threads show both, and a third person decides', async () => {
    using kept = await start();
    const rule = { ...quorum, quorum: 3 };
    await playEach(kept.open, rule, async ({ at, slow, pause, first, second }) => {
      await pause.during(say(slow, first), async () => say(await at.startProcess(), second));
      const votes = [first, second].map((person) => ['request-voted', person, true]);
      expect(new Set(await recorded(at))).toEqual(new Set(votes));
      await resume(at);
      expect(at.paid).toEqual([]);
      const { thread, ...process } = await at.startProcess();
      expect(new Set(votersOf(requestIn(thread)))).toEqual(new Set([first, second]));
      expect(await say({ ...process, thread }, first)).toBe('no error');
      expect(thread.activeRequests).toHaveLength(1);
      expect(await say({ ...process, thread }, 'Cem')).toBe('no error');
      expect((await recorded(at)).at(-1)).toEqual(['request-answered', 'Cem', true]);
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });

  test('another rejects: the first that the sub-agent records decides, under the name of who gave it', async () => {
    using kept = await start();
    await playEach(
      kept.open,
      'user-approval',
      async ({ at, slow, pause, first, second, point }) => {
        let other: unknown;
        const code = await pause.during(say(slow, first), async () => {
          other = await say(await at.startProcess(), second, (request) => request.reject('No.'));
        });
        const isApproved = point === 'recording above';
        expect([code, other]).toEqual(
          isApproved ? ['no error', 'already-answered'] : ['already-answered', 'no error'],
        );
        const person = isApproved ? first : second;
        expect(await recorded(at)).toEqual([['request-answered', person, isApproved]]);
        await resumeTwice(at);
        expect(at.paid).toHaveLength(isApproved ? 1 : 0);
      },
    );
  });

  test('another edits: an approval of the old input counts for no other', async () => {
    using kept = await start();
    const rule = { ...quorum, editable: true } as const;
    await playEach(kept.open, rule, async ({ at, slow, pause, first, second, point }) => {
      const code = await pause.during(say(slow, first), async () => {
        expect(await say(await at.startProcess(), second, editTo50)).toBe('no error');
      });
      expect(code).toBe('answer-mismatch');
      const { thread, ...process } = await at.startProcess();
      expect(votersOf(requestIn(thread))).toEqual([second]);
      expect(requestIn(thread).toolCall?.input).toEqual({ euros: 50 });
      expect((await recorded(at)).length).toBe(point === 'recording above' ? 2 : 1);
      await resume(at);
      expect(at.paid).toEqual([]);
      expect(await say({ ...process, thread }, first)).toBe('no error');
      await resumeTwice(at);
      expect(at.paid).toEqual([{ euros: 50 }]);
    });
  });

  test('another takes back the first approval: one is left, unless both were recorded before', async () => {
    using kept = await start();
    await playEach(kept.open, quorum, async ({ at, slow, pause, first, second, point }) => {
      await say(await at.startProcess(), second);
      let other: unknown;
      const code = await pause.during(say(slow, first), async () => {
        const { clerk, thread } = await at.startProcess();
        const { requestId } = requestIn(thread);
        other = await errorCode(clerk.withdraw(thread, requestId, { principal: second }));
      });
      expect(code).toBe('no error');
      const isDecided = point === 'recording above';
      expect(other).toBe(isDecided ? 'request-closed' : 'no error');
      expect((await recorded(at)).at(-1)).toEqual([
        isDecided ? 'request-answered' : 'request-voted',
        first,
        true,
      ]);
      await resume(at);
      expect(at.paid).toHaveLength(isDecided ? 1 : 0);
      if (isDecided) return;
      const process = await at.startProcess();
      expect(votersOf(requestIn(process.thread))).toEqual([first]);
      expect(await say(process, second)).toBe('no error');
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });

  test('nobody answers in the thread of the sub-agent: what is tried there is refused, and changes nothing', async () => {
    using kept = await start();
    await playEach(kept.open, quorum, async ({ at, slow, pause, first, second }) => {
      const answerBelow = async (): Promise<void> => {
        const { payer, thread } = await at.startProcess();
        const child = await childOf({ payer, thread });
        const { revision } = child;
        const own = requestIn(child);
        const by = { principal: second };
        for (const answer of [own.approve(), requestIn(thread).approve(), own.reject()]) {
          expect(await errorCode(payer.respond(answer, child, by))).toBe('not-allowed');
          expect(await errorCode(payer.run(answer, child, by))).toBe('not-allowed');
        }
        expect((await childOf({ payer, thread })).revision).toBe(revision);
      };
      await pause.during(say(slow, first), answerBelow);
      expect(await recorded(at)).toEqual([['request-voted', first, true]]);
      await answerBelow();
      expect(await say(await at.startProcess(), second)).toBe('no error');
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });

  test('another asks Dee to answer instead: the vote counts, and Dee gives the second', async () => {
    using kept = await start();
    await playEach(kept.open, quorum, async ({ at, slow, pause, first, second }) => {
      expect(await say(await at.startProcess(), 'Dee')).toBe('not-allowed');
      const code = await pause.during(say(slow, first), async () => {
        expect(await askDee(await at.startProcess(), second)).toBe('no error');
      });
      expect(code).toBe('no error');
      expect(await recorded(at)).toEqual([['request-voted', first, true]]);
      await resume(at);
      expect(at.paid).toEqual([]);
      const { thread, payer } = await at.startProcess();
      const asked = [{ from: second, to: 'Dee', principal: second }];
      for (const each of [thread, await childOf({ payer, thread })]) {
        expect(requestIn(each)).toMatchObject({ votes: [{ person: first }], reassignments: asked });
      }
      expect(await say(await at.startProcess(), 'Dee')).toBe('no error');
      expect((await recorded(at)).at(-1)).toEqual(['request-answered', 'Dee', true]);
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });

  test('Dee, whom the same person has asked, answers too: both are one vote, and another person decides', async () => {
    using kept = await start();
    await playEach(kept.open, quorum, async ({ at, slow, pause, first, second, point }) => {
      expect(await askDee(await at.startProcess(), first)).toBe('no error');
      const code = await pause.during(say(slow, first), async () => {
        expect(await say(await at.startProcess(), 'Dee')).toBe('no error');
      });
      expect(code).toBe('no error');
      const votes = [first, 'Dee'].map((person) => ['request-voted', person, true]);
      expect(new Set(await recorded(at))).toEqual(new Set(votes));
      await resume(at);
      expect(at.paid).toEqual([]);
      const { thread } = await at.startProcess();
      /* The later of their votes stands for both. */
      const later = point === 'recording above' ? 'Dee' : first;
      expect(votersOf(requestIn(thread))).toEqual([later]);
      expect(await say(await at.startProcess(), second)).toBe('no error');
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });

  test('the same person asks Dee in another tab: what was decided stays, and Dee is not asked after it', async () => {
    using kept = await start();
    await playEach(kept.open, 'user-approval', async ({ at, slow, pause, first, point }) => {
      let asking: unknown;
      const code = await pause.during(say(slow, first), async () => {
        asking = await askDee(await at.startProcess(), first);
      });
      expect(code).toBe('no error');
      expect(asking).toBe(point === 'recording above' ? 'request-closed' : 'no error');
      expect(await recorded(at)).toEqual([['request-answered', first, true]]);
      await resumeTwice(at);
      expect(at.paid).toHaveLength(1);
    });
  });
});
