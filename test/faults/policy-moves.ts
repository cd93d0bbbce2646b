import * as fc from 'fast-check';
import type { ApprovalRequestContent, ApprovalResponseContent, ThreadStore } from 'holdpoint';
import { names, people, PolicyWorld, threads, type ThreadName } from './policy-world.ts';
import type { PlannedCall } from './stateless-model.ts';

const workers = fc.nat({ max: 2 });
const anyone = fc.constantFrom(...people);
const nth = fc.nat({ max: 30 });

/** What somebody does, or what happens. */
const moves = fc.oneof(
  {
    weight: 7,
    arbitrary: fc.record({
      type: fc.constant('agree'),
      worker: workers,
      name: fc.constantFrom(...names),
      scope: fc.constantFrom(undefined, 'thread', 'principal', 'everyone'),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('message'),
      cancels: fc.integer({ min: 0, max: 3 }).map((value) => value === 0),
      worker: workers,
      name: fc.constantFrom(...names),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('answer'),
      worker: workers,
      nth,
      person: anyone,
      isYes: fc.integer({ min: 0, max: 5 }).map((value) => value > 0),
      edit: fc.constantFrom(undefined, undefined, undefined, 'price', 'city', 'original'),
      scope: fc.constantFrom(undefined, undefined, 'thread', 'principal', 'everyone'),
      match: fc.constantFrom('exact', 'any', 'fields'),
      isReasoned: fc.boolean(),
      runs: fc.boolean(),
      isBlind: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('withdraw'), worker: workers, nth, person: anyone }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('reassign'),
      worker: workers,
      nth,
      person: anyone,
      to: fc.constantFrom(...people, 'owners', 'managers'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('run'),
      worker: workers,
      name: fc.constantFrom(...names),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('jump'),
      ms: fc.constantFrom(10_000, 70_000, 210_000, 500_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('revoke'), worker: workers, nth }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('crash'),
      worker: workers,
      after: fc.nat({ max: 4 }),
      isBefore: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('upgrade'),
      worker: workers,
      version: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('settle'),
      worker: workers,
      name: fc.constantFrom(...names),
      person: anyone,
      retries: fc.boolean(),
    }),
  },
);
type Move = typeof moves extends fc.Arbitrary<infer MOVE> ? MOVE : never;

const call: fc.Arbitrary<PlannedCall> = fc.tuple(
  fc.constantFrom('pay', 'move', 'post', 'hold'),
  fc.constantFrom('Paris', 'Paris', 'Rome'),
);

/** The calls that models make of each message, and the moves, of which those in one group race. */
export const plays = fc.record({
  plan: fc.array(fc.array(call, { minLength: 1, maxLength: 2 }), { minLength: 12, maxLength: 12 }),
  groups: fc.array(fc.array(moves, { minLength: 1, maxLength: 3 }), {
    minLength: 10,
    maxLength: 60,
  }),
});
export type Play = typeof plays extends fc.Arbitrary<infer PLAY> ? PLAY : never;

/** Plays moves over a store, and returns what was broken, and the world. */
export async function played(
  { plan, groups }: Play,
  open: () => ThreadStore,
): Promise<{ faults: string[]; world: PolicyWorld }> {
  const world = new PolicyWorld(open, plan);
  for (const name of names) await say(world, 0, name);
  for (const group of groups) {
    for (const move of group) if (move.type === 'jump') world.jump(move.ms);
    await Promise.all(group.map(async (move) => make(world, move)));
  }
  return { faults: await world.faults(), world };
}

async function say(
  world: PolicyWorld,
  worker: number,
  name: ThreadName,
  whilePending: 'refuse' | 'cancel' = 'refuse',
): Promise<void> {
  await world.act(worker, name, async (agent, thread) =>
    agent.run('Go on', thread, { principal: threads[name], whilePending }),
  );
}

