import { checkRemoteCalls, type ServedTool, type createToolServer } from 'holdpoint/rap';
import { describe, expect, test } from 'vitest';
import { bothSides } from './both-sides.ts';
import { pick, RemoteWorld } from './remote-world.ts';
import { hangUp, json, status } from './tool-server.ts';
import { waitFor } from '../support/waiting.ts';

const lostText = 'The tool server no longer has this call. It is unknown whether it took effect.';

/** The status query about the call of a server, which names its callback URL, as nothing is signed. */
function askedOf({ server }: RemoteWorld): object {
  const { callback_url } = server.last;
  return { thread_id: 't', tool_call_id: 'call_abc123', callback_url };
}

/** What a tool does that only asks. */
async function execute(
  _input: unknown,
  { askUser }: Parameters<ServedTool<unknown>['execute']>[1],
): Promise<string> {
  const choices = ['Staging', 'Nowhere'];
  return (await askUser({ prompt: 'Where to?', choices, default: 1 })).label;
}

describe('a call that the tool server drops ends, and the model reads why:', () => {
  test.each<[string, Partial<Parameters<typeof createToolServer>[0]>, string]>([
    [
      'too long a body',
      { maximumBodyBytes: 100 },
      '(HTTP 413): The body must not have more than 100 bytes.',
    ],
    [
      'callbacks that it may not send',
      { allowedOrigins: ['https://other.test'] },
      '(HTTP 403): Callbacks to https://agent.test are not allowed.',
    ],
    [
      'no room',
      { maximumRunning: 0 },
      '(HTTP 429): Too many calls are running, or the server is closing.',
    ],
    [
      'no signature',
      { signing: { secret: `whsec_${btoa('another secret, of thirty-two bytes')}` } },
      '(HTTP 401): The signature is not valid.',
    ],
  ])('%s', async (_what, options, why) => {
    const { agent, prompts } = bothSides({ execute, serverOptions: options });
    const { status: end, thread } = await agent.run('Deploy.', await agent.thread('t'));
    expect(end).toBe('completed');
    const error = `Not run: the tool server refused the call ${why}`;
    expect(thread.calls).toMatchObject([{ outcome: { status: 'failed', error } }]);
    expect(JSON.stringify(prompts.at(-1))).toContain(why);
  });

  test.each<[string, Parameters<typeof json>[0], string]>([
    ['no reason', {}, '(HTTP 400).'],
    ['a reason that is no text', { error: { message: 7 } }, '(HTTP 400).'],
    ['a reason without an end', { error: { message: 'x'.repeat(2_000) } }, `: ${'x'.repeat(500)}.`],
    ['more than is read', { error: { message: 'x'.repeat(5_000) } }, '(HTTP 400).'],
  ])('another server says %s', async (_what, body, why) => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(json(body, 400));
    const { thread } = await world.called();
    const [call] = thread.calls;
    const error = call?.outcome?.status === 'failed' ? call.outcome.error : '';
    expect(error.endsWith(why)).toBe(true);
  });

  test('a reason that never comes does not hold the call', async () => {
    await using world = await RemoteWorld.start({ tool: { timeoutMs: 100 } });
    world.server.invokeBehaviours.push((_received, response) => {
      response.writeHead(400, { 'content-type': 'application/json' }).write('{"error":');
    });
    const { thread } = await world.called();
    expect(thread.calls).toMatchObject([
      { outcome: { error: 'Not run: the tool server refused the call (HTTP 400).' } },
    ]);
  });
});

test('a person answers after the tool server was started again: the call ends as lost, and the model goes on', async () => {
  const { agent, prompts, restart } = bothSides({ execute });
  await agent.run('Deploy.', await agent.thread('t'));
  const thread = await waitFor(async () => {
    const seen = await agent.thread('t');
    expect(seen.activeRequests).toHaveLength(1);
    return seen;
  });
  restart();
  const { status: end } = await agent.run(pick(thread, 0), thread);
  expect(end).toBe('completed');
  expect(thread.calls).toMatchObject([{ outcome: { status: 'failed', error: lostText } }]);
  expect(JSON.stringify(prompts.at(-1))).toContain(lostText);
});

test('an answer that a server refuses, which still has the call, leaves the call to the server', async () => {
  await using world = await RemoteWorld.start();
  const { agent, thread } = await world.asked();
  world.server.answerBehaviours.push(status(400));
  world.server.statusBehaviours.push(json({ alive: true }));
  await agent.run(pick(thread, 0), thread);
  expect(world.server.questions).toEqual([askedOf(world)]);
  expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
});

describe('an app asks whether the calls that it waits for are lost:', () => {
  test('one that the server has no record of ends as failed, and the thread goes on', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.called();
    world.server.statusBehaviours.push(json({ alive: false }));
    expect(await checkRemoteCalls({ agent, tools: world.tools(), thread })).toEqual([
      'call_abc123',
    ]);
    expect(world.server.received.at(-1)).toMatchObject({
      method: 'POST',
      path: '/tool_call_status',
      headers: { 'content-type': 'application/json' },
    });
    expect(world.server.questions).toEqual([askedOf(world)]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(thread.calls).toMatchObject([{ outcome: { status: 'failed', error: lostText } }]);
    expect(world.server.cancellations).toEqual([]);
  });

  test.each([
    ['is still at work on', json({ alive: true })],
    ['does not know the question for', status(404)],
    ['says nothing readable about', status(200)],
    ['says no in another form about', json({ alive: 'false' })],
    ['fails when asked about', status(500)],
    ['hangs up when asked about', hangUp],
    ['refuses to speak about', json({ alive: false }, 403)],
  ])('one that the server %s is kept', async (_what, behaviour) => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.called();
    world.server.statusBehaviours.push(behaviour);
    expect(await checkRemoteCalls({ agent, tools: world.tools(), thread })).toEqual([]);
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
  });

  test('one whose result comes meanwhile keeps its result', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.called();
    world.server.statusBehaviours.push(async (received, response, request) => {
      await world.server.finish(world.server.last);
      await json({ alive: false })(received, response, request);
    });
    expect(await checkRemoteCalls({ agent, tools: world.tools(), thread })).toEqual([]);
    await agent.run([], thread);
    expect(thread.calls).toMatchObject([{ outcome: { status: 'succeeded', output: 'Written.' } }]);
  });

  test('one of a tool of the app itself is not asked about', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.called();
    expect(await checkRemoteCalls({ agent, tools: {}, thread })).toEqual([]);
    expect(world.server.questions).toEqual([]);
  });
});

test.each(['cancel', 'default'] as const)(
  'a question keeps the place of the default that its server named, with onDismiss %s',
  async (onDismiss) => {
    await using world = await RemoteWorld.start({ tool: { onDismiss } });
    const { thread } = await world.asked({ default: 1 });
    expect(thread.activeRequests).toMatchObject([{ metadata: { default: 1 } }]);
  },
);
