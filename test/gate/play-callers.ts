import * as fc from 'fast-check';
import type { ThreadStore } from 'holdpoint';
import { virtualClock } from '../support/virtual-clock.ts';
import { dyingStore } from '../tools/dying-store.ts';
import { connect, listOpen, makeBank, makeWorld, readTexts, text } from './gate-world.ts';

const client = fc.nat({ max: 2 });
const nth = fc.nat({ max: 3 });

const move = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('call' as const), client, fc.nat({ max: 1 })) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('repeat' as const), client) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('cancel' as const), client) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('reconnect' as const), client) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('kill' as const), fc.nat({ max: 1 })) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('approve' as const), nth) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('reject' as const), nth) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('run now' as const), nth) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constant('pass' as const), fc.constantFrom(10, 600, 3_000, 46_000)),
  },
);

/** What clients of two gates on one store do, and people; and a gate may be killed, in whose place comes another one. */
export const callerMoves = fc.array(move, { minLength: 4, maxLength: 18 });

type Moves = typeof callerMoves extends fc.Arbitrary<infer MOVES> ? MOVES : never;

/** A call that a client waits for. */
interface Waiting {
  client: number;
  euros: number;
  /** The client's own id of it. */
  id: string;
  cancelling: AbortController;
}

/** Plays the moves on an empty store, and returns what must not be. */
export async function playCallers(moves: Moves, store: ThreadStore): Promise<string[]> {
  const faults: string[] = [];
  const told: { id: string; text: string }[] = [];
  const sent: Waiting[] = [];
  const clock = virtualClock();
  const waiting = new Set<Waiting>();
  let runsNow = 0;
  const bank = makeBank((call) => {
    const isAwaited = [...waiting].some(({ euros }) => euros === call.arguments?.['euros']);
    if (!isAwaited && runsNow === 0) faults.push('A call ran for nobody.');
    return text(`paid ${bank.calls.length}`);
  });
  const openMortal = () => {
    const { die, store: mortal } = dyingStore(store, Infinity, 'before');
    return { die, gate: makeWorld({ store: mortal, clock, bank }).gate };
  };
  const gates = [openMortal(), openMortal()];
  const gateOf = (index: number) => gates[index % 2]?.gate ?? makeWorld().gate;
  const clients = await Promise.all([0, 1, 2].map(async (index) => connect(gateOf(index))));
  const { agent } = makeWorld({ store, clock, bank }).gate;

  const makeId = () => `toolu_01A09q90qw90lq917${String(sent.length).padStart(4, '0')}`;
  const call = async (index: number, euros: number, id = makeId()): Promise<void> => {
    const one: Waiting = { client: index, euros, id, cancelling: new AbortController() };
    waiting.add(one);
    sent.push(one);
    const { signal } = one.cancelling;
    try {
      const given = { name: 'pay', arguments: { to: 'ACME', euros }, _meta: { callId: id } };
      const result = await clients[index]?.callTool(given, { signal });
      told.push(...readTexts(result).map((each) => ({ id, text: each })));
    } catch {
      /* It was cancelled, or its client has gone. */
    }
    waiting.delete(one);
  };
  const pickThread = async (index: number) => {
    const threads = await store.list({ agent: 'gate' });
    const { threadId } = threads[index % Math.max(1, threads.length)] ?? {};
    return threadId === undefined ? undefined : agent.thread(threadId);
  };
  const answer = async (index: number, isYes: boolean): Promise<void> => {
    const open = await listOpen({ agent });
    const request = open[index % Math.max(1, open.length)];
    if (request === undefined) return;
    const thread = await agent.thread(request.threadId);
    await agent.respond(isYes ? request.approve() : request.reject(), thread);
  };

  for (const [type, index, euros = 0] of moves) {
    if (type === 'call') void call(index, euros);
    if (type === 'repeat') {
      const last = sent.findLast((each) => each.client === index);
      if (last !== undefined) void call(index, last.euros, last.id);
    }
    if (type === 'cancel') {
      const found = [...waiting].find((each) => each.client === index);
      found?.cancelling.abort();
    }
    if (type === 'reconnect') {
      await clients[index]?.close();
      clients[index] = await connect(gateOf(index));
    }
    if (type === 'kill') {
      gates[index]?.die();
      gates[index] = openMortal();
      for (const orphan of [0, 1, 2].filter((each) => each % 2 === index)) {
        await clients[orphan]?.close();
        clients[orphan] = await connect(gateOf(orphan));
      }
    }
    if (type === 'approve' || type === 'reject') await answer(index, type === 'approve');
    if (type === 'run now') {
      const thread = await pickThread(index);
      runsNow += 1;
      if (thread !== undefined) await gateOf(1).runNow(thread.id);
      runsNow -= 1;
    }
    await clock.pass(type === 'pass' ? index : 0);
  }
  await clock.pass(50_000);
  if (waiting.size > 0) faults.push('A client was told nothing.');

  const results = told.filter((each) => each.text.startsWith('paid'));
  const pairs = new Set(results.map(({ id, text: paid }) => `${id} ${paid}`));
  if (new Set(results.map((each) => each.text)).size < pairs.size)
    faults.push('A result was told twice.');
  if (new Set(results.map(({ id }) => id)).size < pairs.size)
    faults.push('A call was told two results.');
  for (const { threadId } of await store.list({ agent: 'gate', limit: 1_000 })) {
    const { calls, decisions, messages } = await agent.thread(threadId);
    const [made, ...others] = calls;
    const effects = bank.calls.filter(({ key }) => key === made?.idempotencyKey).length;
    const isApproved = decisions.some(({ status }) => status === 'approved');
    if (others.length > 0) faults.push(`${threadId} has several calls.`);
    if (messages.filter(({ role }) => role === 'user').length !== 1)
      faults.push(`${threadId} has several messages.`);
    if (effects > 1) faults.push(`${threadId} took effect ${effects} times.`);
    if (effects > 0 && !isApproved) faults.push(`${threadId} ran without a yes.`);
    if ((made?.status === 'succeeded') !== (effects === 1)) faults.push(`${threadId} lies.`);
  }
  return faults;
}
