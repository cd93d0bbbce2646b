import { generateText, isStepCount } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { RemoteWorld, script } from './remote-world.ts';
import { hangUp, status, ToolServer } from './tool-server.ts';

const unknown =
  /^It is unknown whether the tool server received the call \(.+\)\. It was sent once/;

const silence = (): void => {};

/** The endpoint of a server that is gone. */
async function goneEndpoint(): Promise<string> {
  await using server = await ToolServer.start();
  return server.endpoint;
}

describe('S0-39: a call is posted once, whatever comes of it:', () => {
  test.each([
    ['it is taken', status(200), 'deferred', /^$/],
    ['it is taken otherwise', status(202), 'deferred', /^$/],
    ['the server refuses it', status(404), 'failed', /^Not run: .* refused the call \(HTTP 404\)/],
    ['it redirects', status(302), 'failed', /^Not run: .* \(HTTP 302\)/],
    ['the server fails', status(500), 'failed', unknown],
    ['the connection breaks', hangUp, 'failed', unknown],
    ['there is no answer', silence, 'failed', unknown],
  ] as const)('%s', async (_what, behaviour, expected, error) => {
    const tool = behaviour === silence ? { timeoutMs: 100 } : {};
    await using world = await RemoteWorld.start({ tool });
    world.server.invokeBehaviours.push(behaviour);
    const { agent, thread } = await world.called();
    await agent.run([], thread);
    const [call] = thread.calls;
    expect(call?.status).toBe(expected);
    expect(call?.outcome?.status === 'failed' ? call.outcome.error : '').toMatch(error);
    expect(world.server.invocations).toHaveLength(1);
  });

  test('the server is not there', async () => {
    await using world = await RemoteWorld.start({ tool: { endpoint: await goneEndpoint() } });
    const { thread } = await world.called();
    expect(thread.calls).toMatchObject([
      {
        outcome: { error: "Not run: the tool server can't be reached (ECONNREFUSED)." },
      },
    ]);
  });

  test('the run is aborted meanwhile: the call is recorded as failed, and not sent again', async () => {
    await using world = await RemoteWorld.start();
    const leaving = new AbortController();
    world.server.invokeBehaviours.push(() => leaving.abort(new Error('leaving')));
    const agent = world.process();
    const thread = await agent.thread('t');
    await expect(agent.run('Write.', thread, { abortSignal: leaving.signal })).rejects.toThrow(
      'leaving',
    );
    await agent.run([], thread);
    expect(thread.calls).toMatchObject([
      { status: 'failed', outcome: { error: expect.stringMatching(unknown) } },
    ]);
    expect(world.server.invocations).toHaveLength(1);
  });

  test('a result that comes though its arrival was not known, and after the call had failed, is dropped', async () => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(status(500));
    const { agent, thread } = await world.called();
    expect(await world.server.finish(world.server.last)).toBe(200);
    expect(world.discarded).toMatchObject([{ reason: 'ended' }]);
    expect((await agent.thread('t')).revision).toBe(thread.revision);
  });

  test('a result that is faster than the failure of its request is the result', async () => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(async (_received, _response, request) => {
      await world.server.finish(world.server.last);
      request.socket.destroy();
    });
    const { thread } = await world.called();
    expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  });
});

test('O0-02, S0-08, S0-10: an invocation says what is called, with what, by which ids, and where to call back', async () => {
  await using world = await RemoteWorld.start({ tool: { operation: 'files.write' } });
  const { thread } = await world.called();
  const { received, last } = world.server;
  expect(received[0]).toMatchObject({ method: 'POST', path: '/invoke' });
  expect(received[0]?.headers['content-type']).toBe('application/json');
  expect(last).toEqual({
    operation: 'files.write',
    arguments: { path: '/etc/motd' },
    id: 'call_abc123',
    call_id: thread.calls[0]?.idempotencyKey,
    callback_url: expect.stringMatching(`^${world.site.url}\\?call=`),
    group_id: 't',
  });
});

