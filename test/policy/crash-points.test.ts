import type { ApprovalRequestContent } from 'holdpoint';
import { memoryStore } from 'holdpoint';
import { eventsIn } from '../support/events-in.ts';
import { describe, expect, test } from 'vitest';
import { PolicyWorld, type ThreadName } from '../faults/policy-world.ts';
import type { PlannedCall } from '../faults/stateless-model.ts';
import { pickCases } from '../support/sampling.ts';

const name: ThreadName = 'of-ann';

/** A world in which one process after another tries each thing until it is done, and one or more of them die. */
class Story {
  readonly store = memoryStore();
  readonly world: PolicyWorld;
  #deaths: { at: number; isBefore: boolean }[];

  constructor(plan: PlannedCall[][], deaths: { at: number; isBefore: boolean }[]) {
    this.world = new PolicyWorld(() => this.store, plan);
    this.#deaths = deaths;
  }

  /** Does something; once more in another process if the first has died meanwhile. */
  async does(work: Parameters<PolicyWorld['act']>[2]): Promise<void> {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const worker = await this.world.worker(0);
      const [next] = this.#deaths;
      if (next !== undefined && worker.diesAfter === Infinity) {
        worker.diesAfter = next.at;
        worker.diesBefore = next.isBefore;
        this.#deaths.shift();
      }
      await this.world.act(0, name, work);
      if (!worker.isDead) return;
      /* The lease of the dead process ends. */
      this.world.jump(61_000);
    }
  }

  async says(): Promise<void> {
    const before = await this.#messages();
    await this.does(async (agent, thread) => {
      const isSaid = thread.messages.filter(({ role }) => role === 'user').length > before;
      await agent.run(isSaid ? [] : 'Go on', thread, { principal: 'ann' });
    });
  }

  /** A person answers what is asked about. */
  async answers(
    principal: string,
    answer: (request: ApprovalRequestContent) => ReturnType<ApprovalRequestContent['approve']>,
  ): Promise<void> {
    let given: ReturnType<typeof answer> | undefined;
    await this.does(async (agent, thread) => {
      const [request] = thread.activeApprovalRequests;
      given ??= request && answer(request);
      await agent.run(given ?? [], thread, { principal });
    });
  }

  /** Whether a death has not come yet. */
  async isSpared(): Promise<boolean> {
    return (await this.world.worker(0)).diesAfter !== Infinity;
  }

  async types(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { type } of await eventsIn(this.store, name)) {
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    return counts;
  }

  async #messages(): Promise<number> {
    const events = await eventsIn(this.store, name);
    return events.filter(({ type }) => type === 'message-added').length;
  }
}

type Deaths = { at: number; isBefore: boolean }[];

const stories: [what: string, play: (deaths: Deaths) => Promise<Story>, once: string[]][] = [
  [
    'votes, a withdrawn one, one for somebody else, and an edit',
    async (deaths) => {
      const story = new Story([[['pay', 'Paris']]], deaths);
      await story.says();
      await story.answers('bob', (request) => request.approve());
      const id = story.world.shown[0]?.request.requestId ?? '';
      await story.does(async (agent, thread) => agent.withdraw(thread, id, { principal: 'bob' }));
      await story.does(async (agent, thread) => {
        const [request] = thread.activeApprovalRequests;
        if (request?.reassignments !== undefined) return;
        await agent.reassign(thread, id, 'dee', { principal: 'bob' });
      });
      const input = { city: 'Paris', price: 5 };
      await story.answers('dee', (request) => request.approve({ input }));
      await story.answers('cy', (request) => request.approve());
      return story;
    },
    ['request-answered', 'vote-withdrawn', 'request-reassigned'],
  ],
  [
    'a standing approval of two people',
    async (deaths) => {
      const story = new Story([[['pay', 'Paris']], [['pay', 'Paris']]], deaths);
      await story.says();
      const remember = true;
      const input = { city: 'Paris', price: 5 };
      await story.answers('bob', (request) => request.approve({ input, remember }));
      await story.answers('cy', (request) => request.approve({ remember }));
      await story.says();
      await story.does(async (agent) => {
        for (const grant of await agent.grants()) await agent.revoke(grant, { principal: 'bob' });
      });
      return story;
    },
    ['request-answered', 'grant-created', 'grant-used'],
  ],
  [
    'a reminder, an escalation, and a standing approval that is revoked',
    async (deaths) => {
      const story = new Story([[['move', 'Paris']], [['move', 'Paris']]], deaths);
      await story.says();
      story.world.jump(200_000);
      await story.does(async (agent, thread) => agent.run([], thread));
      story.world.jump(100_000);
      await story.does(async (agent, thread) => agent.run([], thread));
      await story.answers('dee', (request) =>
        request.approve({ reason: 'Fine.', remember: { scope: 'thread' } }),
      );
      await story.does(async (agent, thread) => {
        const [grant] = thread.grants;
        if (grant !== undefined) await agent.revoke(grant, { principal: 'bob' });
      });
      await story.says();
      return story;
    },
    ['request-reminded', 'request-answered', 'grant-created', 'grant-revoked', 'request-closed'],
  ],
  [
    'a request that is asked again',
    async (deaths) => {
      const story = new Story([[['pay', 'Rome']]], deaths);
      await story.says();
      story.world.jump(900_000);
      await story.does(async (agent, thread) => agent.run([], thread));
      await story.answers('bob', (request) => request.approve());
      await story.answers('cy', (request) => request.approve());
      return story;
    },
    ['request-voted', 'request-answered', 'request-closed'],
  ],
];

describe('a process that dies before or after any append breaks nothing:', () => {
  test.each(pickCases(stories))('%s', async (_what, play, once) => {
    const sound = await play([]);
    expect(await sound.world.faults()).toEqual([]);
    const types = await sound.types();
    expect(once.filter((type) => types.get(type) !== 1)).toEqual([]);
    let isOver = false;
    for (let at = 0; !isOver; at += 1) {
      for (const isBefore of [true, false]) {
        const story = await play([{ at, isBefore }]);
        isOver = await story.isSpared();
        expect({ at, isBefore, faults: await story.world.faults() }).toEqual({
          at,
          isBefore,
          faults: [],
        });
        const found = await story.types();
        const twice = once.filter((type) => (found.get(type) ?? 0) > 1);
        expect({ at, isBefore, twice }).toEqual({ at, isBefore, twice: [] });
      }
    }
  });
});
