import { expect, test, vi } from 'vitest';
import type { InboxEntry } from '../../src/apps/inbox/inbox-api.ts';
import { previewEdit } from '../../src/apps/inbox/page/answers.ts';
import { readEdits } from '../../src/view/edited-input.ts';
import type { Inbox } from '../../src/apps/inbox/page/inbox.ts';
import { decide, makeEntry, makeRoomField, tickRemember, typeEdits } from './page-entries.ts';
import { FakeRoute } from './page-route.ts';

const other = (requestId: string, parts: Parameters<typeof makeEntry>[1] = {}): InboxEntry =>
  makeEntry(requestId, { toolName: requestId, ...parts });

const rowOf = (inbox: Inbox, requestId: string) => {
  const row = inbox.list.findRow(requestId);
  if (row === undefined) throw new Error(`${requestId} is not in the list.`);
  return row;
};

/** The person has read what is open to its end. */
const readWhole = ({ answering }: Inbox, route: FakeRoute): void => {
  answering.setSeen(answering.shownKey, { isWhole: true, missing: [], hidden: 0 });
  route.now += 500;
};

const settle = async (inbox: Inbox): Promise<void> =>
  vi.waitFor(() => {
    if (inbox.answering.sendingIds.length > 0) throw new Error('An answer is on its way.');
  });

/** Opens two that are alike together, of which somebody else has decided the first. */
const openOneOfTwo = async (route: FakeRoute): Promise<Inbox> => {
  const inbox = await route.open();
  for (const entry of both) tickRemember(inbox, entry);
  inbox.answering.setDraft('a', { edits: typeEdits({ to: 'what a is to be' }) });
  inbox.open(rowOf(inbox, 'a'));
  route.replace(decide(makeEntry('a'), 'rejected', 'Bo'));
  await inbox.refresh();
  return inbox;
};

const both = ['a', 'b'].map((id) =>
  makeEntry(id, {
    request: { editable: true },
    rights: { mayEdit: true, mayRemember: { scope: 'everyone', match: 'any' } },
  }),
);

test('an edit of one request is never sent for another, also where it is the last of several that waits', async () => {
  const route = new FakeRoute(...both);
  const inbox = await openOneOfTwo(route);
  const { answering } = inbox;
  answering.startEdit();
  answering.checkEdit();
  readWhole(inbox, route);
  answering.approve();
  await settle(inbox);
  expect(route.posted.filter(({ answer }) => JSON.stringify(answer).includes('"input"'))).toEqual(
    [],
  );
});

test('what was ticked for one request makes no rule of another, also where it is the last of several that waits', async () => {
  const route = new FakeRoute(...both);
  const inbox = await openOneOfTwo(route);
  readWhole(inbox, route);
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ requestId: 'b', answer: { approved: true } }]);
  expect(route.posted[0]?.['answer']).not.toHaveProperty('remember');
});

test('what was ticked for a request makes no rule where it is approved with others, as the tick is not shown there', async () => {
  const route = new FakeRoute(...both);
  const inbox = await route.open();
  for (const entry of both) tickRemember(inbox, entry);
  inbox.open(rowOf(inbox, 'a'));
  readWhole(inbox, route);
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted.map(({ requestId }) => requestId)).toEqual(['a', 'b']);
  for (const { answer } of route.posted) expect(answer).not.toHaveProperty('remember');
});

test.each<[string, (inbox: Inbox) => void]>([
  ['an approval', ({ answering }) => answering.approve()],
  [
    'a rejection',
    ({ answering }) => {
      answering.startReject();
      answering.reject();
    },
  ],
])(
  '%s decides later calls too once that is ticked, and not after it was unticked',
  async (_answer, give) => {
    const mayRemember = { scope: 'everyone', match: 'any' } as const;
    for (const isTicked of [true, false]) {
      const entry = makeEntry('x', { rights: { mayRemember } });
      const route = new FakeRoute(entry);
      const inbox = await route.open();
      tickRemember(inbox, entry);
      tickRemember(inbox, entry, isTicked);
      inbox.open(rowOf(inbox, 'x'));
      readWhole(inbox, route);
      give(inbox);
      await settle(inbox);
      const [{ answer } = { answer: undefined }] = route.posted;
      expect(Object(answer).remember).toEqual(isTicked ? mayRemember : undefined);
    }
  },
);

