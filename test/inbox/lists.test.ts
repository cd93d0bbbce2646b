import { expect, test } from 'vitest';
import { inboxOf, office, only, pay, yes } from './inbox-site.ts';

const acme = { calls: [pay('c1', { to: 'ACME', euros: 500 })] };

test('lists what waits for a person, with what they may do, and records their answer', async () => {
  const at = office([acme, { text: 'Done.' }]);
  await at.ask('t1');
  const inbox = inboxOf(at.agent);
  const { entries, next } = await inbox.list('ben');
  expect(next).toBeUndefined();
  const entry = only(entries);
  expect(entry).toMatchObject({
    threadId: 't1',
    agent: 'office',
    kind: 'approval',
    state: 'open',
    toolName: 'pay',
    requesters: ['eve'],
    approvers: ['finance'],
    request: { text: 'Pay 500 EUR to ACME?', toolCall: { input: { euros: 500 } } },
    rights: { mayAnswer: true, mayApprove: true, mayEdit: true },
    maySettle: false,
    masked: [],
  });
  expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
    status: 'recorded',
    entry: { state: 'approved', decidedBy: 'ben' },
  });
  expect((await inbox.list('ben')).entries).toEqual([]);
  const thread = await at.agent.thread('t1');
  expect(thread.decisions).toMatchObject([
    { status: 'approved', principal: 'ben', channel: 'inbox' },
  ]);
});