async function make(world: PolicyWorld, move: Move): Promise<void> {
  switch (move.type) {
    case 'message':
      await say(world, move.worker, move.name, move.cancels ? 'cancel' : 'refuse');
      break;
    case 'run':
      await world.act(move.worker, move.name, async (agent, thread) => agent.run([], thread));
      break;
    case 'answer': {
      const found = nthOf(world.shown.slice(-6), move.nth);
      const response = found && answerOf(found.request, move);
      if (found === undefined || response === undefined) break;
      const by = { principal: move.person, channel: 'web' };
      await world.act(move.worker, found.name, async (agent, thread) =>
        move.runs ? agent.run(response, thread, by) : agent.respond(response, thread, by),
      );
      break;
    }
    case 'agree':
      await agree(world, move);
      break;
    case 'withdraw':
    case 'reassign': {
      const found = nthOf(world.shown.slice(-6), move.nth);
      if (found === undefined) break;
      const { requestId } = found.request;
      const by = { principal: move.person };
      await world.act(move.worker, found.name, async (agent, thread) =>
        move.type === 'withdraw'
          ? agent.withdraw(thread, requestId, by)
          : agent.reassign(thread, requestId, move.to, by),
      );
      break;
    }
    case 'revoke': {
      const found = nthOf(world.grants, move.nth);
      if (found !== undefined) await world.revoke(move.worker, found);
      break;
    }
    case 'crash': {
      const worker = await world.worker(move.worker);
      worker.diesAfter = move.after;
      worker.diesBefore = move.isBefore;
      break;
    }
    case 'upgrade':
      await world.start(move.worker, move.version);
      break;
    case 'settle':
      await world.act(move.worker, move.name, async (agent, thread) => {
        const lost = thread.calls.find(({ status }) => status === 'indeterminate');
        if (lost === undefined) return;
        const outcome = move.retries
          ? ({ status: 'retry' } as const)
          : ({ status: 'failed', error: 'It is unknown.' } as const);
        await agent.settle(thread, lost.toolCallId, outcome, { principal: move.person });
      });
      break;
    case 'jump':
      break;
  }
}

/** Three people approve what they are shown, and want it remembered where that is allowed. */
async function agree(
  world: PolicyWorld,
  { worker, name, scope }: Extract<Move, { type: 'agree' }>,
): Promise<void> {
  for (const principal of ['bob', 'cy', 'dee']) {
    await world.act(worker, name, async (agent, thread) => {
      const answers = thread.activeApprovalRequests
        .filter(({ approvers }) => principal !== 'dee' || approvers?.includes('owners') !== true)
        .map((request) =>
          request.approve({
            reason: 'We agree.',
            ...(scope === undefined || request.remember === undefined
              ? {}
              : { remember: { scope: narrower(scope, request.remember.scope) } }),
          }),
        );
      await agent.run(answers, thread, { principal });
    });
  }
}

const scopes = ['thread', 'principal', 'everyone'] as const;

function narrower(
  one: (typeof scopes)[number],
  other: (typeof scopes)[number],
): (typeof scopes)[number] {
  return scopes[Math.min(scopes.indexOf(one), scopes.indexOf(other))] ?? 'thread';
}

function nthOf<VALUE>(values: readonly VALUE[], index: number): VALUE | undefined {
  return values[index % Math.max(1, values.length)];
}

/** The answer as plain data: it may ask for what the request doesn't allow. */
function answerOf(
  { requestId, digest, toolCall, remember: allowed }: ApprovalRequestContent,
  { isYes, edit, scope, match, isReasoned, isBlind }: Extract<Move, { type: 'answer' }>,
): ApprovalResponseContent {
  const original: object = Object(toolCall?.input);
  const inputs = {
    price: { ...original, price: 7 },
    city: { ...original, city: 'Oslo' },
    original,
  };
  const remember = scope && {
    ...allowed,
    scope,
    match: match === 'fields' ? ['city'] : match,
  };
  return {
    type: 'approval-response',
    requestId,
    approved: isYes,
    ...(isReasoned ? { reason: 'It is fine.' } : {}),
    ...(isBlind ? {} : { digest }),
    ...(edit === undefined || !isYes ? {} : { input: inputs[edit] }),
    ...(remember === undefined ? {} : { remember }),
  };
}
