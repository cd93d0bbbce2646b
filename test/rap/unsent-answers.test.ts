import type { ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { pick, RemoteWorld } from './remote-world.ts';
import { status } from './tool-server.ts';

/* 97: `{ id, selected }` does not say which question it answers, and a server may take it for the one it asked last. */
describe('97: an answer that was not taken at once, while another process records that', () => {
  test.each([
    [
      'the tool asks something else',
      async ({ server }: RemoteWorld) => server.ask(server.last, { prompt: 'Delete it?' }),
      'waiting',
    ],
    ['the call has ended', async ({ server }: RemoteWorld) => server.finish(server.last), 'idle'],
    [
      'a person cancelled the call',
      async (world: RemoteWorld) => {
        const agent = world.process();
        await agent.cancel(await agent.thread('t'));
      },
      'idle',
    ],
  ] as const)('%s: it is not sent again', async (_what, meanwhile, threadStatus) => {
    await using world = await RemoteWorld.start({ storeName: 'sqliteStore' });
    const { agent, thread } = await world.asked();
    world.process();
    world.server.answerBehaviours.push(async (...received) => {
      await meanwhile(world);
      status(503)(...received);
    });
    await agent.run(pick(thread, 0), thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 0 }]);
    expect(world.pauses).toEqual([500]);
    expect(thread.status).toBe(threadStatus);
    expect(thread.events.map(({ type }) => type)).not.toContain('answer-delivered');
  });

  test('nothing: it is sent again, also where the store could not be asked in between', async () => {
    await using world = await RemoteWorld.start();
    const shared = world.open();
    const faults: Error[] = [];
    const store: ThreadStore = {
      ...shared,
      async read(...asked) {
        const fault = faults.pop();
        if (fault !== undefined) throw fault;
        return shared.read(...asked);
      },
    };
    await world.asked();
    const agent = world.process({ store });
    const thread = await agent.thread('t');
    world.server.answerBehaviours.push((...received) => {
      faults.push(new Error('The database restarts.'));
      status(503)(...received);
    });
    await agent.run(pick(thread, 0), thread);
    const answer = { id: 'call_abc123', selected: 0 };
    expect(world.server.answers).toEqual([answer, answer]);
    expect(world.pauses).toEqual([500, 1_000]);
    expect(thread.events.at(-2)).toMatchObject({ type: 'answer-delivered' });
    expect(thread.events.at(-2)).not.toHaveProperty('error');
  });
});
