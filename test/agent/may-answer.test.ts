import { type Agent, approve, type HoldpointError } from 'holdpoint';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const calls = [book('c1', 'Paris')];
const script = [{ calls }, { text: 'Booked.' }];
const isOwner = ({ principal }: { principal: unknown }): boolean => principal === 'owner';

test('who may chat and not approve is refused, nothing changes, and the owner can still approve', async () => {
  const world = memoryWorld(script);
  const agent = world.agent({ mayAnswer: isOwner });
  const thread = await agent.thread('t');
  const asked = await agent.run('Book', thread, { principal: 'guest' });
  const answers = asked.approvalRequests.map((request) => request.approve());
  const before = JSON.stringify(thread);
  const by = { principal: 'guest' };
  expect(await errorCode(agent.run(answers, thread, by))).toBe('not-allowed');
  expect(await errorCode(agent.respond(answers, thread, by))).toBe('not-allowed');
  expect(await errorCode(agent.stream(answers, thread, by).response)).toBe('not-allowed');
  expect(JSON.stringify(thread)).toBe(before);
  const done = await agent.run(answers, thread, { principal: 'owner' });
  expect(done.text).toBe('Booked.');
  expect(world.ran).toHaveLength(1);
});

test('a refusal names the request, so that its siblings can be sent without it', async () => {
  const two = [book('c1', 'Paris'), book('c2', 'Rome')];
  const world = memoryWorld([{ calls: two }]);
  const agent = world.agent({
    mayAnswer: ({ request }) => JSON.stringify(request).includes('Paris'),
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  const answers = approvalRequests.map((request) => request.approve());
  await expect(agent.run(answers, thread)).rejects.toMatchObject({
    code: 'not-allowed',
    requestId: approvalRequests[1]?.requestId,
  } satisfies Partial<HoldpointError>);
  expect(thread.activeRequests).toHaveLength(2);
});

test('only true lets an answer through, and what mayAnswer throws is thrown', async () => {
  const world = memoryWorld(Array.from({ length: 6 }, () => ({ calls })));
  for (const [index, answer] of [false, undefined, 'yes', 1, {}].entries()) {
    // @ts-expect-error -- what JavaScript may return
    const agent = world.agent({ mayAnswer: async () => answer });
    const thread = await agent.thread(`t-${index}`);
    const { approvalRequests } = await agent.run('Book', thread);
    const answers = approvalRequests.map((request) => request.approve());
    expect(await errorCode(agent.run(answers, thread))).toBe('not-allowed');
  }
  const broken = new Error('The directory is down.');
  const agent = world.agent({ mayAnswer: async () => Promise.reject(broken) });
  const thread = await agent.thread('broken');
  const { approvalRequests } = await agent.run('Book', thread);
  const rejections = approvalRequests.map((request) => request.reject());
  expect(await errorCode(agent.run(rejections, thread))).toBe(broken);
  expect(thread.activeRequests).toHaveLength(1);
});

test('it sees what is asked, what is answered, by whom and through what', async () => {
  const seen: unknown[] = [];
  const world = memoryWorld(script);
  const agent = world.agent({
    mayAnswer: (asked) => {
      seen.push(structuredClone({ ...asked, request: { ...asked.request } }));
      return true;
    },
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  const by = { principal: { id: 'ann' }, channel: 'slack' };
  const rejections = approvalRequests.map((request) => request.reject('too dear'));
  await agent.run(rejections, thread, by);
  expect(seen).toMatchObject([
    {
      principal: { id: 'ann' },
      channel: 'slack',
      request: { type: 'approval-request', toolCall: { toolName: 'book' } },
      response: { approved: false, reason: 'too dear' },
    },
  ]);
});

test('who may answer a request that opened meanwhile is asked before its answer counts', async () => {
  const ids = ['one', 'two'];
  const asked = new Set<string>();
  const agent: Agent = memoryWorld([{ calls }]).agent({
    generateId: () => ids.shift() ?? 'three',
    mayAnswer: async ({ request: { requestId } }) => {
      asked.add(requestId);
      if (ids.length > 0) await agent.requestApproval(thread, { text: 'Two?' });
      return requestId === 'one';
    },
  });
  const thread = await agent.thread('t');
  const one = await agent.requestApproval(thread, { text: 'One?' });
  const guessed = { requestId: 'two' };
  expect(await errorCode(agent.respond([approve(one), approve(guessed)], thread))).toBe(
    'not-allowed',
  );
  expect([...asked]).toEqual(['one', 'two']);
  expect(thread.activeRequests).toMatchObject([{ text: 'One?' }, { text: 'Two?' }]);
});

test('a user message whose content is approval responses is taken as the answers', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  const content = approvalRequests.map((request) => request.approve());
  const done = await agent.run({ role: 'user', content }, thread);
  expect(done.text).toBe('Booked.');
  expect(thread.messages.filter(({ role }) => role === 'user')).toHaveLength(1);
});

test('what such a message says beside the answers is a message of the user', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  const answers = approvalRequests.map((request) => request.approve());
  const content = [{ type: 'text', text: 'And be quick.' }, ...answers];
  // @ts-expect-error -- the type has answers alone
  await agent.run({ role: 'user', content }, thread);
  expect(world.ran).toHaveLength(1);
  expect(JSON.stringify(thread.messages)).toContain('And be quick.');
});

test('an approval in a user message is as strict as any: only true approves', async () => {
  const world = memoryWorld(script);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread);
  const content = approvalRequests.map((request) => ({ ...request.approve(), approved: 'yes' }));
  // @ts-expect-error -- as a page might send it
  expect(await errorCode(agent.run({ role: 'user', content }, thread))).toBe('invalid-answer');
  expect(world.ran).toHaveLength(0);
});
