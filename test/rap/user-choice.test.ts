import { describe, expect, test } from 'vitest';
import { dismiss, pick, questionOf, RemoteWorld } from './remote-world.ts';

/* The rows of the document that are the runtime's, each by its number in the team's checklist. */

describe('the flow of a user choice', () => {
  test('S0-28, S0-22, S0-24 to S0-27, S0-33: call, question, answer, result; the model sees call and result alone', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread: called } = await world.called();
    expect(called.calls).toMatchObject([{ status: 'deferred' }]);
    expect(world.server.last).toMatchObject({
      operation: 'write',
      arguments: { path: '/etc/motd' },
      id: 'call_abc123',
      group_id: 't',
    });

    expect(await world.server.ask(world.server.last)).toBe(200);
    const thread = await agent.thread('t');
    const waiting = await agent.run(pick(thread, 1), thread);
    expect(waiting.status).toBe('waiting');
    const posted = world.server.received.at(-1);
    expect(posted).toMatchObject({ method: 'POST', path: '/user_choice_response' });
    expect(posted?.headers['content-type']).toBe('application/json');
    expect(posted?.text).toBe('{"id":"call_abc123","selected":1}');
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);

    expect(await world.server.finish(world.server.last)).toBe(200);
    const done = await agent.run([], thread);
    expect(done).toMatchObject({ status: 'completed', text: 'It is written.' });
    const prompt = JSON.stringify(world.played.prompts.at(-1));
    expect(prompt).toContain('Written.');
    expect(prompt).not.toMatch(/Allow|Yes once|selected|response/);
    expect(world.played.requests).toBe(2);
  });

  test('S0-23, S0-38, S0-40, S0-18: a dismissal is posted as the default, where the app lets it', async () => {
    await using world = await RemoteWorld.start({ tool: { onDismiss: 'default' } });
    const { agent, thread } = await world.asked();
    expect(questionOf(thread).dismissAnswer).toEqual([{ key: 'choice', optionIds: ['2'] }]);
    await agent.run(dismiss(thread), thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 2 }]);
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
  });
});
