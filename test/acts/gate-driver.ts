import type { Transport } from '@modelcontextprotocol/server';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { createGate, type Gate } from 'holdpoint/mcp';
import { expect } from 'vitest';
import { only } from '../inbox/inbox-site.ts';
import { callBook, visit } from '../gate/asked-gate.ts';
import { askingServers } from '../gate/asking-servers.ts';
import { connect, makeWorld, payment, readTexts } from '../gate/gate-world.ts';
import { deciders, type Driver, principalOf, type SceneName } from './acts.ts';
import { agentWays } from './agent-driver.ts';
import { action, inboxWays } from './inbox-driver.ts';
import { approveAsAda, scenes, type World } from './scenes.ts';

const gates = new WeakMap<World, Gate>();
const mayAnswer = ({ principal }: { principal: unknown }): boolean => deciders.includes(principal);
const caller = { principal: 'cleo' };

/** The world of the only call of a gate. */
async function makeGateWorld(gate: Gate, store: ThreadStore): Promise<World> {
  const { threadId } = only(await store.list({ agent: 'gate' }));
  const world: World = { agent: gate.agent, store, threadId, close: async () => gate.close() };
  gates.set(world, gate);
  return world;
}

/** A payment whose client was told to call again, so that nothing runs by itself. */
async function openPayment(name: SceneName): Promise<World> {
  const { rule = {}, vote } = scenes[name];
  const store = memoryStore();
  const toolApproval = { pay: { type: 'user-approval', ...rule } } as const;
  const { gate, clock } = makeWorld({ store, mayAnswer, toolApproval, holdMs: 5_000 });
  const client = await connect(gate, caller);
  const call = client.callTool(payment);
  await clock.pass(6_000);
  expect(readTexts(await call)[0]).toMatch(/^Pending/);
  await clock.pass(0);
  const world = await makeGateWorld(gate, store);
  if (vote !== undefined) await approveAsAda(world, vote);
  return world;
}

/** A call whose server asks something, and dies over it in `lost`. */
async function openAsking(name: 'question' | 'lost'): Promise<World> {
  const openTransport = askingServers['protocol 2026-07-28, stdio']?.();
  if (openTransport === undefined) throw new Error('There is no server.');
  const opened: Transport[] = [];
  const transport = (): Transport => {
    const made = openTransport();
    opened.push(made);
    return made;
  };
  const store = memoryStore();
  const upstreams = { desk: { transport } };
  const gate = createGate({ store, mayAnswer, toolApproval: () => 'approved', upstreams });
  const result = callBook(await connect(gate, caller), visit);
  await expect
    .poll(async () => store.requests?.list({ kind: 'question' }), { interval: 5 })
    .toHaveLength(1);
  if (name === 'lost') {
    await opened.at(-1)?.close();
    await result;
  }
  return makeGateWorld(gate, store);
}

function findRunNow(world: World) {
  const { runNow } = gates.get(world) ?? {};
  return runNow === undefined ? {} : { runNow };
}

/** What people do with the calls of a gate: in its inbox, or by the agent that keeps them. */
export const gateDriver: Driver = {
  channel: 'inbox',
  open: async (scene) =>
    scene === 'question' || scene === 'lost' ? openAsking(scene) : openPayment(scene),
  ways: {
    ...inboxWays(findRunNow),
    resume: action(findRunNow, { type: 'run' }),
    cancel: agentWays.cancel,
    revoke: agentWays.revoke,
  },
  /* What a client says counts for nothing but its calls. */
  async force(act, world, by) {
    const gate = gates.get(world);
    if (gate === undefined) throw new Error('There is no gate.');
    const client = await connect(gate, { principal: principalOf(by) });
    const called = client.callTool({ name: act, arguments: {} });
    return called.then(
      ({ isError }) => (isError === true ? 'isError' : undefined),
      (error: unknown) => String(Reflect.get(Object(error), 'code')),
    );
  },
};
