import { array, assert, asyncProperty, boolean, constantFrom, oneof, record } from 'fast-check';
import {
  type Agent,
  type AgentThread,
  type ApprovalRequestContent,
  HoldpointError,
} from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { office } from './office.ts';
import { countTrials, triesAll } from '../support/sampling.ts';

const people = ['ann', 'bob', 'cy', 'dee', 'eve'] as const;
const cities = ['Paris', 'Rome', 'Oslo'] as const;
const who = oneof(
  { weight: 3, arbitrary: constantFrom('bob', 'cy') },
  { weight: 2, arbitrary: constantFrom(...people) },
);

/** What people and time can do with an open request. */
const moves = {
  approve: record({
    who,
    stale: oneof(
      { weight: 5, arbitrary: constantFrom(0) },
      { weight: 1, arbitrary: constantFrom(1, 2) },
    ),
    city: oneof(
      { weight: 6, arbitrary: constantFrom(undefined) },
      { weight: 1, arbitrary: constantFrom(...cities) },
    ),
    runs: boolean(),
  }),
  withdraw: record({ who }),
  reassign: record({ who, to: constantFrom(...people, 'owners') }),
  join: record({ who }),
  leave: record({ who }),
  wait: record({ ms: constantFrom(1, 400, 999, -300) }),
  run: record({ restarts: boolean() }),
};
const move = oneof(
  { weight: 6, arbitrary: moves.approve.map((given) => ({ type: 'approve' as const, ...given })) },
  {
    weight: 1,
    arbitrary: moves.withdraw.map((given) => ({ type: 'withdraw' as const, ...given })),
  },
  {
    weight: 2,
    arbitrary: moves.reassign.map((given) => ({ type: 'reassign' as const, ...given })),
  },
  { weight: 1, arbitrary: moves.join.map((given) => ({ type: 'join' as const, ...given })) },
  { weight: 1, arbitrary: moves.leave.map((given) => ({ type: 'leave' as const, ...given })) },
  { weight: 1, arbitrary: moves.wait.map((given) => ({ type: 'wait' as const, ...given })) },
  { weight: 1, arbitrary: moves.run.map((given) => ({ type: 'run' as const, ...given })) },
);
type Move = typeof move extends { generate: unknown }
  ? ReturnType<typeof move.generate>['value']
  : never;

/** An approval that was accepted: who gave it, and what they were shown, or sent. */
interface Given {
  person: string;
  requestId: string;
  city: string;
}

/** A world of two owners' approvals, which knows what each person was shown when they approved. */
class Watched {
  readonly at = office({
    book: {
      type: 'user-approval',
      approvers: ['owners'],
      notRequester: true,
      quorum: 2,
      editable: true,
      expiresAfterMs: 1_000,
      onExpiry: 'ask-again',
    },
  });
  readonly faults: string[] = [];
  readonly #shown: ApprovalRequestContent[] = [];
  #given: Given[] = [];
  readonly #asked = new Set<string>();
  #decided: string | undefined;
  #agent: Agent = this.at.agent;
  #thread: AgentThread | undefined;

  async play(steps: readonly Move[]): Promise<void> {
    this.#thread = await this.#agent.thread('t');
    await this.#agent.run('Book', this.#thread, { principal: 'ann' });
    for (const step of steps) {
      this.#note();
      try {
        await this.#make(step, this.#thread);
      } catch (error) {
        if (!HoldpointError.isInstance(error)) throw error;
      }
      this.#check(this.#thread);
    }
  }

  /** Remembers what the page of each person may show from now on. */
  #note(): void {
    const [request] = this.#thread?.activeApprovalRequests ?? [];
    if (request !== undefined && this.#shown.at(-1)?.digest !== request.digest)
      this.#shown.push(request);
  }

  async #make(step: Move, thread: AgentThread): Promise<void> {
    const { agent } = this.at;
    const owners = (this.at.teams['owners'] ??= []);
    const requestId = this.#shown.at(-1)?.requestId ?? '';
    switch (step.type) {
      case 'approve':
        return this.#approve(step, thread);
      case 'withdraw':
        await agent.withdraw(thread, requestId, { principal: step.who });
        this.#given = this.#given.filter(({ person }) => person !== step.who);
        return undefined;
      case 'reassign':
        await agent.reassign(thread, requestId, step.to, { principal: step.who });
        this.#asked.add(step.to);
        return undefined;
      case 'join':
        owners.push(step.who);
        return undefined;
      case 'leave':
        this.at.teams['owners'] = owners.filter((name) => name !== step.who);
        return undefined;
      case 'wait':
        this.at.clock.now += step.ms;
        return undefined;
      case 'run':
        if (step.restarts) this.#thread = await agent.thread('t');
        await agent.run([], this.#thread ?? thread);
        return undefined;
    }
  }

  async #approve(
    { who: principal, stale, city, runs }: Extract<Move, { type: 'approve' }>,
    thread: AgentThread,
  ): Promise<void> {
    const request = this.#shown.at(-1 - stale);
    if (request === undefined) return;
    const answer = request.approve(city === undefined ? {} : { input: { city } });
    const input = z
      .object({ city: z.string() })
      .parse(city === undefined ? request.toolCall?.input : { city });
    const given = { person: principal, requestId: request.requestId, city: input.city };
    const before = this.#given;
    this.#given = [...before.filter(({ person }) => person !== principal), given];
    try {
      if (runs) await this.at.agent.run(answer, thread, { principal });
      else await this.at.agent.respond(answer, thread, { principal });
    } catch (error) {
      this.#given = before;
      throw error;
    }
  }

  /** Notes unless the call ran once at most, with the input that two people approved as they saw it, who may at the decision. */
  #check(thread: AgentThread): void {
    const { ran } = this.at;
    const answered = thread.events.findLast(({ type }) => type === 'request-answered');
    if (this.#decided === undefined && answered?.type === 'request-answered') {
      const { city } = z.object({ city: z.string() }).parse(thread.calls[0]?.input);
      this.#decided = city;
      const { requestId } = answered.response;
      const owners = this.at.teams['owners'] ?? [];
      const approved = this.#given.filter(
        (each) => each.requestId === requestId && each.city === city,
      );
      const allowed = approved.filter(
        ({ person }) =>
          person !== 'ann' &&
          (owners.includes(person) || this.#asked.has(person) || this.#asked.has('owners')),
      );
      if (new Set(allowed.map(({ person }) => person)).size < 2) {
        this.faults.push(`${city} was approved by ${JSON.stringify(this.#given)}`);
      }
    }
    const isAsDecided = ran.every(({ input }) => Object(input).city === this.#decided);
    if (ran.length > 1 || !isAsDecided) this.faults.push(`ran ${JSON.stringify(ran)}`);
  }

  get ran(): number {
    return this.at.ran.length;
  }
}

test('whatever people do, a call runs once at most, with the input that two who may approved as they saw it', async () => {
  let ran = 0;
  await assert(
    asyncProperty(array(move, { minLength: 4, maxLength: 25 }), async (steps) => {
      const watched = new Watched();
      await watched.play(steps);
      expect(watched.faults).toEqual([]);
      ran += watched.ran;
    }),
    { numRuns: countTrials(300) },
  );
  /* Otherwise the property says nothing. */
  expect(ran).toBeGreaterThanOrEqual(triesAll ? 21 : 0);
});
