import { expect, test } from 'vitest';
import { rechainedJson } from '../support/chained.ts';
import { book, cityInput, memoryWorld, travelTools } from '../support/travel-world.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];

async function waiting() {
  const world = memoryWorld(script);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  return { world, answers: approvalRequests.map((request) => request.approve()), thread };
}

test('a stored input that was edited does not run: it is asked again, as it stands now (X-04)', async () => {
  const { world, thread, answers } = await waiting();
  const edited = JSON.stringify(thread).replace(
    '"input":{"city":"Paris"}',
    '"input":{"city":"Rome"}',
  );
  const agent = world.agent({ store: undefined });
  const restored = await agent.restore(rechainedJson(edited));
  const bare = answers.map(({ toolCall: _call, ...answer }) => answer);
  const response = await agent.run(bare, restored);
  expect(response.status).toBe('waiting');
  expect(world.ran).toEqual([]);
  expect(response.approvalRequests).toMatchObject([
    { toolCall: { input: { city: 'Rome' } }, reason: expect.stringContaining('changed since') },
  ]);
  expect(response.approvalRequests[0]?.requestId).not.toBe(answers[0]?.requestId);
});

test.each([
  ['text', '"text":"The agent wants to call book."', '"text":"Nothing will happen."'],
  ['expiry', '"createdAt"', '"expiresAt":1e15,"createdAt"'],
  ['time to start', '"createdAt"', '"startWithinMs":1e15,"createdAt"'],
])('a stored %s that was edited is asked again', async (_what, from, to) => {
  const { world, thread, answers } = await waiting();
  const agent = world.agent({ store: undefined });
  const response = await agent.run(
    answers,
    await agent.restore(rechainedJson(JSON.stringify(thread).replace(from, to))),
  );
  expect(response.status).toBe('waiting');
  expect(world.ran).toEqual([]);
});

const changes = {
  description: { description: 'book a train' },
  'input schema': { inputSchema: cityInput.extend({ seat: cityInput.shape.city.optional() }) },
  title: { title: 'Book' },
  'metadata.version': { metadata: { version: '2' } },
};

test.each(Object.entries(changes))(
  'a tool whose %s changed does not run on the old approval; the person is asked again',
  async (_what, change) => {
    const { world, answers } = await waiting();
    const tools = travelTools(world.ran);
    const agent = world.agent({ tools: { ...tools, book: Object.assign({}, tools.book, change) } });
    const asked = await agent.run(answers, await agent.thread('t'));
    expect(asked.status).toBe('waiting');
    expect(world.ran).toEqual([]);
    const response = await agent.run(
      asked.approvalRequests.map((request) => request.approve()),
      asked.thread,
    );
    expect(response.status).toBe('completed');
    expect(world.ran).toHaveLength(1);
  },
);

test('a stored input that was damaged does not run; the model is told', async () => {
  const { world, thread, answers } = await waiting();
  const damaged = JSON.stringify(thread).replace('{"city":"Paris"}', '{"city":"\\ud800"}');
  const agent = world.agent({ store: undefined });
  const bare = answers.map(({ toolCall: _call, ...answer }) => answer);
  const response = await agent.run(bare, await agent.restore(rechainedJson(damaged)));
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.ran).toEqual([]);
  expect(response.thread.calls).toMatchObject([{ status: 'failed' }]);
});

test('a tool that is gone does not run: its call stays approved for an agent that has it, and the run says so', async () => {
  const { world, answers } = await waiting();
  const agent = world.agent({ tools: { look: travelTools(world.ran).look }, toolApproval: {} });
  const thread = await agent.thread('t');
  const running = agent.run(answers, thread);
  await expect(running).rejects.toMatchObject({ code: 'missing-tool' });
  await expect(running).rejects.toThrow("this agent has no tool 'book'");
  expect(thread.calls).toMatchObject([{ status: 'approved' }]);
  expect(world.requests()).toBe(1);
  expect(world.ran).toEqual([]);
  const whole = world.agent();
  const response = await whole.run([], await whole.thread('t'));
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.ran).toHaveLength(1);
});

const broken = () => {
  throw new Error('broken');
};

test.each([
  ['asks something else', () => ({ type: 'user-approval', text: 'Really?' }) as const],
  ['approves', () => 'approved' as const],
  ['does not apply', () => 'not-applicable' as const],
  ['throws', broken],
])('a rule that %s by now does not ask again', async (_what, rule) => {
  const { world, answers } = await waiting();
  const agent = world.agent({ toolApproval: { book: rule } });
  const response = await agent.run(answers, await agent.thread('t'));
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.ran).toHaveLength(1);
});

test('a rule that denies by now wins over the approval', async () => {
  const { world, answers } = await waiting();
  const agent = world.agent({
    toolApproval: { book: { type: 'denied', reason: 'budget is spent' } },
  });
  const response = await agent.run(answers, await agent.thread('t'));
  expect(response.thread.calls).toMatchObject([
    { status: 'denied', outcome: { reason: 'budget is spent' } },
  ]);
  expect(world.ran).toEqual([]);
});

test('changing what a request hands out changes nothing that runs', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
  const [request] = approvalRequests;
  const input = Object(request?.toolCall?.input);
  input.city = 'Rome';
  await expect(agent.run(request?.approve() ?? [], thread)).rejects.toMatchObject({
    code: 'answer-mismatch',
  });
  expect(() => Reflect.set(Object(thread.messages[1]), 'content', [])).not.toThrow();
  expect(thread.messages[1]?.content).toHaveLength(1);
  expect(Object.isFrozen(thread.calls[0]?.input)).toBe(true);
  await agent.run(
    thread.activeApprovalRequests.map((open) => open.approve()),
    thread,
  );
  expect(world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
});
