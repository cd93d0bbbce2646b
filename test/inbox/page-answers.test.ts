import { expect, test, vi } from 'vitest';
import type { Inbox } from '../../src/apps/inbox/page/inbox.ts';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import { decide, makeEntry, makeRoomField, typeEdits } from './page-entries.ts';
import { FakeRoute } from './page-route.ts';

const other = (requestId: string, parts: Parameters<typeof makeEntry>[1] = {}): InboxEntry =>
  makeEntry(requestId, { toolName: requestId, ...parts });

/** One that may be edited. */
const editable = (input: unknown): InboxEntry =>
  other('x', { input, rights: { mayEdit: true }, request: { editable: true } });

const openRow = (inbox: Inbox, requestId: string): void => {
  const row = inbox.list.findRow(requestId);
  if (row === undefined) throw new Error(`${requestId} is not in the list.`);
  inbox.open(row);
};

/** The person has read what is open to its end. */
const readWhole = (inbox: Inbox, route: FakeRoute): void => {
  const { answering } = inbox;
  answering.setSeen(answering.shownKey, { isWhole: true, missing: [], hidden: 0 });
  route.now += 500;
};

const settle = async (inbox: Inbox): Promise<void> =>
  vi.waitFor(() => {
    if (inbox.answering.sendingIds.length > 0) throw new Error('An answer is on its way.');
  });

const expectNothingSent = ({ answering }: Inbox, { posted }: FakeRoute): void => {
  expect(answering.sendingIds.length).toBe(0);
  expect(posted).toEqual([]);
};

test('an approval does not count before all of the request was shown, and says what is missing', async () => {
  const route = new FakeRoute(other('x'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  inbox.answering.approve();
  const { shownKey } = inbox.answering;
  inbox.answering.setSeen(shownKey, { isWhole: false, missing: ['body'], hidden: 0 });
  inbox.answering.approve();
  expect(inbox.answering.message).toMatch(/to the end first.*body/);
  expectNothingSent(inbox, route);
});

test('an approval names what was shown by its digests, and the next request opens', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  inbox.answering.approve();
  expect(inbox.opened?.row.key).toBe('y');
  expect(inbox.focus?.at).toBe('heading');
  await settle(inbox);
  expect(route.posted).toEqual([
    {
      requestId: 'x',
      threadId: 'thread of x',
      digest: 'shown x',
      answer: { type: 'approval-response', requestId: 'x', approved: true, digest: 'asked x' },
    },
  ]);
  expect(inbox.answering.message).toBe(
    'Approved by Cy: Send mail to x? 1 request left. Next: Send mail to y?',
  );
});

test('what was seen of one request does not count for the next', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  inbox.answering.approve();
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toHaveLength(1);
});

test('a second press that was meant for one request does not approve the next, though it was shown', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  const { answering } = inbox;
  openRow(inbox, 'x');
  readWhole(inbox, route);
  answering.approve();
  route.now += 40;
  answering.setSeen(answering.shownKey, { isWhole: false, missing: [], hidden: 0 });
  route.now += 40;
  answering.setSeen(answering.shownKey, { isWhole: true, missing: [], hidden: 0 });
  route.now += 450;
  answering.approve();
  await settle(inbox);
  expect(route.posted.map(({ requestId }) => requestId)).toEqual(['x']);
  route.now += 10;
  answering.approve();
  await settle(inbox);
  expect(route.posted.map(({ requestId }) => requestId)).toEqual(['x', 'y']);
});

test('a critical request takes a second step, which a double press does not pass', async () => {
  const route = new FakeRoute(other('x', { risk: 'critical' }));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  inbox.answering.approve();
  inbox.answering.approve();
  expect(inbox.answering.step).toBe('confirm');
  expectNothingSent(inbox, route);
  route.now += 600;
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toHaveLength(1);
});

test('where an approval needs a reason, it is asked for', async () => {
  const route = new FakeRoute(other('x', { request: { requireReason: true } }));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  inbox.answering.approve();
  inbox.answering.setDraft('x', { reason: ' ' });
  route.now += 500;
  inbox.answering.approve();
  expect(inbox.answering.message).toBe('Give a reason to approve this.');
  expectNothingSent(inbox, route);
  inbox.answering.setDraft('x', { reason: 'It is due.' });
  route.now += 500;
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ answer: { approved: true, reason: 'It is due.' } }]);
});

test('a rejection can be given before all was read; its reason is kept while it is not sent', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  inbox.answering.startReject();
  inbox.answering.setDraft('x', { reason: 'Too dear.' });
  await inbox.move(1, 'detail');
  await inbox.move(-1, 'detail');
  inbox.answering.startReject();
  expect(inbox.answering.draft('x').reason).toBe('Too dear.');
  inbox.answering.reject();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ answer: { approved: false, reason: 'Too dear.' } }]);
});