test('a ticked standing approval is not ticked any more once it would be a wider one', async () => {
  const narrow = makeEntry('x', { rights: { mayRemember: { scope: 'thread', match: 'exact' } } });
  const route = new FakeRoute(narrow);
  const inbox = await route.open();
  tickRemember(inbox, narrow);
  inbox.open(rowOf(inbox, 'x'));
  route.replace(makeEntry('x', { rights: { mayRemember: { scope: 'everyone', match: 'any' } } }));
  await inbox.refresh();
  readWhole(inbox, route);
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toHaveLength(1);
  expect(route.posted[0]?.['answer']).not.toHaveProperty('remember');
});

test('what was ticked for a request makes no rule of it as it has become, until it is ticked again', async () => {
  const rights = { mayRemember: { scope: 'everyone', match: 'any' } } as const;
  const route = new FakeRoute(makeEntry('x', { rights }));
  const inbox = await route.open();
  tickRemember(inbox, makeEntry('x', { rights }));
  route.replace(makeEntry('x', { rights, digest: 'edited x' }));
  await inbox.refresh();
  inbox.open(rowOf(inbox, 'x'));
  readWhole(inbox, route);
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([{ digest: 'edited x', answer: { approved: true } }]);
  expect(route.posted[0]?.['answer']).not.toHaveProperty('remember');
});

test('one critical request among several takes the second step for all, wherever it stands', async () => {
  const route = new FakeRoute(
    makeEntry('a'),
    makeEntry('b', { risk: 'critical', request: { risk: 'critical' } }),
  );
  const inbox = await route.open();
  inbox.marks.toggle(rowOf(inbox, 'a'));
  inbox.marks.toggle(rowOf(inbox, 'b'));
  inbox.openMarked();
  readWhole(inbox, route);
  inbox.answering.approve();
  expect(inbox.answering.step).toBe('confirm');
  expect(inbox.answering.sendingIds.length).toBe(0);
});

test('where one of several needs a reason, it is asked for', async () => {
  const route = new FakeRoute(makeEntry('a'), makeEntry('b', { request: { requireReason: true } }));
  const inbox = await route.open();
  inbox.marks.toggle(rowOf(inbox, 'a'));
  inbox.marks.toggle(rowOf(inbox, 'b'));
  inbox.openMarked();
  readWhole(inbox, route);
  inbox.answering.approve();
  expect(inbox.answering.step).toBe('give-reason');
  expect(inbox.answering.sendingIds.length).toBe(0);
});

test('what was read of one edit does not count for the next one', async () => {
  const route = new FakeRoute(
    other('x', { rights: { mayEdit: true }, request: { editable: true } }),
  );
  const inbox = await route.open();
  const { answering } = inbox;
  inbox.open(rowOf(inbox, 'x'));
  readWhole(inbox, route);
  answering.startEdit();
  answering.setDraft('x', { edits: typeEdits({ to: 'y' }) });
  answering.checkEdit();
  readWhole(inbox, route);
  answering.goBack();
  answering.setDraft('x', { edits: typeEdits({ to: 'z' }) });
  answering.checkEdit();
  route.now += 500;
  answering.approve();
  await settle(inbox);
  expect(route.posted).toEqual([]);
});

test('an edit keeps what somebody else has changed meanwhile in what it does not touch', async () => {
  const input = { to: 'Ada', body: 'Hello' };
  const entry = other('x', { input, rights: { mayEdit: true }, request: { editable: true } });
  const route = new FakeRoute(entry);
  const inbox = await route.open();
  const { answering } = inbox;
  inbox.open(rowOf(inbox, 'x'));
  answering.startEdit();
  answering.setDraft('x', { edits: typeEdits({ body: 'Bye' }) });
  const { request } = entry;
  if (request?.type !== 'approval-request' || request.toolCall === undefined) return;
  const toolCall = { ...request.toolCall, input: { to: 'Bo', body: 'Hello' } };
  route.replace({ ...entry, digest: 'edited x', request: { ...request, toolCall } });
  await inbox.refresh();
  inbox.reopen();
  answering.startEdit();
  answering.checkEdit();
  readWhole(inbox, route);
  answering.approve();
  await settle(inbox);
  expect(route.posted).toMatchObject([
    { digest: 'edited x', answer: { input: { to: 'Bo', body: 'Bye' } } },
  ]);
});

