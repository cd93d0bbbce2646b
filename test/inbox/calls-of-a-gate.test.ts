import { expect, test } from 'vitest';
import { inboxOf, no, only, yes } from './inbox-site.ts';
import { connect, makeBank, makeWorld, payment, readTexts } from '../gate/gate-world.ts';

function openInbox({ gate }: ReturnType<typeof makeWorld>, mayRun = true) {
  return inboxOf(gate.agent, { maySee: () => true, ...(mayRun && { runNow: gate.runNow }) });
}

/** A call whose client has been told to call again. */
async function pendingCall(options: Parameters<typeof makeWorld>[0] = {}) {
  const world = makeWorld({ holdMs: 5_000, ...options });
  const client = await connect(world.gate);
  const call = client.callTool(payment);
  await world.clock.pass(6_000);
  expect(readTexts(await call)[0]).toMatch(/^Pending/);
  await world.clock.pass(0);
  return { ...world, world, client };
}

test('the inbox says whether the client of a call waits', async () => {
  const world = makeWorld({ holdMs: 5_000 });
  const inbox = openInbox(world);
  const client = await connect(world.gate);
  const call = client.callTool(payment);
  await world.clock.pass(1_000);
  const { requestId } = only((await inbox.list('ben')).entries);
  expect((await inbox.show('ben', requestId)).caller).toMatchObject({ state: 'waiting' });
  await world.clock.pass(5_000);
  await call;
  await world.clock.pass(0);
  expect(await inbox.show('ben', requestId)).toMatchObject({
    caller: { state: 'pending' },
    mayRun: false,
  });
});

test('an approved call for which no client waits is run once by whoever could answer it, and its client gets the result', async () => {
  const { world, gate, bank, client } = await pendingCall();
  const inbox = openInbox(world);
  const open = only((await inbox.list('ben')).entries);
  await inbox.answer('ben', [{ entry: open, answer: yes(open) }]);
  expect(bank.calls).toEqual([]);
  const { entry, mayRun } = await inbox.show('ben', open.requestId);
  expect(mayRun).toBe(true);
  const outcome = await inbox.act('ben', entry, { type: 'run' });
  expect(outcome).toMatchObject({ status: 'recorded' });
  await expect.poll(() => bank.calls.length).toBe(1);
  const thread = await gate.agent.thread(open.threadId);
  await expect.poll(async () => (await gate.agent.thread(open.threadId)).status).toBe('idle');
  expect(
    (await gate.agent.thread(open.threadId)).events.findLast(({ type }) => type === 'run-started'),
  ).toMatchObject({ principal: 'ben', channel: 'inbox' });
  expect(await inbox.act('ben', entry, { type: 'run' })).toMatchObject({
    status: 'refused',
    error: { code: 'not-allowed' },
  });
  expect(thread.caller).toMatchObject({ state: 'pending' });
  const collected = client.callTool(payment);
  await world.clock.pass(1_000);
  expect(readTexts(await collected)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test.each([
  ['before it is approved', 'ben', async () => {}],
  [
    'after it was rejected',
    'ben',
    async (inbox: ReturnType<typeof openInbox>) => {
      const open = only((await inbox.list('ben')).entries);
      await inbox.answer('ben', [{ entry: open, answer: no(open) }]);
    },
  ],
  [
    'by whoever may not answer it',
    'eve',
    async (inbox: ReturnType<typeof openInbox>) => {
      const open = only((await inbox.list('ben')).entries);
      await inbox.answer('ben', [{ entry: open, answer: yes(open) }]);
    },
  ],
])('no call is run %s', async (_, person, prepare) => {
  const { world, bank } = await pendingCall({
    toolApproval: () => ({ type: 'user-approval', approvers: ['ben'] }),
    mayAnswer: ({ principal }) => principal === 'ben',
  });
  const inbox = openInbox(world);
  const entry = only((await inbox.list('ben')).entries);
  await prepare(inbox);
  expect(await inbox.act(person, entry, { type: 'run' })).toMatchObject({
    status: 'refused',
    error: { code: 'not-allowed' },
  });
  expect(bank.calls).toEqual([]);
});

test('without runNow no call is run from the inbox', async () => {
  const { world, bank } = await pendingCall();
  const inbox = openInbox(world, false);
  const open = only((await inbox.list('ben')).entries);
  await inbox.answer('ben', [{ entry: open, answer: yes(open) }]);
  const { entry, mayRun } = await inbox.show('ben', open.requestId);
  expect(mayRun).toBe(false);
  expect(await inbox.act('ben', entry, { type: 'run' })).toMatchObject({ status: 'refused' });
  expect(bank.calls).toEqual([]);
});

test.each<[string, object]>([
  ['a password', { format: 'password' }],
  ['only written', { writeOnly: true }],
  ['a secret in words of the inbox', { 'x-holdpoint-format': { type: 'secret' } }],
  [
    'a hundredth of what it is',
    { 'x-holdpoint-format': { type: 'money', currency: 'EUR', unit: 'minor' } },
  ],
])('an argument that a server calls %s is shown as it is', async (_what, declared) => {
  const hidden = { type: 'string', ...declared };
  const inputSchema = { type: 'object' as const, properties: { to: hidden, note: hidden } };
  const world = makeWorld({ bank: makeBank(undefined, [{ name: 'pay', inputSchema }]) });
  const client = await connect(world.gate);
  const input = { to: '100', note: 'A key: s3cr3t' };
  void client.callTool({ name: 'pay', arguments: input });
  await world.clock.pass(1_000);
  const entry = only((await openInbox(world).list('ben')).entries);
  expect(entry.request?.toolCall?.input).toEqual(input);
  expect(entry).toMatchObject({ masked: [], formats: [] });
});
