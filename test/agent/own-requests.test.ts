import { approve, reject } from 'holdpoint';
import { expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { memoryWorld } from '../support/travel-world.ts';

test('an approval without a tool call is asked, listed, kept through JSON, and answered (S3-05, S3-07)', async () => {
  const world = memoryWorld([{ text: 'Done.' }]);
  const agent = world.agent();
  const thread = await agent.thread('t');
  const request = await agent.requestApproval(thread, {
    text: 'Publish the report?',
    reason: 'It is public.',
  });
  expect(request.toolCall).toBeUndefined();
  expect(thread.status).toBe('waiting');
  expect(await errorCode(agent.run('Hello', thread))).toBe('requests-open');

  const other = world.agent({ store: undefined });
  const restored = await other.restore(JSON.stringify(thread));
  expect(restored.activeApprovalRequests).toEqual([request]);
  const response = await other.run(request.approve(), restored);
  expect(response).toMatchObject({ status: 'completed', messages: [], approvalRequests: [] });
  expect(restored.events.at(-1)).toMatchObject({
    type: 'request-answered',
    response: { approved: true },
  });
  expect(restored.messages).toEqual([]);
  expect(await other.run('Hello', restored)).toMatchObject({ text: 'Done.' });
});

test('approve and reject work on a request that came as plain JSON (S3-08 to S3-10)', async () => {
  const agent = memoryWorld([]).agent();
  const thread = await agent.thread('t');
  const yes = await agent.requestApproval(thread, { text: 'One?' });
  const no = await agent.requestApproval(thread, { text: 'Two?' });
  expect(approve(JSON.parse(JSON.stringify(yes)))).toEqual(yes.approve());
  expect(reject(JSON.parse(JSON.stringify(no)), 'not now')).toEqual({
    type: 'approval-response',
    requestId: no.requestId,
    approved: false,
    reason: 'not now',
    digest: no.digest,
  });
  await agent.respond([approve(yes), reject(no)], thread);
  expect(thread.activeRequests).toEqual([]);
  expect(thread.status).toBe('idle');
});

test('what a request spreads and stringifies to is the plain data', async () => {
  const agent = memoryWorld([]).agent();
  const request = await agent.requestApproval(await agent.thread('t'), { text: 'One?' });
  expect(Object.keys(request)).not.toContain('approve');
  expect({ ...JSON.parse(JSON.stringify(request)) }).toEqual({ ...request });
});

test('a request of the app itself expires and is cancelled like any other', async () => {
  const clock = { now: 0 };
  const agent = memoryWorld([]).agent({ now: () => clock.now });
  const thread = await agent.thread('t');
  const late = await agent.requestApproval(thread, { text: 'One?', expiresAfterMs: 10 });
  const open = await agent.requestApproval(thread, { text: 'Two?' });
  clock.now = 10;
  await agent.run([], thread);
  expect(await errorCode(agent.run(late.approve(), thread))).toBe('request-closed');
  await agent.cancel(thread);
  expect(await errorCode(agent.run(open.approve(), thread))).toBe('request-closed');
});

test.each([Number.NaN, Infinity, '7'])(
  'a request that would expire after %s milliseconds is refused, and the thread can be read',
  async (time) => {
    const world = memoryWorld([]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    const asked = { text: 'One?', expiresAfterMs: 1 };
    Reflect.set(asked, 'expiresAfterMs', time);
    expect(await errorCode(agent.requestApproval(thread, asked))).toBe('invalid-input');
    const reread = await world.agent({ store: undefined }).restore(JSON.stringify(thread));
    expect(reread.activeRequests).toEqual([]);
  },
);
