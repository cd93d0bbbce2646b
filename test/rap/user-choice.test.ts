import { askInTerminal } from 'holdpoint/terminal';
import { toUIMessages } from 'holdpoint/ui';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { dismiss, pick, questionOf, RemoteWorld } from './remote-world.ts';
import { status } from './tool-server.ts';
import { pickCases } from '../support/sampling.ts';

/* The rows of the document that are the runtime's, each by its number in the team's checklist. */

describe('the flow', () => {
  test('S0-28, S0-22, S0-32 to S0-34, S0-36, S0-37: call, question, answer, result; the model sees call and result alone', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread: called } = await world.called();
    expect(called.calls).toMatchObject([{ status: 'deferred' }]);
    const { last } = world.server;
    expect(last).toMatchObject({
      operation: 'write',
      arguments: { path: '/etc/motd' },
      id: 'call_abc123',
      group_id: 't',
    });

    expect(await world.server.ask(last)).toBe(200);
    const thread = await agent.thread('t');
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
    expect(await agent.run(pick(thread, 1), thread)).toMatchObject({ status: 'waiting' });
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(world.played.requests).toBe(1);

    expect(await world.server.finish(last)).toBe(200);
    const done = await agent.run([], thread);
    expect(done).toMatchObject({ status: 'completed', text: 'It is written.' });
    const prompt = world.played.prompts.at(-1);
    expect(prompt?.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 'call_abc123', output: { type: 'text', value: 'Written.' } }],
    });
    expect(JSON.stringify(prompt)).not.toMatch(/Allow|Yes once|selected|response_url/);
  });

  test('S0-24, S0-25, S0-27: the answer is a POST of JSON with exactly id and selected', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    await agent.run(pick(thread, 0), thread);
    const posted = world.server.received.at(-1);
    expect(posted).toMatchObject({ method: 'POST', path: '/user_choice_response' });
    expect(posted?.headers['content-type']).toBe('application/json');
    expect(posted?.text).toBe('{"id":"call_abc123","selected":0}');
  });

  test('S0-21: the example of the document is accepted as it stands', async () => {
    await using world = await RemoteWorld.start();
    const agent = world.process();
    await agent.run('Write.', await agent.thread('thread_xyz'));
    const { last, responseUrl } = world.server;
    const example = {
      type: 'user_choice',
      group_id: 'thread_xyz',
      id: 'call_abc123',
      call_id: null,
      prompt: 'Allow writing to the original directory?',
      choices: ['Yes for session', 'Yes once', 'No'],
      default: 2,
      response_url: responseUrl,
    };
    expect(await world.server.call(last, example)).toBe(200);
    const thread = await agent.thread('thread_xyz');
    expect(questionOf(thread)).toMatchObject({
      kind: 'choice',
      text: 'Allow writing to the original directory?',
      allowDismiss: true,
      toolCall: { toolCallId: 'call_abc123', toolName: 'write', input: { path: '/etc/motd' } },
      fields: [
        {
          options: [
            { id: '0', label: 'Yes for session' },
            { id: '1', label: 'Yes once' },
            { id: '2', label: 'No' },
          ],
          min: 1,
          max: 1,
          freeText: 'never',
        },
      ],
    });
    expect(questionOf(thread).fields[0]).not.toHaveProperty('preselected');
  });

  const labelings = [
    ['Yes for session', 'Yes once', 'No'],
    ['No', 'Yes once', 'Yes for session'],
    ['2', '0', '1'],
  ];
  const picks = labelings.flatMap((choices) => [0, 1, 2].map((index) => ({ choices, index })));
  test.each(pickCases(picks, 3))(
    'S0-03, S0-26: of $choices the pick of $index is that index, whatever the labels say',
    async ({ choices, index }) => {
      await using world = await RemoteWorld.start();
      const { agent, thread } = await world.asked({ choices });
      expect(questionOf(thread).fields[0]?.options.map(({ label }) => label)).toEqual(choices);
      await agent.run(pick(thread, index), thread);
      expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: index }]);
    },
  );

  test.each([1, 500])('S0-16: %i choices are asked', async (count) => {
    await using world = await RemoteWorld.start();
    const choices = Array.from({ length: count }, (_, index) => `Target ${index}`);
    const { agent, thread } = await world.asked({ choices, default: count - 1 });
    await agent.run(pick(thread, count - 1), thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: count - 1 }]);
  });

  test('S0-01, S0-29, S0-36: a result without a question ends the call, also before the acknowledgement', async () => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(async (_received, response) => {
      expect(await world.server.finish(world.server.last)).toBe(200);
      response.end();
    });
    const { thread } = await world.called();
    expect(thread.calls).toMatchObject([{ status: 'succeeded', outcome: { output: 'Written.' } }]);
    expect(world.server.invocations).toHaveLength(1);
  });

  test('S0-29, S0-35: a question that is faster than the acknowledgement is asked', async () => {
    await using world = await RemoteWorld.start();
    world.server.invokeBehaviours.push(async (_received, response) => {
      await world.server.ask(world.server.last);
      response.end();
    });
    const { agent, thread } = await world.called();
    await agent.run(pick(thread, 2), thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 2 }]);
  });
});

