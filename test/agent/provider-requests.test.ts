import { describe, expect, test } from 'vitest';
import { askingProvider, modes, opened, opens, requestAbout } from '../support/asking-provider.ts';
import { errorCode } from '../support/error-code.ts';
import { book, look } from '../support/travel-world.ts';
import { pickCases } from '../support/sampling.ts';

const done = { text: 'Done.' };

/** What the provider is told of a call that it may run. */
const yes = (id: string) => ({
  type: 'tool-approval-response',
  approvalId: `ask-${id}`,
  approved: true,
});

/** What the provider is told of a call that it may not run, and what the history has beside it. */
const no = (id: string, reason?: string) => [
  {
    type: 'tool-approval-response',
    approvalId: `ask-${id}`,
    approved: false,
    ...(reason === undefined ? {} : { reason }),
  },
  {
    type: 'tool-result',
    toolCallId: id,
    output: {
      type: 'execution-denied',
      ...(reason === undefined ? {} : { reason }),
      providerOptions: { openai: { approvalId: `ask-${id}` } },
    },
  },
];

describe.each(pickCases(modes))('$mode, a call that the provider asks about', ({ speak }) => {
  test('is an approval request like any other, and waits (S3-03, S3-29)', async () => {
    const { agent, thread, prompts } = await askingProvider(
      [{ text: 'One moment.', calls: [opens('p1', 'Bug')] }],
      speak,
    );
    const response = await agent.run('Open an issue', thread);
    expect(response).toMatchObject({ status: 'waiting', text: 'One moment.' });
    const toolCall = { toolCallId: 'p1', toolName: 'mcp.open', input: { title: 'Bug' } };
    expect(thread.activeApprovalRequests).toEqual(response.approvalRequests);
    expect(response.approvalRequests).toMatchObject([
      {
        type: 'approval-request',
        requestId: expect.stringMatching(/^[\w-]{22}$/),
        text: 'The agent wants to call mcp.open, which the provider runs.',
        toolCall,
        digest: expect.stringMatching(/^[\w-]{43}$/),
      },
    ]);
    expect(thread.calls).toMatchObject([
      { ...toolCall, status: 'waiting', providerApprovalId: 'ask-p1' },
    ]);
    expect(prompts).toHaveLength(1);
  });

  test('is answered with yes in the type of the provider, and is forwarded (S3-35)', async () => {
    const script = [{ calls: [opens('p1', 'Bug')] }, { calls: [opened('p1', 'Bug')], ...done }];
    const { agent, thread, prompts } = await askingProvider(script, speak);
    const { approvalRequests } = await agent.run('Open an issue', thread);
    const answers = approvalRequests.map((request) => request.approve());
    expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', ...done });
    expect(prompts[1]?.at(-1)).toMatchObject({ role: 'tool', content: [yes('p1')] });
    expect(thread.calls).toMatchObject([
      { status: 'forwarded', outcome: { status: 'forwarded' }, attempts: 0 },
    ]);
    expect(thread.messages).toMatchObject([
      { role: 'user' },
      {
        role: 'assistant',
        content: [{ type: 'tool-call', providerExecuted: true }, { type: 'tool-approval-request' }],
      },
      { role: 'tool', content: [{ ...yes('p1'), providerExecuted: true }] },
      {
        role: 'assistant',
        content: [{ type: 'text' }, { type: 'tool-call' }, { type: 'tool-result' }],
      },
    ]);
  });

  test('is answered with no and the reason (S3-35)', async () => {
    const script = [{ calls: [opens('p1', 'Bug')] }, done];
    const { agent, thread, prompts } = await askingProvider(script, speak);
    const { approvalRequests } = await agent.run('Open an issue', thread);
    const answers = approvalRequests.map((request) => request.reject('not now'));
    expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', ...done });
    const { content } = prompts[1]?.at(-1) ?? {};
    expect(content).toHaveLength(2);
    expect(content).toMatchObject(no('p1', 'not now'));
    expect(thread.calls).toMatchObject([
      { status: 'denied', outcome: { status: 'denied', reason: 'not now' } },
    ]);
  });

  test.each([
    ['the provider’s first', ['Bug', 'Paris']],
    ['ours first', ['Paris', 'Bug']],
  ])(
    'beside calls of ours, %s: one tool message, in the order of the model (S3-03)',
    async (_, order) => {
      const calls = [
        look('c1', 'Oslo'),
        opens('p1', 'Bug'),
        book('c2', 'Paris'),
        opens('p2', 'Idea'),
      ];
      const { agent, thread, prompts, ran } = await askingProvider([{ calls }, done], speak);
      let response = await agent.run('Do all', thread);
      expect(ran).toMatchObject([{ name: 'look' }]);
      for (const text of order) {
        response = await agent.run(requestAbout(response, text).approve(), thread);
        expect(response.status).toBe('waiting');
      }
      expect(ran).toMatchObject([{ name: 'look' }, { name: 'book' }]);
      expect(prompts).toHaveLength(1);
      response = await agent.run(requestAbout(response, 'Idea').reject(), thread);
      expect(response).toMatchObject({ status: 'completed', ...done });
      expect(prompts).toHaveLength(2);
      expect(prompts[1]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
      expect(prompts[1]?.at(-1)?.content).toMatchObject([
        { type: 'tool-result', toolCallId: 'c1' },
        yes('p1'),
        { type: 'tool-result', toolCallId: 'c2', output: { value: { booked: 'Paris' } } },
        ...no('p2'),
      ]);
      expect(ran).toHaveLength(2);
    },
  );

  test('is not taken for a new call when its result comes with its id, nor are later ids mixed up with it', async () => {
    const script = [
      { calls: [opens('p1', 'Bug')] },
      { calls: [opened('p1', 'Bug'), look('c1', 'Oslo')] },
      { calls: [look('p1', 'Rome')] },
      { calls: [opens('p1', 'Idea', 'ask-again')] },
      done,
    ];
    const { agent, thread, prompts, ran } = await askingProvider(script, speak);
    let response = await agent.run('Do all', thread);
    while (response.approvalRequests.length > 0) {
      response = await agent.run(
        response.approvalRequests.map((request) => request.approve()),
        thread,
      );
    }
    expect(response).toMatchObject({ status: 'completed', ...done });
    expect(thread.calls.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
      'mcp.open forwarded',
      'look succeeded',
      'look succeeded',
      'mcp.open forwarded',
    ]);
    expect(new Set(thread.calls.map(({ toolCallId }) => toolCallId)).size).toBe(4);
    const toolCallId = thread.calls[3]?.toolCallId;
    expect(thread.messages.at(-3)).toMatchObject({
      content: [
        { type: 'tool-call', toolCallId },
        { type: 'tool-approval-request', toolCallId, approvalId: 'ask-again' },
      ],
    });
    expect(prompts.at(-1)?.at(-1)).toMatchObject({ content: [{ approvalId: 'ask-again' }] });
    expect(ran).toHaveLength(2);
  });
});