test('what was answered is no longer marked; what was refused is', async () => {
  const route = new FakeRoute(other('a'), other('b', { toolName: 'a' }));
  route.entries = route.entries.map((each, index) => ({ ...each, tenant: `${index}` }));
  const inbox = await route.open();
  inbox.marks.toggle(rowOf(inbox, 'a'));
  inbox.marks.toggle(rowOf(inbox, 'b'));
  inbox.openMarked();
  readWhole(inbox, route);
  route.amend = (outcome) => {
    if (outcome.requestId !== 'b') return outcome;
    const error = { code: 'busy', message: 'Try again.' };
    return { status: 'refused', requestId: 'b', error };
  };
  inbox.answering.approve();
  route.entries = route.entries.map((each) =>
    each.requestId === 'b' ? other('b', { toolName: 'a' }) : each,
  );
  await settle(inbox);
  route.replace(other('b', { toolName: 'a', tenant: '1' }));
  await inbox.refresh();
  expect(inbox.marks.count).toBe(1);
  inbox.openMarked();
  expect(inbox.opened?.row.entries.map(({ requestId }) => requestId)).toEqual(['b']);
});

test.each([
  ['a rejection', (inbox: Inbox) => inbox.answering.startReject(), 'reject'],
  ['to type in a field', (inbox: Inbox) => void (inbox.isInField = () => true), 'read'],
])(
  'what is read late takes nobody away from %s that they have begun',
  async (_what, begin, step) => {
    const route = new FakeRoute(other('x'), other('y'));
    const inbox = await route.open();
    inbox.open(rowOf(inbox, 'y'));
    const more = Promise.withResolvers<unknown>();
    Object.defineProperty(inbox, 'hasMore', { value: true });
    Object.defineProperty(inbox, 'loadMore', {
      value: async () => {
        await more.promise;
        inbox.list.append([other('z')]);
      },
    });
    const moving = inbox.move(1, 'detail');
    begin(inbox);
    more.resolve(undefined);
    await moving;
    expect(inbox.opened?.row.key).toBe('y');
    expect(inbox.answering.step).toBe(step);
  },
);

test('what is read late takes nobody out of a field', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  inbox.open(rowOf(inbox, 'x'), 'heading');
  route.entries = [...route.entries, other('z')];
  await inbox.refresh();
  for (const id of ['x', 'y']) {
    inbox.open(rowOf(inbox, id));
    readWhole(inbox, route);
    inbox.answering.approve();
  }
  const { focus } = inbox;
  expect(inbox.opened).toBeUndefined();
  inbox.isInField = () => true;
  await vi.waitFor(() => expect(inbox.opened?.row.key).toBe('z'));
  expect(inbox.focus).toEqual(focus);
});

test('an answer on its way is called what it is', async () => {
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
  const route = new FakeRoute({ ...other('q', { kind: 'question' }), request: question });
  const inbox = await route.open();
  inbox.open(rowOf(inbox, 'q'));
  inbox.answering.setDraft('q', { picks: new Map([['room', { optionIds: ['blue'], text: '' }]]) });
  inbox.answering.answerQuestion();
  expect(inbox.answering.describeSending('q')).toBe('Answering');
  await settle(inbox);
});

test('a double press is one yes, also when the server’s clock is corrected between', async () => {
  const route = new FakeRoute(other('x', { risk: 'critical' }));
  const inbox = await route.open();
  inbox.open(rowOf(inbox, 'x'));
  readWhole(inbox, route);
  inbox.answering.approve();
  route.ahead = 5_000;
  await inbox.refresh();
  inbox.answering.approve();
  await settle(inbox);
  expect(route.posted).toEqual([]);
});

test('an edit keeps the line ends of a text, of which a field of a page knows one alone', () => {
  const toolCall = { toolCallId: 'c', toolName: 'x', input: { body: 'Dear Ada,\r\nBest' } };
  const enter = (body: string) =>
    readEdits({ request: { editable: true, toolCall } }, typeEdits({ body })).input;
  expect(enter('Dear Bo,\nBest')).toEqual({ body: 'Dear Bo,\r\nBest' });
  expect(enter('Dear Ada,\nBest')).toBeUndefined();
});

