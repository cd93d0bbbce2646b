import { memoryStore, type ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { storeKits } from '../support/store-kits.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { dyingStore } from '../tools/dying-store.ts';
import {
  answerOnly,
  connect,
  listOpen,
  makeBank,
  makeWorld,
  onlyRequest,
  payment,
  readTexts,
} from './gate-world.ts';

const kinds = [
  { kind: 'asks', rules: {}, requests: 1 },
  { kind: 'needs nobody', rules: { toolApproval: () => 'approved' as const }, requests: 0 },
];

/* More appends than a call takes. */
const points = Array.from({ length: 12 }, (_each, index) => index + 1).flatMap((append) =>
  (['before', 'after'] as const).map((when) => ({ append, when })),
);

/** Lets a gate die at a point, and the client call again until it is told what became of its call. */
async function playDeath(
  { store, rules }: { store: ThreadStore; rules: (typeof kinds)[number]['rules'] },
  { append, when }: (typeof points)[number],
  restMs: number,
): Promise<{ told: string; effects: number; asked: number }> {
  const clock = virtualClock();
  const bank = makeBank();
  const dying = dyingStore(store, append, when);
  const { gate } = makeWorld({ ...rules, store, clock, bank });
  /* Its tools are pinned before. */
  await connect(gate);
  const before = makeWorld({ ...rules, store: dying.store, clock, bank });
  const approveAll = async (): Promise<void> => {
    for (const request of await listOpen(gate))
      await gate.agent.respond(request.approve(), await gate.agent.thread(request.threadId));
  };
  let told = '';
  const client = await connect(before.gate);
  const hear = async (): Promise<void> => {
    const result = await client.callTool(payment);
    if (!dying.isDead) [told = ''] = readTexts(result);
  };
  void hear();
  await clock.pass(3_000);
  await approveAll();
  await clock.pass(3_000 + restMs);
  for (let attempts = 0; attempts < 5 && !/^pay done|unknown/.test(told); attempts += 1) {
    const again = await connect(gate);
    const result = again.callTool(payment);
    await clock.pass(20_000);
    await approveAll();
    await clock.pass(30_000);
    [told = ''] = readTexts(await result);
  }
  const asked = (await store.requests?.count({ agent: 'gate', kind: 'approval' })) ?? 0;
  return { told: told.split(' ', 3).join(' '), effects: bank.calls.length, asked };
}

const trials = kinds.flatMap((each) =>
  storeKits.flatMap(({ name, keep }) =>
    [0, 70_000].map((restMs) => ({ ...each, restMs, name, keep })),
  ),
);

test.each(trials)(
  'wherever the gate dies, a call that $kind takes effect at most once, and its client is told truly, and nobody is asked twice ($name, $restMs ms later)',
  async ({ rules, restMs, requests, keep }) => {
    const ends = new Set<string>();
    for (const point of points) {
      using kept = keep();
      const ground = { store: kept.open(), rules };
      const { told, effects, asked } = await playDeath(ground, point, restMs);
      expect({ ...point, asked }).toEqual({ ...point, asked: requests });
      ends.add(`${told}: ${effects}`);
    }
    expect([...ends].toSorted()).toEqual(['It is unknown: 0', 'It is unknown: 1', 'pay done: 1']);
  },
);

/** A gate that holds a call, until it dies. */
async function holdUntilDeath() {
  const clock = virtualClock();
  const store = memoryStore();
  const bank = makeBank();
  const dying = dyingStore(store, Infinity, 'before');
  const before = makeWorld({ store: dying.store, clock, bank });
  const first = (await connect(before.gate)).callTool(payment);
  first.catch(() => {});
  await clock.pass(1_000);
  const { threadId } = await onlyRequest(before.gate);
  const { gate } = makeWorld({ store, clock, bank });
  const client = await connect(gate);
  return { gate, client, clock, bank, threadId, dying: { ...dying, kept: store } };
}

test.each([
  ['an answer that comes after', 14_000, 16_000],
  ['an answer that comes while the gate is asked for', 2_000, 15_000],
])(
  'the call that a killed gate held is taken up with %s, and nobody is asked twice',
  async (_when, before, after) => {
    const { gate, client, clock, bank, threadId, dying } = await holdUntilDeath();
    dying.die();
    const again = client.callTool(payment);
    await clock.pass(before);
    expect(await onlyRequest(gate)).toMatchObject({ threadId });
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(after);
    expect(readTexts(await again)).toEqual(['pay done']);
    expect(bank.calls).toHaveLength(1);
  },
);

test('of two equal calls, the one whose gate was killed is taken up, and the other one is not', async () => {
  const { gate, client, clock, bank, threadId, dying } = await holdUntilDeath();
  const twin = client.callTool(payment);
  await clock.pass(3_000);
  dying.die();
  const { gate: third } = makeWorld({ store: dying.kept, clock, bank });
  const again = (await connect(third)).callTool(payment);
  await clock.pass(25_000);
  expect(await listOpen(gate)).toHaveLength(2);
  const lost = (await listOpen(gate)).find((request) => request.threadId === threadId);
  if (lost === undefined) throw new Error('The first call is not asked about.');
  await gate.agent.respond(lost.approve(), await gate.agent.thread(threadId));
  await clock.pass(2_000);
  expect(readTexts(await again)).toEqual(['pay done']);
  await clock.pass(45_000);
  expect(readTexts(await twin)[0]).toMatch(/^Pending/);
  expect(bank.calls).toHaveLength(1);
});

test('a call whose gate lives is not taken up, also by one that asks shortly before the hold ends', async () => {
  for (const passed of [1_000, 30_000, 41_000]) {
    const { gate, client, clock, bank, threadId } = await holdUntilDeath();
    await clock.pass(passed);
    client.callTool(payment).catch(() => {});
    await clock.pass(3_000);
    const open = await listOpen(gate);
    expect(open).toHaveLength(2);
    const mine = open.find((request) => request.threadId !== threadId);
    if (mine === undefined) throw new Error('The second call is not asked about.');
    await gate.agent.respond(mine.approve(), await gate.agent.thread(mine.threadId));
    await clock.pass(2_000);
    expect(bank.calls).toHaveLength(1);
  }
});

test('a gate that holds a call writes nothing while nobody asks for it', async () => {
  const { gate, clock, threadId } = await holdUntilDeath();
  const { revision } = await gate.agent.thread(threadId);
  await clock.pass(40_000);
  expect((await gate.agent.thread(threadId)).revision).toBe(revision);
});

test('a client is told in time that its call is pending, also if it had to be found out whose call it is', async () => {
  const { client, clock, dying } = await holdUntilDeath();
  dying.die();
  const again = client.callTool(payment);
  await clock.pass(45_000);
  expect(readTexts(await again)[0]).toMatch(/^Pending/);
});

test('a gate that closes while it finds out whose call it is tells its client to call again', async () => {
  const { gate, client, clock, dying } = await holdUntilDeath();
  dying.die();
  const again = client.callTool(payment);
  await clock.pass(2_000);
  const closed = gate.close();
  expect(readTexts(await again)).toEqual([
    'The gate is closing. Call again with exactly the same arguments.',
  ]);
  await closed;
});