test('runs and streams of a provider that asks make the same log', async () => {
  const calls = [look('c1', 'Oslo'), opens('p1', 'Bug'), opens('p2', 'Idea')];
  const logs = await Promise.all(
    modes.map(async ({ speak }) => {
      const script = [
        { text: 'Hm.', calls },
        { calls: [opened('p1', 'Bug')], ...done },
      ];
      const world = await askingProvider(script, speak);
      let time = 0;
      let ids = 0;
      const agent = world.agentWith({
        now: () => (time += 1),
        generateId: () => `id-${String((ids += 1)).padStart(19, '0')}`,
      });
      const thread = await agent.thread('t');
      const response = await agent.run('Do all', thread);
      const [one, two] = response.approvalRequests;
      await agent.run([one?.approve() ?? '', two?.reject('no') ?? ''], thread);
      return thread.messages;
    }),
  );
  expect(logs[0]).toHaveLength(4);
  expect(logs[1]).toEqual(logs[0]);
});

describe('an approved call of the provider', () => {
  const step = { calls: [opens('p1', 'Bug'), book('c1', 'Paris')] };

  test('waits for the rest of its step, and nothing is due until then', async () => {
    const { agent, thread, store, prompts } = await askingProvider([step, done]);
    const waiting = await agent.run('Do both', thread);
    await agent.respond(requestAbout(waiting, 'Bug').approve(), thread);
    expect(await store.list({ dueBefore: Infinity })).toEqual([]);
    const { revision } = thread;
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(thread.revision).toBe(revision);
    expect(thread.calls).toMatchObject([{ status: 'approved' }, { status: 'waiting' }]);
    await agent.respond(requestAbout(waiting, 'Paris').reject(), thread);
    expect(await store.list({ dueBefore: 1 })).toHaveLength(1);
    expect(thread.calls).toMatchObject([{ status: 'approved' }, { status: 'denied' }]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(prompts[1]?.at(-1)?.content).toMatchObject([yes('p1'), { toolCallId: 'c1' }]);
  });

  test('can be cancelled until then: the provider is told no', async () => {
    const { agent, thread, prompts } = await askingProvider([step, done]);
    const waiting = await agent.run('Do both', thread);
    await agent.run(requestAbout(waiting, 'Bug').approve(), thread);
    await agent.cancel(thread, 'Stop.', { principal: 'ann' });
    expect(thread.calls).toMatchObject([{ status: 'denied' }, { status: 'denied' }]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(prompts[1]?.at(-1)?.content).toMatchObject([...no('p1', 'Stop.'), { toolCallId: 'c1' }]);
  });

  test('goes with the message that cancels the rest of the step, as an approved call of ours would run', async () => {
    const { agent, thread, prompts } = await askingProvider([step, done]);
    const waiting = await agent.run('Do both', thread);
    await agent.run(requestAbout(waiting, 'Bug').approve(), thread);
    await agent.run('Never mind Paris', thread, { whilePending: 'cancel' });
    expect(prompts[1]?.at(-2)?.content).toMatchObject([yes('p1'), { toolCallId: 'c1' }]);
    expect(prompts[1]?.at(-1)).toMatchObject({ role: 'user' });
  });
});

test.each(['cancel', 'message'])(
  'an open request of the provider is answered with no by a %s (S3-35)',
  async (by) => {
    const { agent, thread, prompts } = await askingProvider([
      { calls: [opens('p1', 'Bug')] },
      done,
    ]);
    const { approvalRequests } = await agent.run('Open an issue', thread);
    expect(await errorCode(agent.run('Well?', thread))).toBe('requests-open');
    if (by === 'cancel') await agent.cancel(thread, 'Stop.');
    const next = by === 'cancel' ? [] : 'Never mind';
    await agent.run(next, thread, { whilePending: 'cancel' });
    const reason = by === 'cancel' ? 'Stop.' : 'The user sent a message without answering.';
    expect(prompts[1]?.find(({ role }) => role === 'tool')?.content).toMatchObject(
      no('p1', reason),
    );
    expect(thread.calls).toMatchObject([{ status: 'denied' }]);
    const late = approvalRequests.map((request) => request.approve());
    expect(await errorCode(agent.run(late, thread))).toBe('request-closed');
  },
);

test('a message with the answer comes after it', async () => {
  const { agent, thread, prompts } = await askingProvider([{ calls: [opens('p1', 'Bug')] }, done]);
  const { approvalRequests } = await agent.run('Open an issue', thread);
  const answers = approvalRequests.map((request) => request.reject('not now'));
  await agent.run([...answers, 'Tomorrow'], thread);
  expect(prompts[1]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
});

test('results from outside are refused for a call that the provider runs, before and after its answer', async () => {
  const { agent, thread } = await askingProvider([{ calls: [opens('p1', 'Bug')] }, done]);
  const { approvalRequests } = await agent.run('Open an issue', thread);
  const output = { status: 'succeeded', output: 'opened' } as const;
  const refused = async (code: string) => {
    const { revision } = thread;
    expect(await errorCode(agent.deliver(thread, 'p1', output))).toBe(code);
    expect(await errorCode(agent.settle(thread, 'p1', output))).toBe(code);
    expect(thread.revision).toBe(revision);
  };
  await refused('not-allowed');
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await refused('not-allowed');
  expect(await errorCode(agent.settle(thread, 'p1', { status: 'retry' }))).toBe('not-allowed');
  await agent.run([], thread);
  await refused('already-answered');
});
