import { memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import {
  answer,
  callBook,
  oldKinds,
  onlyQuestion,
  openGate as openAskedGate,
  seats,
} from './asked-gate.ts';
import { connect, readTexts } from './gate-world.ts';
import { eventually, makeServer, openGate, pay } from './tool-servers.ts';

test('a server that changes a tool again and again fills no store, and its tool is refused', async () => {
  const store = memoryStore();
  const server = makeServer([pay]);
  let now = 0;
  const { gate, listTexts } = openGate({
    servers: { bank: server },
    store,
    toolApproval: () => 'approved',
    now: () => now,
  });
  const client = await connect(gate);
  const change = async (turn: number): Promise<void> => {
    const { listings } = server.at;
    await server.change([{ ...pay, description: `It pays ${turn} times.` }]);
    await eventually(() => server.at.listings).toBe(listings + 1);
  };
  for (let turn = 0; turn < 32; turn += 1) await change(turn);
  await eventually(async () => readTexts(await client.callTool({ name: 'pay' }))[0]).toContain(
    'changes too often',
  );
  expect(await listTexts()).toHaveLength(1);
  const about = gate.agents[1];
  const threads = await store.list({ agent: 'gate-upstreams' });
  const changes = threads.find(({ threadId }) => threadId.includes('change'));
  const thread = await about?.thread(changes?.threadId ?? '');
  expect(thread?.events.filter(({ type }) => type === 'request-opened')).toHaveLength(30);
  now += 3_600_000;
  server.at.tools = [{ ...pay, description: 'It pays 41 times.' }];
  await client.callTool({ name: 'pay' });
  await eventually(async () => (await listTexts())[0]).toContain('It pays 41 times.');
  expect(server.at.calls).toBe(0);
  await gate.close();
}, 60_000);

test.each(oldKinds)(
  'a server (%s) that asks without end gets 20 answers in one call',
  async (kind) => {
    const gate = openAskedGate(kind);
    const result = callBook(await connect(gate), ...Array.from({ length: 21 }, () => seats));
    const asked = new Set<string>();
    while (asked.size < 20) {
      const question = await onlyQuestion(gate);
      if (asked.has(question.requestId)) continue;
      asked.add(question.requestId);
      await answer(gate, question, 'dismissed');
    }
    const [told = ''] = readTexts(await result);
    expect(told).toContain('It has asked 20 questions in one call.');
    await gate.close();
  },
);
