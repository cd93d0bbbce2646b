import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { virtualClock } from '../support/virtual-clock.ts';
import { dyingStore } from '../tools/dying-store.ts';
import { connect, listOpen, makeBank, makeWorld, payment, readTexts } from './gate-world.ts';

const kinds = [
  { kind: 'asks', rules: {} },
  { kind: 'needs nobody', rules: { toolApproval: () => 'approved' as const } },
];

/* More appends than a call takes. */
const points = Array.from({ length: 12 }, (_each, index) => index + 1).flatMap((append) =>
  (['before', 'after'] as const).map((when) => ({ append, when })),
);

/** Lets a gate die at a point, and the client call again until it is told what became of its call. */
async function playDeath(
  rules: (typeof kinds)[number]['rules'],
  { append, when }: (typeof points)[number],
  restMs: number,
): Promise<{ told: string; effects: number }> {
  const clock = virtualClock();
  const store = memoryStore();
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
  return { told: told.split(' ', 3).join(' '), effects: bank.calls.length };
}

test.each(kinds.flatMap((each) => [0, 70_000].map((restMs) => ({ ...each, restMs }))))(
  'wherever the gate dies, a call that $kind takes effect at most once, and its client is told truly ($restMs ms later)',
  async ({ rules, restMs }) => {
    const ends = new Set<string>();
    for (const point of points) {
      const { told, effects } = await playDeath(rules, point, restMs);
      ends.add(`${told}: ${effects}`);
    }
    expect([...ends].toSorted()).toEqual(['It is unknown: 0', 'It is unknown: 1', 'pay done: 1']);
  },
);