test('a call whose ids are too long for a URL that could call back fails, and is not posted', async () => {
  await using world = await RemoteWorld.start({
    script: [
      { calls: [{ id: 'x'.repeat(20_000), name: 'write', input: { path: 'a' } }] },
      { text: 'Done.' },
    ],
  });
  const { thread } = await world.called();
  expect(thread.calls).toMatchObject([
    { outcome: { status: 'failed', error: 'Not run: the ids of the call are too long.' } },
  ]);
  expect(world.server.received).toEqual([]);
});

test('the callback URL keeps what the app has in it', async () => {
  await using world = await RemoteWorld.start({
    tool: { callbackUrl: 'https://agent.example.com/rap?tenant=a&call=1#x' },
  });
  await world.called();
  const url = new URL(world.server.last.callback_url);
  expect(url.searchParams.get('tenant')).toBe('a');
  expect(url.searchParams.getAll('call')).toHaveLength(1);
});

test('a remote tool that needs approval is posted after the yes, and not after a no', async () => {
  for (const isApproved of [true, false]) {
    await using world = await RemoteWorld.start({
      agent: { toolApproval: { write: 'user-approval' } },
    });
    const { agent, thread } = await world.called();
    expect(world.server.invocations).toEqual([]);
    const [request] = thread.activeApprovalRequests;
    await agent.run((isApproved ? request?.approve() : request?.reject()) ?? [], thread);
    expect(world.server.invocations).toHaveLength(isApproved ? 1 : 0);
  }
});

/** A schema that adds what it makes of the path. */
function making(make: (path: string) => unknown) {
  return z.object({ path: z.string() }).transform(({ path }) => ({ path, made: make(path) }));
}

describe('the server is sent what people approved', () => {
  test.each([
    ['a date', (): unknown => new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a set', (path: string): unknown => new Set([path]), ['a']],
    ['a map', (path: string): unknown => new Map([[path, 1]]), [['a', 1]]],
    ['a BigInt', (): unknown => 12345678901234567890n, '12345678901234567890'],
  ])(
    'where the schema makes %s (regression: sets and maps arrived empty)',
    async (_what, make, shown) => {
      await using world = await RemoteWorld.start({
        script: [{ calls: [{ id: 'c1', name: 'write', input: { path: 'a' } }] }, { text: 'Done.' }],
        tool: { inputSchema: making(make) },
        agent: { toolApproval: { write: 'user-approval' } },
      });
      const { agent, thread } = await world.called();
      const requests = thread.activeApprovalRequests;
      const input = { path: 'a', made: shown };
      expect(requests).toMatchObject([{ toolCall: { input } }]);
      await agent.run(
        requests.map((request) => request.approve()),
        thread,
      );
      expect(world.server.last.arguments).toEqual(input);
      expect(thread.calls).toMatchObject([{ status: 'deferred', input }]);
    },
  );

  test('where a person has edited it', async () => {
    await using world = await RemoteWorld.start({
      agent: { toolApproval: { write: { type: 'user-approval', editable: true } } },
    });
    const { agent, thread } = await world.called();
    const [request] = thread.activeApprovalRequests;
    await agent.run(request?.approve({ input: { path: '/tmp/motd' } }) ?? [], thread);
    expect(world.server.invocations).toMatchObject([{ arguments: { path: '/tmp/motd' } }]);
  });
});

test("outside of holdpoint's loop nothing is posted: the AI SDK alone could not take the result", async () => {
  await using world = await RemoteWorld.start();
  const { steps } = await generateText({
    model: scriptedModel(script).model,
    tools: world.tools(),
    prompt: 'Write.',
    stopWhen: isStepCount(2),
  });
  expect(JSON.stringify(steps)).toContain('Not run: a remote tool only runs in a holdpoint agent.');
  expect(world.server.received).toEqual([]);
});
