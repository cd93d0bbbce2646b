import { createAgent, memoryStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { boardReader } from '../../examples/inbox/read-board.ts';
import { ChangeStream } from '../../examples/inbox/change-stream.ts';
import { createInboxHandler } from '../../examples/inbox/inbox-handler.ts';
import { boardSchema } from '../../examples/inbox/board.ts';
import { newsroom } from '../support/newsroom.ts';
import { scriptedModel } from '../support/scripted-model.ts';

test('the inbox lists what the steps of a custom agent ask, and how it was answered', async () => {
  const store = memoryStore();
  const agent = newsroom(store);
  const person = { name: 'Ann' };
  const thread = await agent.thread('Ann.t');
  const readBoard = boardReader({ agent, store });
  const entries = async () => boardSchema.parse(await readBoard(person)).entries;
  const { userInputRequests } = await agent.run('Announce it.', thread, { principal: person.name });
  expect(await entries()).toMatchObject([
    { title: 'Announce it.', status: 'waiting', request: { key: 'tone', text: 'Which tone?' } },
  ]);
  const answers = [{ key: 'answer', optionIds: ['Formal'] }];
  const responses = userInputRequests.map(({ requestId }) => ({
    type: 'question-response' as const,
    requestId,
    status: 'answered' as const,
    answers,
  }));
  await agent.run(responses, thread, { principal: person.name });
  const listed = await entries();
  expect(listed.map(({ request, status }) => `${request.key} ${status}`).toSorted()).toEqual([
    'publish waiting',
    'tone answered',
  ]);
  expect(listed.find(({ status }) => status === 'answered')).toMatchObject({
    answer: { name: 'Ann', response: { answers } },
  });
});

test('the inbox lists the riskiest first, with who may answer and who has approved', async () => {
  const store = memoryStore();
  const { model } = scriptedModel([{ text: 'Hello.' }]);
  const agent = createAgent({ model, store, mayAnswer: () => true });
  const person = { name: 'Ann' };
  const thread = await agent.thread('Ann.t');
  await agent.run('Hi.', thread, { principal: 'Ann' });
  const readBoard = boardReader({ agent, store });
  for (const risk of ['low', undefined, 'critical', 'high'] as const) {
    await agent.requestApproval(thread, {
      key: risk ?? 'none',
      text: 'May I?',
      approvers: ['owners'],
      quorum: 2,
      ...(risk && { risk }),
    });
  }
  const entries = async () => boardSchema.parse(await readBoard(person)).entries;
  expect((await entries()).map(({ request }) => request.key)).toEqual([
    'critical',
    'high',
    'none',
    'low',
  ]);
  const [first] = thread.activeApprovalRequests.filter(({ risk }) => risk === 'critical');
  if (first === undefined) throw new Error('Nothing is asked.');
  await agent.respond(first.approve(), thread, { principal: 'Ben' });
  expect((await entries())[0]).toMatchObject({
    status: 'waiting',
    request: { approvers: ['owners'], quorum: 2, votes: [{ person: 'Ben' }] },
  });
});

test('an answer that a form of another site could send is refused, and nothing is recorded', async () => {
  const store = memoryStore();
  const { model } = scriptedModel([]);
  const agent = createAgent({ model, store });
  const thread = await agent.thread('Ben.t');
  const { requestId } = await agent.requestApproval(thread, { text: 'May I?' });
  const handle = createInboxHandler({ agent, store, changes: new ChangeStream(agent) });
  const answer = { type: 'approval-response', requestId, approved: true };
  const body = JSON.stringify({ threadId: 'Ben.t', answer });
  const send = async (name: string, headers: Record<string, string>): Promise<number> => {
    const url = `http://page.test/api/inbox?as=${name}`;
    return (await handle(new Request(url, { method: 'POST', headers, body }))).status;
  };
  const json = { 'content-type': 'application/json' };
  expect(await send('Ben', { 'content-type': 'text/plain' })).toBe(415);
  expect(await send('Ben', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
  expect(await send('Ben', { ...json, origin: 'https://evil.example' })).toBe(403);
  expect(await send('Eve', json)).toBe(403);
  expect((await agent.thread('Ben.t')).activeRequests).toHaveLength(1);
  expect(await send('Ben', json)).toBe(200);
  expect((await agent.thread('Ben.t')).activeRequests).toEqual([]);
});

test('an answer of a page that was loaded for somebody else is refused, and nothing is recorded', async () => {
  const store = memoryStore();
  const { model } = scriptedModel([]);
  const agent = createAgent({ model, store });
  const thread = await agent.thread('Ben.t');
  const { requestId } = await agent.requestApproval(thread, { text: 'May I?' });
  const handle = createInboxHandler({ agent, store, changes: new ChangeStream(agent) });
  const headers = { 'x-demo-name': 'Ben', 'content-type': 'application/json' };
  const url = 'http://page.test/api/inbox';
  const { viewer } = boardSchema.parse(await (await handle(new Request(url, { headers }))).json());
  const answer = { type: 'approval-response', requestId, approved: true };
  const statuses: number[] = [];
  for (const claimed of ['Ada', viewer]) {
    expect((await agent.thread('Ben.t')).activeRequests).toHaveLength(1);
    const body = JSON.stringify({ threadId: 'Ben.t', answer, viewer: claimed });
    const { status } = await handle(new Request(url, { method: 'POST', headers, body }));
    statuses.push(status);
  }
  expect(statuses).toEqual([403, 200]);
  expect((await agent.thread('Ben.t')).activeRequests).toEqual([]);
});
