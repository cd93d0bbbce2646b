import { expect, test } from 'vitest';
import { askConfirmation } from 'holdpoint/tools';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';

const calls = ['Paris', 'Rome', 'Oslo', 'Bern'].map((city, index) => book(`c${index}`, city));

test('an agent with a model says how requests were decided: approved, rejected with a reason, expired, cancelled', async () => {
  const clock = { now: 0 };
  const world = memoryWorld([{ calls }, { text: 'Done.' }, { text: 'Again.' }]);
  const agent = world.agent({
    now: () => clock.now,
    toolApproval: {
      book: (input: unknown) =>
        Reflect.get(Object(input), 'city') === 'Oslo'
          ? { type: 'user-approval', expiresAfterMs: 50 }
          : 'user-approval',
    },
  });
  const thread = await agent.thread('t');
  const asked = await agent.run('Book', thread);
  expect(asked.decisions).toEqual([]);
  const [paris, rome] = asked.approvalRequests;
  if (paris === undefined || rome === undefined) throw new Error('Requests were expected.');
  await agent.respond(paris.approve({ reason: 'Fine.' }), thread, { principal: 'ann' });
  await agent.respond(rome.reject('Too dear.'), thread, { principal: 'bob', channel: 'desk' });
  clock.now = 50;
  await agent.run([], thread);
  const cancelled = await agent.cancel(thread, 'Enough.');
  const decisions = [
    { status: 'approved', principal: 'ann', response: { reason: 'Fine.' } },
    {
      status: 'rejected',
      principal: 'bob',
      channel: 'desk',
      response: { approved: false, reason: 'Too dear.' },
      request: { toolCall: { toolName: 'book', input: { city: 'Rome' } } },
    },
    { status: 'expired', request: { toolCall: { input: { city: 'Oslo' } } } },
    { status: 'cancelled', request: { toolCall: { input: { city: 'Bern' } } } },
  ];
  expect(cancelled.decisions).toMatchObject(decisions);
  for (const { status, response } of cancelled.decisions) {
    expect(response === undefined).toBe(status === 'expired' || status === 'cancelled');
  }
  const done = await agent.run([], thread);
  expect(done).toMatchObject({ status: 'completed', decisions });
  /* The next turn has none; the thread keeps all. */
  expect((await agent.run('More', thread)).decisions).toEqual([]);
  expect(thread.decisions).toMatchObject(decisions);
  expect(Object.isFrozen(thread.decisions[0])).toBe(true);
  /* A response is of its time. */
  expect(asked.decisions).toEqual([]);
});

test('an approval of what has changed since is invalidated, and a question is answered or dismissed', async () => {
  const input = { question: 'Sure?' };
  const world = memoryWorld([
    {
      calls: [
        book('c1', 'Paris'),
        { id: 'q1', name: 'ask', input },
        { id: 'q2', name: 'ask', input },
      ],
    },
    { text: 'Done.' },
  ]);
  const tools = { ...travelTools(world.ran), ask: askConfirmation() };
  const first = world.agent({ tools });
  const { approvalRequests, userInputRequests } = await first.run('Go', await first.thread('t'));
  const anotherBook = Object.assign({}, tools.book, { description: 'books a train' });
  const changed = { ...tools, book: anotherBook };
  const agent = world.agent({ tools: changed });
  const thread = await agent.thread('t');
  const [yes, no] = userInputRequests
    .filter(({ type }) => type === 'question-request')
    .map(({ requestId }) => ({ type: 'question-response' as const, requestId }));
  if (yes === undefined || no === undefined) throw new Error('Two questions were expected.');
  const answers = [{ key: 'answer', optionIds: ['yes'] }];
  const response = await agent.run(
    [
      ...approvalRequests.map((request) => request.approve()),
      { ...yes, status: 'answered', answers },
      { ...no, status: 'dismissed' },
    ],
    thread,
    { principal: 'eve' },
  );
  expect(response.status).toBe('waiting');
  expect(response.decisions.map(({ status }) => status).toSorted()).toEqual([
    'answered',
    'dismissed',
    'invalidated',
  ]);
  expect(response.decisions.find(({ status }) => status === 'invalidated')).toMatchObject({
    principal: 'eve',
    request: { requestId: approvalRequests[0]?.requestId },
  });
  expect(world.ran).toEqual([]);
});