test('a refusal marks its row and says why; draft, focus and what is open stay', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  inbox.answering.setDraft('x', { reason: 'Too dear.' });
  route.replace(decide(other('x'), 'approved', 'Bo'));
  inbox.answering.reject();
  const { focus } = inbox;
  await settle(inbox);
  expect(inbox.answering.findRefusal('x')?.message).toBe('Bo has answered it.');
  expect(inbox.answering.alert).toBe('Not recorded: “Send mail to x?”: Bo has answered it.');
  expect(inbox.answering.draft('x').reason).toBe('Too dear.');
  expect(inbox.opened?.row.key).toBe('y');
  expect(inbox.focus).toEqual(focus);
});

test('a request that has changed since it was shown is not answered, and can be shown anew', async () => {
  const route = new FakeRoute(other('x'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  route.replace(other('x', { digest: 'edited x' }));
  await inbox.refresh();
  inbox.answering.approve();
  expect(inbox.answering.message).toBe('It has changed since it was shown.');
  inbox.reopen();
  inbox.answering.approve();
  expectNothingSent(inbox, route);
  readWhole(inbox, route);
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ digest: 'edited x' }]);
});

test('alike requests are answered together: each by its id and digest, without late ones, with an outcome for each', async () => {
  const alike = ['a', 'b', 'c', 'd'].map((id) => makeEntry(id));
  const route = new FakeRoute(...alike);
  const inbox = await route.open();
  openRow(inbox, 'a');
  inbox.answering.approve();
  expectNothingSent(inbox, route);
  readWhole(inbox, route);
  /* One arrives late; one is decided elsewhere, and the page does not know it yet. */
  route.entries = [...route.entries, makeEntry('late')];
  route.replace(decide(makeEntry('b'), 'rejected', 'Bo'));
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted.map(({ requestId, digest }) => [requestId, digest])).toEqual(
    ['a', 'b', 'c', 'd'].map((id) => [id, `shown ${id}`]),
  );
  expect(inbox.answering.findRefusal('b')).toBeDefined();
  expect(inbox.answering.message).toMatch(/^3 requests: Approved by Cy, 1 not recorded\./);
});

test('one of several that is known to be decided is left out of their answer', async () => {
  const route = new FakeRoute(makeEntry('a'), makeEntry('b'));
  const inbox = await route.open();
  openRow(inbox, 'a');
  readWhole(inbox, route);
  route.replace(decide(makeEntry('b'), 'rejected', 'Bo'));
  await inbox.refresh();
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted.map(({ requestId }) => requestId)).toEqual(['a']);
});

test('one of several that has changed since it was shown is left out of their answer', async () => {
  const route = new FakeRoute(makeEntry('a'), makeEntry('b'));
  const inbox = await route.open();
  openRow(inbox, 'a');
  readWhole(inbox, route);
  route.replace(makeEntry('b', { digest: 'edited b' }));
  await inbox.refresh();
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted.map(({ requestId }) => requestId)).toEqual(['a']);
});

test('after eight hours of sleep no answer counts before the page has read the log again', async () => {
  const route = new FakeRoute(other('x'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  route.now += 8 * 60 * 60_000;
  inbox.answering.approve();
  expect(inbox.answering.message).toMatch(/reading what has happened meanwhile/);
  expectNothingSent(inbox, route);
  await inbox.refresh();
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toHaveLength(1);
});

test('a deadline passes by the clock of the server', async () => {
  const route = new FakeRoute(other('x', { expiresAt: 15_000 }));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  route.now = 15_000;
  inbox.answering.approve();
  expect(inbox.answering.message).toBe('It has expired.');
  expectNothingSent(inbox, route);
});

test('an edit is checked before it runs: what was read before it does not count', async () => {
  const route = new FakeRoute(editable({ to: 'x', count: 1 }));
  const inbox = await route.open();
  const { answering } = inbox;
  openRow(inbox, 'x');
  readWhole(inbox, route);
  answering.startEdit();
  answering.setDraft('x', { edits: typeEdits({ to: 'y', count: 'many' }) });
  answering.checkEdit();
  expect(answering.step).toBe('edit');
  expect(answering.message).toBe('Correct this first: count.');
  answering.setDraft('x', { edits: typeEdits({ to: 'y' }) });
  answering.approve();
  answering.checkEdit();
  answering.approve();
  expectNothingSent(inbox, route);
  readWhole(inbox, route);
  answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([
    { answer: { approved: true, input: { to: 'y', count: 1 } } },
  ]);
});

test('an edit that may not be made any more approves nothing: the screen had another input', async () => {
  const route = new FakeRoute(editable({ to: 'x', amount: 1000 }));
  const inbox = await route.open();
  const { answering } = inbox;
  openRow(inbox, 'x');
  readWhole(inbox, route);
  answering.startEdit();
  answering.setDraft('x', { edits: typeEdits({ amount: '10' }) });
  answering.checkEdit();
  readWhole(inbox, route);
  const { request, rights } = editable({ to: 'x', amount: 1000 });
  if (request?.type !== 'approval-request') throw new Error('It is no approval.');
  route.replace(other('x', { request, rights: { ...rights, mayEdit: false } }));
  await inbox.refresh();
  answering.approve();
  expect(answering.message).toBe('You may not edit this.');
  answering.goBack();
  answering.checkEdit();
  expect(answering.step).toBe('edit');
  expectNothingSent(inbox, route);
});

test('an edit that was begun and left is not part of an approval of what was asked', async () => {
  const route = new FakeRoute(editable({ to: 'x' }));
  const inbox = await route.open();
  const { answering } = inbox;
  openRow(inbox, 'x');
  answering.startEdit();
  answering.setDraft('x', { edits: typeEdits({ to: 'y' }) });
  answering.goBack();
  readWhole(inbox, route);
  answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ answer: { approved: true } }]);
  expect(route.posted[0]?.['answer']).not.toHaveProperty('input');
});