describe('S0-30, S0-35: prompt and choices are shown, by one request, in', () => {
  test('a terminal', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    const input = new PassThrough();
    const output = new PassThrough();
    let shown = '';
    output.on('data', (text) => (shown += text));
    input.end('2\n');
    const answers = await askInTerminal(thread.activeRequests, {
      input,
      output,
      acceptLines: true,
    });
    for (const text of ['Allow writing', 'Yes for session', 'Yes once', 'No']) {
      expect(shown).toContain(text);
    }
    await agent.run(answers, thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
  });

  test('a page: a data part, while the part of the call stays as it is', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    const request = questionOf(thread);
    const partsOf = async () => (await toUIMessages(thread)).at(-1)?.parts;
    expect(await partsOf()).toMatchObject([
      { type: 'step-start' },
      { type: 'tool-write', state: 'input-available' },
      { type: 'data-question-request', id: request.requestId, data: request },
    ]);
    const answer = pick(thread, 0);
    await agent.run(answer, thread);
    expect((await partsOf())?.at(-1)).toMatchObject({ data: { answer } });
    await world.server.finish(world.server.last);
    await agent.run([], thread);
    expect((await partsOf())?.[1]).toMatchObject({ state: 'output-available', output: 'Written.' });
  });

  test("the app's own list: what waits is in the thread, without where its answer goes", async () => {
    await using world = await RemoteWorld.start();
    const { thread } = await world.asked();
    expect(await world.open().list({ status: 'waiting' })).toMatchObject([{ openRequests: 1 }]);
    expect(JSON.stringify(thread.activeRequests)).not.toContain('user_choice_response');
  });
});

describe('S0-31: a person who closes the question', () => {
  test.each([0, 1, 2])(
    'S0-18, S0-23, S0-38, S0-40: with `onDismiss: default`, the default %i is posted, and the call stays pending',
    async (index) => {
      await using world = await RemoteWorld.start({ tool: { onDismiss: 'default' } });
      const { agent, thread } = await world.asked({ default: index });
      expect(questionOf(thread).dismissAnswer).toEqual([
        { key: 'choice', optionIds: [String(index)] },
      ]);
      await agent.run(dismiss(thread), thread);
      expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: index }]);
      expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
    },
  );

  test('O0-13, S0-40: by leaving the terminal sends the default too, where the app wants that', async () => {
    await using world = await RemoteWorld.start({ tool: { onDismiss: 'default' } });
    const { agent, thread } = await world.asked({ default: 1 });
    const input = new PassThrough().end();
    const output = new PassThrough().resume();
    await agent.run(
      await askInTerminal(thread.activeRequests, { input, output, acceptLines: true }),
      thread,
    );
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
  });

  test('by default ends the call as failed: a default that says yes is not sent', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked({ default: 0 });
    expect(questionOf(thread)).not.toHaveProperty('dismissAnswer');
    expect(await agent.run(dismiss(thread), thread)).toMatchObject({ status: 'completed' });
    expect(thread.calls).toMatchObject([
      { status: 'failed', outcome: { error: expect.stringContaining('without an answer') } },
    ]);
    expect(world.server.answers).toEqual([]);
    expect(await world.server.finish(world.server.last)).toBe(200);
    expect(world.discarded).toMatchObject([{ reason: 'ended' }]);
  });

  test('closes what was shown: the app may have another rule by then', async () => {
    await using world = await RemoteWorld.start({ tool: { onDismiss: 'default' } });
    const { thread: asked } = await world.asked({ default: 1 });
    const agent = world.process({ tools: world.tools({ onDismiss: 'cancel' }) });
    const thread = await agent.thread(asked.id);
    await agent.run(dismiss(thread), thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
  });
});

