import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { dismiss, pick, questionOf, RemoteWorld } from './remote-world.ts';
import { hangUp, status } from './tool-server.ts';

const ownSchema = z.looseObject({ callback_url: z.string() });
const cancelled = { thread_id: 't', tool_call_id: 'call_abc123' };

/** The cancellations of a server that has one call, without the callback URL, which must be that of the call. */
async function toldOf({ server }: RemoteWorld): Promise<unknown[]> {
  await server.until(() => server.cancellations.length > 0);
  return server.cancellations.map((cancellation) => {
    const { callback_url, ...rest } = ownSchema.parse(cancellation);
    expect(callback_url).toBe(server.last.callback_url);
    return rest;
  });
}

describe('O0-09: a server is told, once, that its call is not wanted any more:', () => {
  test('when the app cancels what the thread waits for', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.called();
    await agent.cancel(thread);
    expect(await toldOf(world)).toEqual([cancelled]);
    const told = world.server.received.at(-1);
    expect(told).toMatchObject({ method: 'POST', path: '/cancel_tool_call' });
    expect(told?.headers['content-type']).toBe('application/json');
  });

  test('when a person closes its question without an answer', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    await agent.run(dismiss(thread), thread);
    expect(await toldOf(world)).toEqual([cancelled]);
    expect(world.server.answers).toEqual([]);
  });

  test('when the user goes on without waiting', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.called();
    await agent.run('Never mind.', thread, { whilePending: 'cancel' });
    expect(await toldOf(world)).toEqual([cancelled]);
  });

  test('108: when it has not ended it in time, and what it says then is dropped', async () => {
    const clock = { now: 0 };
    await using world = await RemoteWorld.start({
      tool: { expiresAfterMs: 60_000 },
      agent: { now: () => clock.now },
    });
    const { agent, thread } = await world.asked();
    expect(questionOf(thread).expiresAt).toBe(60_000);
    clock.now = 60_000;
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(await toldOf(world)).toEqual([cancelled]);
    expect(await world.server.finish(world.server.last)).toBe(200);
    expect(world.discarded).toMatchObject([{ reason: 'ended' }]);
    expect(thread.calls).toMatchObject([
      { status: 'failed', outcome: { error: expect.stringContaining('in time') } },
    ]);
  });

  test('when it is not known whether it got the call', async () => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(hangUp);
    const { thread } = await world.called();
    expect(await toldOf(world)).toEqual([cancelled]);
    expect(thread.calls).toMatchObject([{ status: 'failed' }]);
  });

  test('by a process that did not make the call', async () => {
    await using world = await RemoteWorld.start();
    await world.called();
    const other = world.process();
    await other.cancel(await other.thread('t'));
    expect(await toldOf(world)).toEqual([cancelled]);
  });

  test('signed, where messages are signed', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    await using world = await RemoteWorld.start({ tool: { signing: { secret: key } } });
    const { agent, thread } = await world.called();
    await agent.cancel(thread);
    await world.server.until(() => world.server.cancellations.length > 0);
    const { headers, text } = world.server.received.at(-1) ?? { headers: {}, text: '' };
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(key).verify(text, named)).toEqual(cancelled);
  });

  test.each([
    ['https://tools.example.com/invoke', undefined, 'https://tools.example.com/cancel_tool_call'],
    ['https://tools.example.com', undefined, 'https://tools.example.com/cancel_tool_call'],
    [
      'https://a.example.com/rap/go?v=1',
      undefined,
      'https://a.example.com/rap/cancel_tool_call?v=1',
    ],
    [
      'https://a.example.com/rap/go',
      'https://b.example.com',
      'https://b.example.com/cancel_tool_call',
    ],
    [
      'https://a.example.com/go',
      'https://a.example.com/rap/',
      'https://a.example.com/rap/cancel_tool_call',
    ],
    [
      'https://a.example.com/go',
      'https://a.example.com/rap',
      'https://a.example.com/rap/cancel_tool_call',
    ],
  ])('the server at %s, with the base %s, at %s', async (endpoint, baseUrl, url) => {
    const posted: string[] = [];
    const tool = {
      endpoint,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      fetch: async (to: Parameters<typeof fetch>[0]) => {
        posted.push(to instanceof URL ? to.href : 'no URL');
        return new Response();
      },
    };
    await using world = await RemoteWorld.start({ tool });
    const { agent, thread } = await world.called();
    await agent.cancel(thread);
    await expect.poll(() => posted.at(-1)).toBe(url);
  });
});

describe('O0-09: nothing depends on that:', () => {
  test.each([
    ['refuses it', status(404)],
    ['fails', status(500)],
    ['breaks the connection', hangUp],
  ])('a server that %s is not told again', async (_what, behaviour) => {
    await using world = await RemoteWorld.start();
    world.server.cancelBehaviours.push(behaviour);
    const { agent, thread } = await world.called();
    await agent.cancel(thread);
    expect(await agent.run('Go on.', thread)).toMatchObject({ status: 'completed' });
    expect(await toldOf(world)).toEqual([cancelled]);
    expect(world.pauses).toEqual([]);
  });

  test('a server that never answers holds up neither the cancelling nor the next run', async () => {
    await using world = await RemoteWorld.start();
    world.server.cancelBehaviours.push(() => new Promise(() => {}));
    const { agent, thread } = await world.called();
    await agent.cancel(thread);
    expect(await agent.run('Go on.', thread)).toMatchObject({ status: 'completed' });
  });
});

describe('O0-09: a server is told nothing of a call that', () => {
  test('it has ended itself', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    await agent.run(pick(thread, 1), thread);
    await world.server.finish(world.server.last);
    await agent.run([], thread);
    await agent.cancel(thread);
    expect(world.server.received.map(({ path }) => path)).toEqual([
      '/invoke',
      '/user_choice_response',
    ]);
  });

  test('it refused', async () => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(status(400));
    await world.called();
    expect(world.server.received.map(({ path }) => path)).toEqual(['/invoke']);
  });

  test('was cancelled in a past that is restored', async () => {
    await using past = await RemoteWorld.start();
    const { agent, thread } = await past.called();
    await agent.cancel(thread);
    await using world = await RemoteWorld.start();
    const there = world.process();
    await there.restore(JSON.parse(JSON.stringify(thread)));
    const other = await there.thread('u');
    await there.run('Write.', other);
    await there.cancel(other);
    expect(await toldOf(world)).toEqual([{ ...cancelled, thread_id: 'u' }]);
  });
});