test('the reason for which a person began to reject is not sent with their approval', async () => {
  const route = new FakeRoute(other('x'));
  const inbox = await route.open();
  const { answering } = inbox;
  openRow(inbox, 'x');
  answering.startReject();
  answering.setDraft('x', { reason: 'Too dear.' });
  answering.goBack();
  readWhole(inbox, route);
  answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ answer: { approved: true } }]);
  expect(route.posted[0]?.['answer']).not.toHaveProperty('reason');
});

test.each([null, 'critical'] as const)(
  'the reason for which a person began to reject is read before it is one to approve (risk: %s)',
  async (risk) => {
    const route = new FakeRoute(other('x', { risk, request: { requireReason: true } }));
    const inbox = await route.open();
    const { answering } = inbox;
    openRow(inbox, 'x');
    answering.startReject();
    answering.setDraft('x', { reason: 'Fraud.' });
    answering.goBack();
    readWhole(inbox, route);
    answering.approve();
    expect(answering.step).toBe('give-reason');
    expectNothingSent(inbox, route);
  },
);

test('what has a secret is not edited: its mask would be sent', async () => {
  const route = new FakeRoute(other('x', { rights: { mayEdit: true }, masked: [['token']] }));
  const inbox = await route.open();
  openRow(inbox, 'x');
  inbox.answering.startEdit();
  expect(inbox.answering.step).toBe('read');
});

test('what is too long for a list is read when it is opened, and keeps what was read', async () => {
  const long = other('x');
  const route = new FakeRoute(long);
  route.listed = ({ request: _long, ...entry }) => entry;
  const inbox = await route.open();
  openRow(inbox, 'x');
  expect(inbox.isReading).toBe(true);
  inbox.answering.approve();
  await vi.waitFor(() => expect(inbox.isReading).toBe(false));
  await inbox.refresh();
  readWhole(inbox, route);
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ digest: 'shown x', answer: { digest: 'asked x' } }]);
});

test('what is too long for a list is not opened with others, and the page says which it is', async () => {
  const route = new FakeRoute(makeEntry('a'), makeEntry('b', { digest: 'other b' }));
  route.listed = ({ request, ...entry }) =>
    entry.requestId === 'b' ? entry : { ...entry, ...(request && { request }) };
  const inbox = await route.open();
  for (const row of inbox.list.rows) inbox.marks.toggle(row);
  inbox.openMarked();
  const why = 'send_mail has not been read, as it is long: open it alone.';
  expect(inbox.answering.message).toBe(why);
  expect(inbox.opened).toBeUndefined();
  inbox.answering.say('');
  inbox.open({ key: 'a', entries: inbox.list.entries });
  inbox.answering.startReject();
  inbox.answering.reject();
  expect(inbox.answering.message).toBe(why);
  expectNothingSent(inbox, route);
});

test('a request is not answered again while its answer is on its way', async () => {
  const route = new FakeRoute(other('x'));
  const inbox = await route.open();
  openRow(inbox, 'x');
  readWhole(inbox, route);
  const { promise, resolve } = Promise.withResolvers();
  route.hold = promise;
  inbox.answering.approve();
  await inbox.openById('x');
  readWhole(inbox, route);
  inbox.answering.approve();
  expect(inbox.answering.message).toBe('Approving …');
  resolve(undefined);
  await settle(inbox);
  expect(route.posted).toHaveLength(1);
});

