import { createPostHandler, HoldpointError, type Authorize } from 'holdpoint';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { book, memoryWorld } from '../support/travel-world.ts';

const schema = z.object({ threadId: z.string(), requestId: z.string() });

/** Ada and Ben say who they are in a header. */
const authorize: Authorize = async ({ request, threadId }) => {
  const name = request.headers.get('x-name');
  return name !== null && threadId === 'trip-42' ? { principal: name } : undefined;
};

/** A thread of Ada's with a request, and a route that approves it. */
async function approvalRoute(options: { allowedOrigins?: string[] } = {}) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const thread = await agent.thread('trip-42');
  const { approvalRequests } = await agent.run('Book a flight to Paris.', thread);
  const requestId = approvalRequests[0]?.requestId ?? '';
  const handled: unknown[] = [];
  const errors: unknown[] = [];
  const handler = createPostHandler({
    agent,
    authorize,
    schema,
    channel: 'mail',
    ...options,
    onError: (error) => {
      errors.push(error);
      return 'Try again later.';
    },
    async handle({ body, by }) {
      handled.push(body);
      if (body.requestId === 'broken') throw new Error('The disk is full.');
      const answer = {
        type: 'approval-response',
        requestId: body.requestId,
        approved: true,
      } as const;
      await agent.respond(answer, await agent.thread(body.threadId), by);
    },
  });
  const body = JSON.stringify({ threadId: 'trip-42', requestId });
  const send = async (headers: Record<string, string>, init: RequestInit = {}) => {
    const request = new Request('http://agent.example/approve', {
      method: 'POST',
      body,
      ...init,
      headers: { 'content-type': 'application/json', ...headers },
    });
    return handler(request);
  };
  const answers = async () =>
    (await agent.thread('trip-42')).events
      .filter((event) => event.type === 'request-answered')
      .map(({ principal, channel }) => ({ principal, channel }));
  return { send, handled, errors, answers };
}

const ada = { 'x-name': 'Ada' };
const evil = { origin: 'https://evil.example' };

test.each<[string, number, Record<string, string>, RequestInit?]>([
  ['a stranger', 403, {}],
  ['a blank name', 403, { 'x-name': '' }],
  ['a page of another site, in which Ada is signed in', 403, { ...ada, ...evil }],
  ['such a page with a form', 403, { ...ada, ...evil, 'content-type': 'text/plain' }],
  ['a page in a sandbox', 403, { ...ada, origin: 'null' }],
  ['a text', 415, { ...ada, 'content-type': 'text/plain' }],
  ['a body that is no JSON', 400, ada, { body: '{bad' }],
  ['a body without a thread', 400, ada, { body: '{}' }],
  ['a body of another shape', 400, ada, { body: '{"threadId":"trip-42","requestId":7}' }],
  ['no object', 400, ada, { body: 'null' }],
  ['a thread of somebody else', 403, ada, { body: '{"threadId":"trip-1","requestId":"r"}' }],
  ['a long body', 413, ada, { body: `"${'x'.repeat(1_048_576)}"` }],
  ['another method', 405, ada, { method: 'PUT' }],
])(
  'a route of your own refuses %s with %i, and calls nothing',
  async (_, status, headers, init) => {
    const { send, handled, answers } = await approvalRoute();
    const response = await send(headers, init);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect(handled).toEqual([]);
    expect(await answers()).toEqual([]);
  },
);

test('it records who was let in, and the channel; a refusal of the thread has its status', async () => {
  const { send, answers, errors } = await approvalRoute();
  const response = await send({ ...ada, origin: 'http://agent.example' });
  expect([response.status, await response.json()]).toEqual([200, {}]);
  expect(await answers()).toEqual([{ principal: 'Ada', channel: 'mail' }]);
  const body = '{"threadId":"trip-42","requestId":"other"}';
  expect((await send(ada, { body })).status).toBe(404);
  expect(errors).toEqual([]);
});

test('the pages of allowed origins are let in', async () => {
  const { send, answers } = await approvalRoute({ allowedOrigins: ['https://app.example'] });
  expect((await send({ ...ada, origin: 'https://app.example' })).status).toBe(200);
  expect(await answers()).toHaveLength(1);
});

test('an error of the app is told to the developer, and not to the client', async () => {
  const { send, errors } = await approvalRoute();
  const body = '{"threadId":"trip-42","requestId":"broken"}';
  const response = await send(ada, { body });
  expect([response.status, await response.text()]).toEqual([
    500,
    '{"error":{"code":"internal-error","message":"Try again later."}}',
  ]);
  expect(errors).toEqual([new Error('The disk is full.')]);
});

test('the agent says who a principal is', async () => {
  const agent = memoryWorld([]).agent({ principalId: () => 'Ada' });
  const options = {
    authorize: async () => ({ principal: { badge: 7 } }),
    schema: z.object({ threadId: z.string() }),
    handle: async () => {},
  };
  const statuses = [createPostHandler({ agent, ...options }), createPostHandler(options)].map(
    async (handler) => {
      const headers = { 'content-type': 'application/json' };
      const body = '{"threadId":"trip-42"}';
      const request = new Request('http://agent.example/', { method: 'POST', headers, body });
      return (await handler(request)).status;
    },
  );
  expect(await Promise.all(statuses)).toEqual([200, 403]);
});

test('without an agent it works too; what the route throws as an error of the thread has its status', async () => {
  const handler = createPostHandler({
    authorize: async () => ({ principal: 'Ada' }),
    threadIdField: 'id',
    schema: z.object({ id: z.string() }).transform(({ id }) => ({ threadId: id })),
    handle: async ({ body: { threadId }, by }) => {
      if (threadId === 'busy') throw new HoldpointError('thread-busy', 'Thread busy is at work.');
      return Response.json({ threadId, by });
    },
  });
  const send = async (id: string) =>
    handler(
      new Request('http://agent.example/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      }),
    );
  expect(await (await send('trip-42')).json()).toEqual({
    threadId: 'trip-42',
    by: { principal: 'Ada', channel: 'post' },
  });
  expect((await send('busy')).status).toBe(409);
});

test('whoever may use one thread gets at no other that the same body names', async () => {
  const handle = vi.fn<() => Promise<void>>(async () => {});
  const handler = createPostHandler({
    authorize: async ({ threadId }) => (threadId === 'mine' ? { principal: 'Ada' } : undefined),
    schema: z
      .object({ threadId: z.string(), id: z.string() })
      .transform(({ id }) => ({ threadId: id })),
    handle,
  });
  const send = async (body: object) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await handler(new Request('http://agent.example/', init))).status;
  };
  expect(await send({ threadId: 'mine', id: 'another' })).toBe(400);
  expect(handle).not.toHaveBeenCalled();
  expect(await send({ threadId: 'mine', id: 'mine' })).toBe(200);
});
