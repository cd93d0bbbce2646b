import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { connect, readTexts } from './gate-world.ts';
import { balance, eventually, makeServer, openGate } from './tool-servers.ts';

const changed = { ...balance, description: 'Reads and pays.' };

/** A store in which a person has accepted what a server called read-only, and then rejected what it has become. */
async function rejectChange() {
  const store = memoryStore();
  const server = makeServer([balance]);
  const { gate, listTexts, answer } = openGate({ servers: { bank: server }, store });
  const client = await connect(gate);
  await eventually(listTexts).toHaveLength(1);
  await answer(true);
  expect(readTexts(await client.callTool({ name: 'balance' }))).toEqual(['balance done']);
  await server.change([changed]);
  await eventually(listTexts).toHaveLength(1);
  await answer(false);
  await gate.close();
  /** Deletes the threads about the server of these kinds. */
  const forget = async (kinds: readonly string[]): Promise<void> => {
    const [, about] = gate.agents;
    for (const { threadId } of await store.list({})) {
      const [, kind = ''] = threadId.split('/');
      if (kinds.includes(kind)) await about?.delete(await about.thread(threadId));
    }
  };
  return { store, forget };
}

const whichThreads = [
  ['pins'],
  ['offer'],
  ['change'],
  ['pins', 'offer'],
  ['pins', 'change'],
  ['offer', 'change'],
  ['pins', 'offer', 'change'],
];

test.each(whichThreads.map((which) => [which.join(', '), which] as const))(
  'a tool that was rejected does not run unasked once what is kept about its server was deleted: %s',
  async (_what, which) => {
    const { store, forget } = await rejectChange();
    const before = (await store.list({})).length;
    await forget(which);
    expect(before - (await store.list({})).length).toBe(which.length);
    const server = makeServer([changed]);
    const { gate } = openGate({ servers: { bank: server }, store, holdMs: 30 });
    const client = await connect(gate);
    const [told] = readTexts(await client.callTool({ name: 'balance', arguments: { of: 'me' } }));
    expect(told).toMatch(/^(Pending|Not called)/);
    expect(server.at.calls).toBe(0);
    await gate.close();
  },
);