test('one reason is for all that are answered together, also if the first of them was decided elsewhere', async () => {
  const alike = ['a', 'b', 'c'].map((id) => makeEntry(id, { request: { requireReason: true } }));
  const route = new FakeRoute(...alike);
  const inbox = await route.open();
  openRow(inbox, 'a');
  readWhole(inbox, route);
  inbox.answering.approve();
  expect(inbox.answering.step).toBe('give-reason');
  inbox.answering.setDraft('a', { reason: 'They are due.' });
  route.now += 500;
  route.replace(decide(makeEntry('a'), 'rejected', 'Bo'));
  await inbox.refresh();
  inbox.answering.approve();
  await settle(inbox);
  const reason = 'They are due.';
  expect(route.posted).toMatchObject([
    { requestId: 'b', answer: { approved: true, reason } },
    { requestId: 'c', answer: { approved: true, reason } },
  ]);
});

test.each([
  ['withdraws', { type: 'withdraw' as const }, { mayWithdraw: true }],
  ['passes on', { type: 'reassign' as const, to: 'Di' }, { mayReassign: true }],
])('a person %s what is open, as it was shown', async (_does, action, rights) => {
  const route = new FakeRoute(other('x', { rights }));
  const inbox = await route.open();
  openRow(inbox, 'x');
  inbox.answering.act(action, 'Sending');
  await settle(inbox);
  expect(route.posted).toMatchObject([{ requestId: 'x', digest: 'shown x', action }]);
  expect(inbox.answering.alert).toBeUndefined();
  expect(inbox.answering.message).toMatch(/^Approved by Cy/);
});

test('what a question is answered with approves nothing, and is sent once', async () => {
  const question = {
    type: 'question-request' as const,
    kind: 'choice' as const,
    requestId: 'q',
    threadId: 'thread of q',
    text: 'Which room?',
    fields: [makeRoomField()],
    allowDismiss: true,
    createdAt: 1_000,
  };
  const entry = { ...other('q', { kind: 'question' }), request: question };
  const route = new FakeRoute({ ...entry, rights: { ...entry.rights, mayApprove: false } });
  const inbox = await route.open();
  openRow(inbox, 'q');
  readWhole(inbox, route);
  inbox.answering.approve();
  expect(inbox.answering.message).toBe('This is no approval.');
  expectNothingSent(inbox, route);
  inbox.answering.answerQuestion();
  expect(inbox.answering.findFaults(entry)).toEqual([
    { key: 'room', text: 'Room needs at least 1 option(s).' },
  ]);
  expectNothingSent(inbox, route);
  inbox.answering.setDraft('q', { picks: new Map([['room', { optionIds: ['blue'], text: '' }]]) });
  inbox.answering.answerQuestion();
  inbox.answering.answerQuestion({ isDismissed: true });
  await settle(inbox);
  const answers = [{ key: 'room', optionIds: ['blue'] }];
  expect(route.posted).toMatchObject([
    { requestId: 'q', answer: { type: 'question-response', status: 'answered', answers } },
  ]);
});

test('marked requests of one tool open as one row; of several tools they do not', async () => {
  const route = new FakeRoute(
    makeEntry('a'),
    other('x'),
    makeEntry('b', { request: { quorum: 2 } }),
  );
  const inbox = await route.open();
  const rowOf = (requestId: string) => inbox.list.findRow(requestId) ?? { key: '', entries: [] };
  inbox.marks.toggle(rowOf('a'));
  inbox.marks.toggle(rowOf('x'));
  inbox.openMarked();
  expect(inbox.opened).toBeUndefined();
  inbox.marks.toggle(rowOf('x'));
  inbox.marks.toggle(rowOf('b'));
  inbox.openMarked();
  expect(inbox.opened?.row.entries.map(({ requestId }) => requestId)).toEqual(['a', 'b']);
});

test('a range of marks goes from the row that was marked last', async () => {
  const route = new FakeRoute(...['a', 'b', 'c', 'd'].map((id) => other(id)));
  const inbox = await route.open();
  const [, second, , last] = inbox.list.rows;
  if (second !== undefined) inbox.marks.toggle(second);
  if (last !== undefined) inbox.marks.markRange(last);
  expect(['a', 'b', 'c', 'd'].filter((id) => inbox.marks.has(id))).toEqual(['b', 'c', 'd']);
});

test('what was read of an edit does not count for what was asked', async () => {
  const route = new FakeRoute(editable({ to: 'x' }));
  const inbox = await route.open();
  const { answering } = inbox;
  openRow(inbox, 'x');
  answering.startEdit();
  answering.setDraft('x', { edits: typeEdits({ to: 'y' }) });
  answering.checkEdit();
  readWhole(inbox, route);
  answering.goBack();
  answering.goBack();
  expect(answering.step).toBe('read');
  route.now += 500;
  answering.approve();
  expectNothingSent(inbox, route);
});
