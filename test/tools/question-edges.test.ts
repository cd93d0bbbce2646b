import { askUserQuestion, userChoice } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { ask, askOne, dismissed, picked, single } from './asked.ts';
import { asks, oneOf } from './asking-tools.ts';
import { database } from './seed-questions.ts';

test('an approved call whose tool has become a question tool does not run, and does not wait for ever', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  const tools = travelTools(world.ran);
  const asking = Object.assign({}, asks(oneOf), {
    description: tools.book.description,
    inputSchema: tools.book.inputSchema,
  });
  const other = world.agent({ tools: { ...tools, book: asking } });
  const response = await other.run([], await other.thread('t'));
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(response.thread.calls).toMatchObject([
    { status: 'failed', outcome: { error: expect.stringContaining('now asks a question') } },
  ]);
  expect(world.ran).toEqual([]);
});

test('an interrupt leaves open what the app itself asks', async () => {
  const { questions, agent, thread } = await ask({
    tools: { AskUserQuestion: askUserQuestion() },
    calls: [
      { id: 'q1', name: 'AskUserQuestion', input: { questions: [database] } },
      book('c1', 'Paris'),
    ],
  });
  const own = await agent.requestApproval(thread, { text: 'Publish?' });
  await agent.respond(dismissed(single(questions)), thread);
  expect(thread.activeRequests.map(({ requestId }) => requestId)).toEqual([own.requestId]);
});

/** A tool with one of its two functions replaced. */
function changed(change: object) {
  const tool = asks(oneOf);
  const [key] = Object.getOwnPropertySymbols(tool);
  if (key === undefined) throw new Error('It does not ask.');
  Object.assign(Reflect.get(tool, key), change);
  return tool;
}

const late = async () => Promise.reject(new Error('late'));

test('a toQuestion that is asynchronous is refused, and its failure ends no process', async () => {
  const { thread } = await ask({
    tools: { ask: changed({ toQuestion: late }) },
    calls: [{ id: 'q1', name: 'ask', input: {} }],
  });
  expect(thread.calls).toMatchObject([
    { status: 'failed', outcome: { error: 'toQuestion must not be asynchronous.' } },
  ]);
});

test('a toResult that is asynchronous is refused, and its failure ends no process', async () => {
  const { agent, thread, request } = await askOne(changed({ toResult: late }), {});
  await expect(agent.run(picked(request, ['a']), thread)).rejects.toMatchObject({
    code: 'invalid-answer',
    message: expect.stringContaining('must not be asynchronous'),
  });
  expect(thread.activeRequests).toHaveLength(1);
});

test('an empty text with a selected option is not a second answer', async () => {
  const { agent, thread, request } = await askOne(userChoice(), {
    question: 'Q?',
    options: '["A"]',
  });
  expect(await agent.run(picked(request, ['1'], ''), thread)).toMatchObject({
    status: 'completed',
  });
  expect(thread.calls).toMatchObject([{ outcome: { output: 'A' } }]);
});