test('after somebody has taken their approval back, they approve it or reject it where they are', async () => {
  const voted = { mayApprove: false, mayReject: false, mayAnswer: false, mayWithdraw: true };
  const route = new FakeRoute(makeEntry('x', { rights: voted }));
  route.amend = (outcome) => {
    const entry = makeEntry('x');
    route.replace(entry);
    return { ...outcome, entry };
  };
  const inbox = await route.open();
  inbox.open(rowOf(inbox, 'x'));
  readWhole(inbox, route);
  inbox.answering.act({ type: 'withdraw' }, 'Withdrawing');
  await settle(inbox);
  expect(inbox.answering.whyNotApprove).toBeUndefined();
  inbox.answering.startReject();
  expect(inbox.answering.step).toBe('reject');
});

test('what arrives while several that are alike are answered is opened by itself', async () => {
  const route = new FakeRoute(makeEntry('a'), makeEntry('b'));
  const inbox = await route.open();
  inbox.open(rowOf(inbox, 'a'));
  route.entries = [...route.entries, makeEntry('late')];
  await inbox.refresh();
  const { promise, resolve } = Promise.withResolvers<void>();
  route.hold = promise;
  inbox.answering.startReject();
  inbox.answering.reject();
  await vi.waitFor(() => expect(inbox.opened).toBeDefined());
  expect(inbox.opened?.row.entries.map(({ requestId }) => requestId)).toEqual(['late']);
  resolve();
  await settle(inbox);
});

test('whoever loses the right to see requests while they are shown reads that there is nothing to answer', async () => {
  const route = new FakeRoute(other('x'), other('y'));
  const inbox = await route.open();
  inbox.open(rowOf(inbox, 'x'));
  readWhole(inbox, route);
  route.entries = [];
  await inbox.refresh();
  expect(inbox.list.entries.filter(inbox.needsPerson)).toEqual([]);
  expect(inbox.answering.whyNotApprove).toBe('There is nothing to answer.');
  expect(inbox.answering.alert).toBeUndefined();
  route.entries = [other('x')];
  await inbox.refresh();
  expect(inbox.answering.whyNotApprove).toBeUndefined();
});

test('what the app said of a call is not shown as said of its edit', () => {
  const details = [{ type: 'text', label: 'Balance of x', text: '100 EUR' } as const];
  const edited = previewEdit(other('x', { details }), { to: 'y' }, 2_000);
  expect(edited.details).toEqual([{ ...details[0], label: 'Balance of x (before the edit)' }]);
});

const foreignResponse = (): Response =>
  Response.json({ error: { code: 'foreign-response', message: 'Not us.' } }, { status: 502 });

/* A page can't read what another site answers: who follows a redirect there takes it for a server that is down. */
const redirectToSignIn = ({ redirect }: RequestInit): Response =>
  redirect === 'manual' ? Response.error() : Response.json({}, { status: 503 });

test.each<[string, boolean, (init: RequestInit) => Response]>([
  ['that nobody is signed in', true, () => Response.json({}, { status: 401 })],
  ['that this person may not use the inbox', true, () => Response.json({}, { status: 403 })],
  ['with a redirect to a sign-in', true, redirectToSignIn],
  ['with the page of a sign-in', true, () => new Response('<h1>Sign in</h1>')],
  ['something else, in its place', true, foreignResponse],
  ['that something failed', false, () => Response.json({}, { status: 500 })],
])('what is shown is withheld while the server says %s: %s', async (_what, isWithheld, instead) => {
  const route = new FakeRoute(makeEntry('x'));
  const inbox = await route.open();
  expect(inbox.problem).toBeUndefined();
  route.instead = instead;
  await inbox.refresh();
  expect(inbox.problem).toMatchObject({ isWithheld });
  route.instead = undefined;
  await inbox.refresh();
  expect(inbox.problem).toBeUndefined();
});

test('what is shown is withheld as soon as a request that is opened can no longer be read', async () => {
  const route = new FakeRoute(makeEntry('x'));
  const inbox = await route.open();
  route.instead = () => Response.json({}, { status: 401 });
  inbox.open(rowOf(inbox, 'x'));
  await vi.waitFor(() => expect(inbox.problem).toMatchObject({ isWithheld: true }));
  inbox.problem = undefined;
  await inbox.openById('y');
  expect(inbox.problem).toMatchObject({ isWithheld: true });
  expect(inbox.answering.alert).toBeUndefined();
});