describe('S0-54, S0-55: answers are neither kept for later nor given again:', () => {
  test('the same question after an answer is asked again, and has its own answer', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    const { requestId } = questionOf(thread);
    await agent.run(pick(thread, 0), thread);
    await world.server.ask(world.server.last);
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(world.server.answers).toHaveLength(1);
    expect(questionOf(thread).requestId).not.toBe(requestId);
    await agent.run(pick(thread, 2), thread);
    expect(world.server.answers).toEqual([
      { id: 'call_abc123', selected: 0 },
      { id: 'call_abc123', selected: 2 },
    ]);
  });

  test('O0-11, Z0-3: a second question replaces the first, for which nothing is posted', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked({ choices: ['Read', 'No'], default: 1 });
    const first = pick(thread, 0);
    await world.server.ask(world.server.last, { choices: ['Delete', 'No'], default: 1 });
    expect(await errorCode(agent.run(first, thread))).toBe('request-closed');
    expect(thread.activeRequests).toHaveLength(1);
    expect(world.server.answers).toEqual([]);
    await agent.run(pick(thread, 1), thread);
    expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
  });

  test('O0-11: the result of a call closes its question, for which nothing is posted', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    const answer = pick(thread, 0);
    await world.server.finish(world.server.last);
    expect((await agent.thread('t')).activeRequests).toEqual([]);
    expect(await errorCode(agent.run(answer, thread))).toBe('request-closed');
    expect(world.server.answers).toEqual([]);
  });

  test('O0-06: a question that is sent twice while it is open is asked once', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    const { requestId } = questionOf(thread);
    await world.server.ask(world.server.last);
    const again = await agent.thread('t');
    expect(again.revision).toBe(thread.revision);
    expect(questionOf(again).requestId).toBe(requestId);
  });

  test('the same answer again posts nothing, and another is refused', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    const answer = pick(thread, 0);
    const other = pick(thread, 1);
    await agent.run(answer, thread);
    await agent.run(answer, thread);
    expect(await errorCode(agent.run(other, thread))).toBe('already-answered');
    expect(world.server.answers).toHaveLength(1);
  });
});

describe('Z0-1: an answer that the server does not take', () => {
  test('is sent again with growing pauses after HTTP 5xx', async () => {
    await using world = await RemoteWorld.start();
    world.server.answerBehaviours.push(status(500), status(503));
    const { agent, thread } = await world.asked();
    await agent.run(pick(thread, 1), thread);
    const answer = { id: 'call_abc123', selected: 1 };
    expect(world.server.answers).toEqual([answer, answer, answer]);
    expect(world.pauses).toEqual([500, 1_000]);
    expect(thread.events.at(-2)).not.toHaveProperty('error');
  });

  test.each([400, 404, 409, 429])('is not sent again after HTTP %i', async (code) => {
    await using world = await RemoteWorld.start();
    world.server.answerBehaviours.push(status(code));
    const { agent, thread } = await world.asked();
    await agent.run(pick(thread, 1), thread);
    expect(world.server.answers).toHaveLength(1);
    expect(thread.events.at(-2)).toMatchObject({
      type: 'answer-delivered',
      error: `The tool server did not accept the answer (HTTP ${code}).`,
    });
  });

  test('is given up after seven tries, and the call is pending until the tool ends it (S0-36)', async () => {
    await using world = await RemoteWorld.start();
    world.server.answerBehaviours.push(...Array.from({ length: 7 }, () => status(500)));
    const { agent, thread } = await world.asked();
    expect(await agent.run(pick(thread, 1), thread)).toMatchObject({ status: 'waiting' });
    expect(world.server.answers).toHaveLength(7);
    expect(world.pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(world.server.answers).toHaveLength(7);
    /* S0-52, as the tool must send it. */
    await world.server.finish(world.server.last, {
      text: 'Error: User choice flow failed. Please try again.',
    });
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(thread.calls).toMatchObject([
      {
        status: 'failed',
        outcome: { error: 'Error: User choice flow failed. Please try again.' },
      },
    ]);
  });

  test('is sent on to nowhere else: a redirect is a no', async () => {
    await using world = await RemoteWorld.start();
    world.server.answerBehaviours.push((_received, response) =>
      response.writeHead(307, { location: `${world.server.origin}/elsewhere` }).end(),
    );
    const { agent, thread } = await world.asked();
    await agent.run(pick(thread, 1), thread);
    expect(world.server.received.map(({ path }) => path)).toEqual([
      '/invoke',
      '/user_choice_response',
      '/tool_call_status',
    ]);
    expect(thread.events.at(-2)).toMatchObject({ error: expect.stringContaining('307') });
  });
});
